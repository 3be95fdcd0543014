import Foundation
import TestSupport
import Testing

/// A JSON Schema validator that is not ours: Debian's python3-jsonschema.
enum Validator {
  static let script = """
    import json, sys, jsonschema
    schema = json.load(open(sys.argv[1]))
    def close(part):
        # Readers must accept members that they do not know; our own documents have none.
        for value in part.values() if isinstance(part, dict) else part:
            if isinstance(value, (dict, list)): close(value)
        if isinstance(part, dict) and "properties" in part and part.get("type") == "object":
            part.setdefault("additionalProperties", False)
    close(schema)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    errors = list(kind(schema).iter_errors(json.load(sys.stdin)))
    for error in errors: print(error.json_path, error.message)
    sys.exit(1 if errors else 0)
    """

  /// Validates a document against what `permcheck schema` prints.
  static func check(_ document: String) throws -> Outcome {
    let tree = try Tree()
    let schema = try Command.permcheck(["schema"])
    try #require(schema.status == 0 && schema.errors.isEmpty, Comment(rawValue: schema.errors))
    try tree.file("schema.json", schema.output)
    return try Command.run(
      ["/usr/bin/python3", "-c", script, tree.path("schema.json")], input: document)
  }
}

@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct JSONTests {
  static let questions: [[String]] = [
    ["camera", "mic", "photos"],
    ["camera", "--user", "tester"],
    ["mic", "--probe", "none"],
    ["camera", "--probe", "access", "--all", "-v"],
    ["photos=/none", "camera=/dev/null", "mic=/etc/passwd"],
    ["camera=/tmp", "photos", "--need", "rwx"],
    ["camera", "--uid", "7", "--gid", "8", "--groups", "9,10"],
  ]

  @Test(arguments: Effort.some(questions, of: "OutputTests questions"))
  func `Every document is valid`(
    _ arguments: [String]
  ) throws {
    let tree = try SnapshotTests.laptop()
    let outcome = try Command.permcheck(
      arguments + ["--root", tree.root, "--format", "json"], as: SnapshotTests.account)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.output.hasPrefix("{") && outcome.output.hasSuffix("}\n"))
    _ = try outcome.document()
    let verdict = try Validator.check(outcome.output)
    #expect(verdict.status == 0, Comment(rawValue: verdict.output + verdict.errors))
  }

  @Test func `A document with odd bytes is valid`() throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.camera(1, name: "a\u{1b}[31m\"\\\u{7f}\u{9b}é漢\u{202e}")
    try tree.file("sys/class/video4linux/video0/name", Data([0xff, 0xfe, 0x00, 0x22, 0x5c, 0xc3]))
    let outcome = try Command.permcheck(["camera", "--root", tree.root, "--json"])
    #expect(try outcome.report().resources.count == 2)
    let verdict = try Validator.check(outcome.output)
    #expect(verdict.status == 0, Comment(rawValue: verdict.output + verdict.errors))
  }

  /// Proves that the validator can reject, or its consent would are not counted.
  @Test func `The test's validator rejects wrong documents`() throws {
    let tree = try SnapshotTests.laptop()
    let good = try Command.permcheck(
      ["camera", "--root", tree.root, "--json"], as: SnapshotTests.account
    ).output
    let spoilt = [
      good.replacing("\"schemaVersion\":1", with: "\"schemaVersion\":2"),
      good.replacing("\"exitStatus\":", with: "\"exitstatus\":"),
      good.replacing("\"status\":\"denied\"", with: "\"status\":\"refused\""),
      good.replacing("\"certainty\":\"proven\"", with: "\"certainty\":\"sure\""),
      good.replacing("\"uid\":54321", with: "\"uid\":\"54321\""),
      good.replacing("\"reports\":[", with: "\"reports\":[{},"), "{}", "[]", "null",
    ]
    for document in spoilt {
      #expect(document != good)
      #expect(try Validator.check(document).status == 1, Comment(rawValue: document))
    }
  }

  @Test func `List and log are documents too`() throws {
    for arguments in [["list", "--json"], ["log", "--json", "--log", "/dev/null"]] {
      let outcome = try Command.permcheck(arguments)
      #expect(outcome.status == 0 && outcome.errors.isEmpty)
      let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      #expect((object as? [String: Any])?["schemaVersion"] as? Int == 1)
    }
  }
}

