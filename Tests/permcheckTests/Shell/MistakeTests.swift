import Foundation
import TestSupport
import Testing

/// What somebody who mistypes gets: one line that names what is wrong and what works instead.
@Suite(.blocking) struct MistakeTests {
  static let mistakes: [([String], String)] = [
    (["camra"], "did you mean camera?"), (["Camera"], "did you mean camera?"),
    (["CAMERA"], "did you mean camera?"), (["micropone"], "did you mean microphone?"),
    (["webcam"], "did you mean camera?"), (["audio"], "did you mean mic?"),
    (["pictures"], "did you mean photos?"), (["camera,mic"], "permcheck camera mic"),
    (["all"], "permcheck without a name"), (["grant", "camera"], "permcheck request"),
    (["expain", "/etc"], "permcheck explain"),
    (["camera", "--wait", "-1"], "expected a time such as"),
    (["camera", "--wait", "soon"], "expected a time such as"),
    (["watch", "camera", "--for", "2x"], "expected a time such as"),
    (["camera", "--fix"], "permcheck request"), (["camera", "--josn"], "did you mean --json?"),
    (["camera", "--uid", "1", "--gid", "1", "--groups", "video"], "getent group"),
    (["explain", "camera", "--user", "root", "--user", "nobody"], "--user root and --user nobody"),
    (["camera", "--format", "jsno"], "did you mean json?"),
    (["schema", "check=all"], "known: check"),
  ]

