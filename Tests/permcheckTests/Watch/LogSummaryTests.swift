import Foundation
import TestSupport
import Testing

/// What `permcheck log` makes of a log.
@Suite(.blocking) struct LogSummaryTests {
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

  @Test func `Events are counted by accessor`() throws {
    let tree = try Tree()
    try tree.file("log", sample)
    #expect(try summary(tree).accessors == rows)
    #expect(try summary(tree).schemaVersion == 1)
    let human = try Command.permcheck(["log", "--log", tree.path("log")])
    #expect(human.errors.isEmpty)
    #expect(
      human.output == """
        accessor    checks  granted  refused  unavailable  share
        camera      4       3        1        0            75 %
        microphone  2       0        2        0            0 %
        photos      1       1        0        0            100 %

        """)
    let plain = try Command.permcheck(["log", "--format", "plain", "--log", tree.path("log")])
    #expect(plain.output == "camera\t4\t3\t1\nmicrophone\t2\t0\t2\nphotos\t1\t1\t0\n")
  }

  @Test func `Prometheus accepts the counts`() throws {
    let tree = try Tree()
    let hostile = "a\\\"b\\\\c\\n"
    let log =
      sample + line("photos", "notDetermined")
      + line("camera", "denied", event: "willReceiveAccess")
      + line(hostile, "unavailable") + "no event\n"
    try tree.file("log", log)
    let outcome = try Command.permcheck(
      ["log", "--format", "openmetrics", "--log", tree.path("log")])
    #expect(outcome.status == 0)
    try tree.file("metrics", outcome.output)
    let program = """
      import sys
      from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
      families = list(read(open(sys.argv[1], newline='').read()))
      assert {f.type for f in families} == {'gauge'}
      for family in families:
          for s in family.samples:
              if s.value: print(s.name[14:], *map(repr, s.labels.values()), int(s.value))
      """
    let read = try Command.run(["/usr/bin/python3", "-c", program, tree.path("metrics")])
    #expect(
      read.output.split(separator: "\n").map(String.init) == [
        #"checks 'a"b\\c\n' 'unavailable' 1"#, "checks 'camera' 'granted' 3",
        "checks 'camera' 'refused' 1", "checks 'microphone' 'refused' 2",
        "checks 'photos' 'granted' 1", "checks 'photos' 'undetermined' 1",
        "requests 'camera' 1", "unreadable_lines 1",
      ], "\(read)")
  }

  @Test(arguments: ["journald", "syslog"]) func `A daemon's log cannot be read back`(
    _ word: String
  ) throws {
    let outcome = try Command.permcheck(["log", "--log", word])
    #expect(outcome.status == 64 && outcome.errors.contains("no log file"), "\(outcome)")
    let tree = try Tree()
    let file = try Command.run(
      ["env", "-C", tree.root, Command.permcheck, "/dev/null", "--log", "./" + word])
    #expect(file.status == 0 && FileManager.default.fileExists(atPath: tree.path(word)))
    // Where no daemon runs, that is said, and the answer is the same.
    let lost = try Command.permcheck(["/dev/null", "--log", word])
    #expect(lost.status == 0)
  }

  @Test func `The events of checks are counted`() throws {
    let tree = try Tree()
    for words in [["/dev/null"], ["/dev/null", "photos=/"], ["/dev/zero"]] {
      #expect(try Command.permcheck(words + ["--log", tree.path("log")]).status == 0)
    }
    let seen = try summary(tree).accessors.map { "\($0.accessor) \($0.checks) \($0.granted)" }
    #expect(seen == ["/dev/null 2 2", "/dev/zero 1 1", "photos 1 1"])
    let variable = try Command.permcheck(
      ["log", "--format", "plain"], environment: ["PERMCHECK_LOG": tree.path("log")])
    #expect(variable.output == "/dev/null\t2\t2\t0\n/dev/zero\t1\t1\t0\nphotos\t1\t1\t0\n")
  }

  /// A writer that was killed leaves half a line, wherever it stopped.
  @Test func `A torn last line is ignored`() throws {
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
  func `Lines of other programs are ignored`(_ foreign: String) throws {
    let tree = try Tree()
    try tree.file("log", foreign + sample + foreign)
    #expect(try summary(tree).accessors == rows)
  }

  @Test func `Hostile names are tamed`() throws {
    let tree = try Tree()
    try tree.file("log", line("\\u001b[31mred\\nline", "denied"))
    for format in ["human", "plain"] {
      let outcome = try Command.permcheck(["log", "--format", format, "--log", tree.path("log")])
      #expect(!outcome.output.contains("\u{1b}"))
      #expect(outcome.output.split(separator: "\n").count == (format == "human" ? 2 : 1))
    }
    #expect(try summary(tree).accessors.first?.accessor == "\u{1b}[31mred\nline")
  }

  @Test func `An empty log has no counts`() throws {
    let tree = try Tree()
    try tree.file("log")
    #expect(try summary(tree).accessors.isEmpty)
  }

  @Test(.enabled(if: Kernel.canAsk, "taking on other ids wants root"))
  func `An unreadable log is an error`() throws {
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

/// What counts, and for whom.
@Suite(.blocking) struct LogSelectionTests {
  private static func line(
    _ accessor: String, _ status: String, uid: Int, subject: Int? = nil, root: String? = nil,
    time: String = "2030-01-02T03:04:05.678901Z"
  ) -> String {
    "{\"v\":1,\"time\":\"\(time)\",\"event\":\"check\",\"accessor\":\"\(accessor)\",\"status\":\"\(status)\","
      + "\"uid\":\(uid),"
      + (subject.map { "\"subject\":\($0)," } ?? "") + (root.map { "\"root\":\"\($0)\"," } ?? "")
      + "\"pid\":2,\"duration\":3}\n"
  }

  private static func checks(_ tree: Tree, _ arguments: [String]) throws -> [String] {
    let outcome = try Command.permcheck(
      ["log", "--format", "plain", "--log", tree.path("log")] + arguments)
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test func `--since selects events`() throws {
    let tree = try Tree()
    try tree.file(
      "log",
      Self.line("camera", "denied", uid: 0, subject: 33)
        + Self.line("camera", "authorized", uid: 33, subject: 33)
        + Self.line("camera", "authorized", uid: 0, subject: 0, root: "/mnt")
        + Self.line("photos", "authorized", uid: 0, time: "2001-01-01T00:00:00.000000Z"))
    #expect(try Self.checks(tree, []) == ["camera\t2\t1\t1", "photos\t1\t1\t0"])
    #expect(try Self.checks(tree, ["--user", "33"]) == ["camera\t2\t1\t1"])
    #expect(try Self.checks(tree, ["--user", "root"]) == ["photos\t1\t1\t0"])
    #expect(try Self.checks(tree, ["--accessor", "photos"]) == ["photos\t1\t1\t0"])
    #expect(try Self.checks(tree, ["--since", "7d"]) == ["camera\t2\t1\t1"])
    let wrong = try Command.permcheck(["log", "--accessor", "camra", "--log", tree.path("log")])
    #expect(wrong.status == 64 && wrong.errors.contains("camera"))
  }

  @Test func `Missing devices are not part of the share`() throws {
    let tree = try Tree()
    try tree.file(
      "log",
      Self.line("camera", "authorized", uid: 0) + Self.line("camera", "denied", uid: 0)
        + Self.line("camera", "unavailable", uid: 0) + Self.line("camera", "unavailable", uid: 0))
    let text = try Command.permcheck(["log", "--log", tree.path("log")]).output
    #expect(text.contains("50 %"), "\(text)")
  }

  /// The file that nobody named keeps within its limit, and one old file.
  @Test(.enabled(if: Kernel.canAsk, "taking on other ids wants root"))
  func `The default log is kept small`() throws {
    let tree = try Tree()
    try tree.folder("state/permcheck", mode: 0o700)
    let log = "state/permcheck/analytics.jsonl"
    try tree.file(log, String(repeating: Self.line("camera", "denied", uid: 1), count: 9_000))
    try tree.file("home/x", "")
    let environment: [String: String?] = [
      "XDG_STATE_HOME": tree.path("state"), "HOME": tree.path("home"), "PERMCHECK_LOG": "",
    ]
    let own = try Command.run(["chown", "-R", "\(stranger.uid)", tree.path("state")])
    try #require(own.status == 0)
    for _ in 0..<3 {
      _ = try Command.permcheck(["camera"], environment: environment, as: stranger)
    }
    let small = try String(contentsOfFile: tree.path(log), encoding: .utf8)
    #expect(small.split(separator: "\n").count == 3)
    let old = try String(contentsOfFile: tree.path(log + ".1"), encoding: .utf8)
    #expect(old.split(separator: "\n").count == 9_000)
    let summary = try Command.permcheck(
      ["log", "--format", "plain"], environment: environment, as: stranger)
    #expect(summary.output.hasPrefix("camera\t9003\t"), "\(summary)")
  }

  @Test func `No folder is made for a named file`() throws {
    let tree = try Tree()
    let outcome = try Command.permcheck(["camera", "--log", tree.path("new/log")])
    #expect(isOneLine(outcome.errors) && outcome.errors.contains("new/log"), "\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: tree.path("new")))
  }
}