/// Where the output goes: pipes that close, disks that are full, terminals.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct OutputTests {
  static let commands: [[String]] = [
    ["camera", "mic", "photos"], ["camera", "-v"], ["camera", "--json"],
    ["camera", "--format", "plain"], ["list"], ["list", "--json"], ["schema"],
    ["log", "--log", "/dev/null"],
  ]

  func crowd() throws -> Tree {
    let tree = try Tree()
    for number in 0..<Effort.of(700, atLeast: 150) {
      try tree.camera(number, name: "Camera of quite a long name")
    }
    return tree
  }

  @Test(arguments: Effort.some(["", "trap '' PIPE; "], of: "OutputTests A quietly", atLeast: 1))
  func `A closed pipe ends the tool quietly`(
    _ trap: String
  ) throws {
    let tree = try crowd()
    for format in Effort.isFull ? ["human", "plain", "json"] : ["json"] {
      let script = trap + "{ \"$0\" camera -v --root \"$1\" --format $2; } | head -c 1 >/dev/null"
      let outcome = try Command.run(["sh", "-c", script, Command.permcheck, tree.root, format])
      #expect(outcome.status == 0 && outcome.errors.isEmpty)
      let plenty = try Command.permcheck(["camera", "-v", "--root", tree.root, "--format", format])
      #expect(plenty.output.utf8.count > 65_536, "fits into a pipe, so head proves nothing")
    }
  }

  /// The reader has gone before anything is written.
  @Test(arguments: Effort.some(commands, of: "pipes"), [true, false])
  func `Closed pipe is quiet`(_ arguments: [String], _ signal: Bool) throws {
    let script = """
      import os, subprocess, sys
      r, w = os.pipe()
      os.close(r)
      sys.exit(subprocess.run(sys.argv[2:], stdout=w, restore_signals=sys.argv[1] == "true")
        .returncode % 256)
      """
    let outcome = try Command.run(
      ["/usr/bin/python3", "-c", script, "\(signal)", Command.permcheck] + arguments)
    #expect(outcome.errors.isEmpty)
    // -13: ended by SIGPIPE. Otherwise the answer is what the command has found out.
    let plain = try Command.permcheck(arguments)
    #expect(outcome.status == (signal ? 243 : plain.status) || outcome.status == plain.status)
  }

  @Test(arguments: Effort.some(commands, of: "OutputTests commands"))
  func `A full disk is an error`(
    _ arguments: [String]
  ) throws {
    let script = "exec \"$0\" \"$@\" >/dev/full"
    let outcome = try Command.run(["sh", "-c", script, Command.permcheck] + arguments)
    #expect(outcome.status == 70)
    #expect(isOneLine(outcome.errors), Comment(rawValue: outcome.errors))
    #expect(outcome.errors.contains("ENOSPC") || outcome.errors.contains("space"))
  }

  @Test func `--quiet works without an output`() throws {
    let script = "exec \"$0\" -q /dev/null >/dev/full"
    let outcome = try Command.run(["sh", "-c", script, Command.permcheck])
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
  }

  /// Descriptor 1 is free: what is opened next must not become standard output.
  @Test(arguments: ["<&- >&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>&-"])
  func `Closed descriptors do no harm`(_ redirections: String) throws {
    let tree = try Tree()
    let log = tree.path("log")
    let script = "exec \"$0\" /dev/null --log \"$1\" \(redirections)"
    let outcome = try Command.run(["sh", "-c", script, Command.permcheck, log])
    #expect([0, 70].contains(outcome.status))
    let written = try String(contentsOfFile: log, encoding: .utf8)
    #expect(written.hasPrefix("{\"v\":1") && written.split(separator: "\n").count == 1)
  }

  @Test(
    arguments: Effort.some(
      ["human", "plain", "json"], of: "OutputTests --quiet nothing", atLeast: 1))
  func `--quiet prints nothing`(
    _ format: String
  ) throws {
    let tree = try SnapshotTests.laptop()
    for (name, status) in [("photos=/none", 3), ("camera", 0), ("mic", 1)] as [(String, Int32)] {
      let outcome = try Command.permcheck(
        [name, "-q", "--root", tree.root, "--format", format], as: SnapshotTests.account)
      #expect(outcome.status == status)
      #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
    }
  }

  /// Runs permcheck on a terminal of its own and gives what the terminal got.
  func onTerminal(
    _ arguments: [String], _ environment: [String: String?], _ tree: Tree
  ) throws -> String {
    let script = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    let words = [Command.permcheck, "camera", "mic", "--root", tree.root] + arguments
    let outcome = try Command.run(
      ["/usr/bin/python3", "-c", script] + words,
      environment: ["TERM": "xterm", "NO_COLOR": nil].merging(environment) { $1 })
    return outcome.output.replacing("\r\n", with: "\n")
  }

  @Test func `Colour is for terminals`() throws {
    let tree = try SnapshotTests.laptop()
    let base = ["camera", "mic", "--root", tree.root]
    let plain = try Command.permcheck(base, environment: ["NO_COLOR": nil]).output
    #expect(!plain.contains("\u{1b}"))
    #expect(try onTerminal([], [:], tree).contains("\u{1b}["))
    #expect(try onTerminal([], ["NO_COLOR": ""], tree).contains("\u{1b}["), "empty: not set")
    for (arguments, environment) in [
      ([], ["NO_COLOR": "1"]), (["--color", "never"], [:]), (["--format", "plain"], [:]),
      (["--json"], [:]),
    ] as [([String], [String: String?])] {
      #expect(!(try onTerminal(arguments, environment, tree)).contains("\u{1b}"))
    }
    for environment in [[:], ["NO_COLOR": "1"]] as [[String: String?]] {
      let always = try Command.permcheck(base + ["--color", "always"], environment: environment)
      #expect(always.output.contains("\u{1b}["), "an option comes before the environment")
      #expect(always.output.replacing(/\u{1b}\[[0-9;]*m/, with: "") == plain)
    }
    for format in ["plain", "json"] {
      let words = base + ["--color", "always", "--format", format]
      #expect(!(try Command.permcheck(words).output.contains("\u{1b}")))
    }
  }
}
