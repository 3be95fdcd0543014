import Foundation
import TestSupport
import Testing

/// What `permcheck log` makes of a log.
struct LogSummaryTests {
  struct Summary: Decodable {
    struct Row: Decodable, Equatable {
      let accessor: String
      let checks: Int
      let granted: Int
      let refused: Int
      let grantedShare: Double
    }
    let schemaVersion: Int
    let accessors: [Row]
  }

  func line(_ accessor: String, _ status: String, event: String = "check", uid: Int = 1) -> String {
    "{\"v\":1,\"time\":\"2030-01-02T03:04:05.678901Z\",\"event\":\"\(event)\",\"accessor\":"
      + "\"\(accessor)\",\"status\":\"\(status)\",\"uid\":\(uid),\"pid\":2,\"duration\":3}\n"
  }

  /// Four checks of the camera, three granted; two of the microphone, none; one of photos, granted.
  var sample: String {
    line("camera", "authorized") + line("microphone", "denied") + line("camera", "authorized")
      + line("camera", "limited") + line("camera", "denied") + line("microphone", "restricted")
      + line("photos", "authorized")
  }

  let rows = [
    Summary.Row(accessor: "camera", checks: 4, granted: 3, refused: 1, grantedShare: 0.75),
    Summary.Row(accessor: "microphone", checks: 2, granted: 0, refused: 2, grantedShare: 0),
    Summary.Row(accessor: "photos", checks: 1, granted: 1, refused: 0, grantedShare: 1),
  ]

  func summary(_ tree: Tree, _ name: String = "log") throws -> Summary {
    let outcome = try Command.permcheck(["log", "--json", "--log", tree.path(name)])
    #expect(outcome.status == 0)
    return try JSONDecoder().decode(Summary.self, from: Data(outcome.output.utf8))
  }

  @Test func counts() throws {
    let tree = try Tree()
    try tree.file("log", sample)
    #expect(try summary(tree).accessors == rows)
    #expect(try summary(tree).schemaVersion == 1)
    let human = try Command.permcheck(["log", "--log", tree.path("log")])
    #expect(human.errors.isEmpty)
    #expect(
      human.output == """
        accessor    checks  granted  refused  share
        camera      4       3        1        75 %
        microphone  2       0        2        0 %
        photos      1       1        0        100 %

        """)
    let plain = try Command.permcheck(["log", "--format", "plain", "--log", tree.path("log")])
    #expect(plain.output == "camera\t4\t3\t1\nmicrophone\t2\t0\t2\nphotos\t1\t1\t0\n")
  }

  @Test func countsWhatChecksHaveWritten() throws {
    let tree = try Tree()
    for words in [["camera=/dev/null"], ["camera=/dev/null", "photos=/"], ["mic=/dev/null"]] {
      #expect(try Command.permcheck(words + ["--log", tree.path("log")]).status == 0)
    }
    let seen = try summary(tree).accessors.map { "\($0.accessor) \($0.checks) \($0.granted)" }
    #expect(seen == ["camera 2 2", "microphone 1 1", "photos 1 1"])
    let variable = try Command.permcheck(
      ["log", "--format", "plain"], environment: ["PERMCHECK_LOG": tree.path("log")])
    #expect(variable.output == "camera\t2\t2\t0\nmicrophone\t1\t1\t0\nphotos\t1\t1\t0\n")
  }

  /// A writer that was killed leaves half a line, wherever it stopped.
  @Test func tornLastLine() throws {
    let tree = try Tree()
    let last = line("camera", "authorized")
    for length in stride(from: 1, to: last.count - 1, by: 7) {
      try tree.file("log", sample + last.prefix(length))
      #expect(try summary(tree).accessors == rows, "\(length) characters of the last line")
      let human = try Command.permcheck(["log", "--log", tree.path("log")])
      #expect(human.status == 0)
      #expect(human.errors.isEmpty || isOneLine(human.errors))
    }
  }

  @Test(arguments: [
    "\n\n", "garbage\n", "{}\n", "[1,2]\n", "{\"v\":1}\n", "\u{0}\u{0}\u{0}\n", "null\n",
    "{\"v\":2,\"future\":true}\n", String(repeating: "[", count: 100_000) + "\n",
    "{\"accessor\":\"\u{1b}[31m\"}\n",
  ])
  func foreignLinesDoNotCount(_ foreign: String) throws {
    let tree = try Tree()
    try tree.file("log", foreign + sample + foreign)
    #expect(try summary(tree).accessors == rows)
  }

  @Test func hostileNamesAreTamed() throws {
    let tree = try Tree()
    try tree.file("log", line("\\u001b[31mred\\nline", "denied"))
    for format in ["human", "plain"] {
      let outcome = try Command.permcheck(["log", "--format", format, "--log", tree.path("log")])
      #expect(!outcome.output.contains("\u{1b}"))
      #expect(outcome.output.split(separator: "\n").count == (format == "human" ? 2 : 1))
    }
    #expect(try summary(tree).accessors.first?.accessor == "\u{1b}[31mred\nline")
  }

  @Test func emptyLog() throws {
    let tree = try Tree()
    try tree.file("log")
    #expect(try summary(tree).accessors.isEmpty)
  }

  @Test(.enabled(if: Kernel.canAsk, "taking on other ids wants root"))
  func logThatCannotBeRead() throws {
    let tree = try Tree()
    try tree.file("log", sample, mode: 0o600)
    try tree.folder("folder")
    for name in ["log", "folder"] {
      for format in ["human", "plain", "json"] {
        let outcome = try Command.permcheck(
          ["log", "--format", format, "--log", tree.path(name)], as: stranger)
        outcome.expectRefusal([64, 70])
        #expect(outcome.errors.contains(tree.path(name)))
      }
    }
  }
}