  @Test(arguments: Effort.some(mistakes, of: "MistakeTests mistakes"))
  func `A mistake is answered with a remedy`(
    _ arguments: [String], _ remedy: String
  ) throws {
    let outcome = try Command.permcheck(arguments)
    #expect(
      outcome.status == 64 && outcome.output.isEmpty && isOneLine(outcome.errors), "\(outcome)")
    #expect(outcome.errors.contains(remedy), "\(outcome.errors)")
    #expect(!outcome.errors.contains(".;") && !outcome.errors.contains(".'"), "\(outcome.errors)")
  }

  @Test func `A check without a name checks all accessors`() throws {
    let tree = try Tree()
    let outcome = try Command.permcheck(["--root", tree.root, "--json"])
    let document = try outcome.document()
    #expect(document.reports.map(\.accessor) == ["camera", "microphone", "photos"])
  }

  /// An error is a document, too, for whoever reads documents.
  @Test(arguments: [
    (["camra", "--json"], Int32(64), "usage"),
    (["camera", "--user", "no-such-user", "--json"], 64, "unknown-user"),
    (["camera", "--format", "json", "--bogus"], 64, "usage"),
    (["explain", "/etc", "--pid", "4194303", "--format=json"], 64, "unknown-process"),
  ]) func `Errors are documents`(_ arguments: [String], _ status: Int32, _ code: String) throws {
    struct Failure: Decodable {
      struct Detail: Decodable {
        let code: String
        let message: String
      }
      let schemaVersion: Int
      let error: Detail
      let exitStatus: Int32
    }
    let outcome = try Command.permcheck(arguments)
    #expect(outcome.status == status && isOneLine(outcome.errors), "\(outcome)")
    let failure = try JSONDecoder().decode(Failure.self, from: Data(outcome.output.utf8))
    #expect(
      failure.error.code == code && failure.exitStatus == status && failure.schemaVersion == 1)
    #expect(outcome.errors.contains(failure.error.message))
    let verdict = try Validator.check(outcome.output)
    #expect(verdict.status == 0, "\(verdict.output)\(verdict.errors)")
  }

  /// Every command's document fits the schema of all, and that of the command.
  @Test(
    arguments: Effort.some(
      [
        (["check", "camera", "--json"], ["check"]), (["explain", "/etc", "--json"], ["explain"]),
        (["list", "--json"], ["list"]), (["list", "--grants", "--json"], ["list", "--grants"]),
        (["log", "--json", "--log", "/dev/null"], ["log"]),
        (["request", "photos=/etc", "--dry-run", "--json"], ["request"]),
      ], of: "MistakeTests Every schema", atLeast: 2)) func `Every document has a schema`(
      _ arguments: [String], _ name: [String]
    ) throws
  {
    let outcome = try Command.permcheck(arguments)
    #expect([0, 1, 2, 3].contains(outcome.status), "\(outcome)")
    let tree = try Tree()
    for schema in [[], name] {
      try tree.file("schema.json", try Command.permcheck(["schema"] + schema).output)
      let verdict = try Command.run(
        ["/usr/bin/python3", "-c", Validator.script, tree.path("schema.json")],
        input: outcome.output)
      #expect(verdict.status == 0, "\(arguments): \(verdict.output)\(verdict.errors)")
    }
    // The schema of one command is not that of another.
    let other = name == ["log"] ? ["list"] : ["log"]
    try tree.file("schema.json", try Command.permcheck(["schema"] + other).output)
    let verdict = try Command.run(
      ["/usr/bin/python3", "-c", Validator.script, tree.path("schema.json")], input: outcome.output)
    #expect(verdict.status == 1)
  }

  @Test func `The document says where and when`() throws {
    let tree = try Tree()
    let text = try Command.permcheck(["camera", "--json", "--root", tree.root]).output
    let whole = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let host = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
    #expect(whole["host"] as? String == host.trimmingCharacters(in: .newlines))
    #expect(whole["root"] as? String == tree.root)
    #expect((whole["time"] as? String)?.hasSuffix("Z") == true)
  }

  /// Names are the other machine's: `root:shadow`, not `0:42`.
  @Test func `Saved facts keep their names`() throws {
    let tree = try Tree()
    try tree.file("facts")
    let question = "explain /etc/shadow --user daemon"
    let outcome = try Command.run([
      "sh", "-c", "\"$0\" \(question) --json >\"$1\"; \"$0\" evaluate \"$1\"", Command.permcheck,
      tree.path("facts"),
    ])
    let now = try Command.permcheck(question.split(separator: " ").map(String.init))
    // Who reads them may be nobody's root.
    let there = outcome.output.replacing("  sudo ", with: "  ")
    #expect(there == now.output && now.output.contains("root:shadow"), "\(outcome)")
  }

  @Test(arguments: [
    ("nosuch", "known: check, explain"), ("grant", "did you mean request?"),
    ("reqest", "did you mean request?"),
  ]) func `The help of an unknown command is an error`(_ word: String, _ meant: String) throws {
    let outcome = try Command.permcheck(["help", word])
    #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("there is no command \"\(word)\"; \(meant)"), "\(outcome)")
    #expect(try Command.permcheck(["help", "request"]).status == 0)
  }

  @Test(.enabled(if: Kernel.canAsk, "a closed folder is closed to others than root alone"))
  func `What cannot be read is named`() throws {
    let tree = try Tree()
    try tree.folder("d", mode: 0o700, uid: 54322, gid: 54322)
    let both = [tree.path("d/a"), tree.path("d/b")]
    let outcome = try Command.permcheck(["explain"] + both + ["--user", "root"], as: stranger)
    for (name, path) in zip(["a", "b"], both) {
      let line =
        "cannot read the entry \(name) of \(tree.path("d")) (EACCES), which decides on \(path)"
      #expect(outcome.output.contains(line), "\(outcome)")
    }
    #expect(!outcome.output.contains("/proc is not mounted"))
    try FileManager.default.createSymbolicLink(
      atPath: tree.path("link"), withDestinationPath: "/nowhere")
    let link = try Command.permcheck(["photos=\(tree.path("link"))"]).output
    #expect(link.contains("repair or remove the symbolic link"), "\(link)")
    // Below a root, since a container has other advice.
    let missing = try Command.permcheck(["photos=/none", "--root", tree.root]).output
    #expect(missing.contains("create the folder, or name another one"), "\(missing)")
  }

  @Test func `A pipe that is written late is read`() throws {
    let outcome = try Command.run([
      "sh", "-c", "(sleep 0.2; \"$0\" explain /etc --json) | \"$0\" evaluate -", Command.permcheck,
    ])
    #expect(outcome.status == 0 && outcome.output.contains("etc"), "\(outcome)")
  }
}
