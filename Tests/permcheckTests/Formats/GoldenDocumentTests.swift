import Foundation
import TestSupport
import Testing

/// Every JSON document of permcheck, held to a golden file and to the strict schema.
///
/// A member that goes or changes its type breaks the promise of schemaVersion 1. After a change that is
/// meant, `PERMCHECK_GOLDEN=write swift test --filter GoldenDocumentTests` writes the files anew.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GoldenDocumentTests {
  static let folder = Checkout.file("Tests/permcheckTests/Golden/documents")

  /// Prints `== NAME` before each document.
  static let script = """
    A=/var/lib/golden; mkdir -p $A/album $A/dev
    mknod $A/dev/video0 c 81 250; chmod 660 $A/dev/video0; chgrp 44 $A/dev/video0
    setfacl -m u:1:rw $A/dev/video0; chmod 700 $A/album
    show() { echo "== $1"; shift; "$@" 2>/dev/null || true; }
    show check $P photos=$A/album --user daemon --json
    show check-missing $P camera=$A/dev/none --user daemon --json
    show explain $P explain $A/album/missing --user daemon --need r --json
    show request-plan $P request photos=$A/album --user daemon --need rx --dry-run --json
    show request $P request photos=$A/album --user daemon --need rx --for 1h --yes --json
    show list $P list --json
    show list-grants $P list --grants --json
    show revoke-plan $P revoke photos --dry-run --json
    show revoke $P revoke photos --json
    printf '%s\\n' '{"v":1,"time":"2030-01-02T03:04:05.678901Z","event":"check","accessor":"camera","status":"denied","uid":1,"pid":2,"duration":3}' '{' >$A/log
    show log $P log --json --log $A/log
    show watch $P watch photos=$A/album --user daemon --json --for 0
    printf '%s\n' '[[expect]]' 'name = "closed"' "path = '$A/album'" 'user = ["daemon", "bin"]' \
      'need = "rx"' 'is = "refused"' '[[expect]]' "path = '/dev/video250'" 'is = ["granted", "limited"]' >$A/expect
    show verify $P verify $A/expect --skip-unavailable --json
    show audit $P audit $A/album --user daemon --summary --json
    show audit-line sh -c "$P audit $A/album --user daemon --json | head -n 1"
    show audit-who $P audit $A/album --who --user daemon --user root --json
    show usage $P camra --json
    show error $P photos=$A/album --user no-such-user --json
    """

  /// What differs from machine to machine and from run to run.
  static func normalised(_ value: Any, _ key: String = "") -> Any {
    switch value {
    case let object as [String: Any]:
      return Dictionary(uniqueKeysWithValues: object.map { ($0, normalised($1, $0)) })
    case let array as [Any]:
      // Where the tests run in a container, permcheck says so.
      let own = array.filter { part in
        let part = part as? [String: Any]
        return part?["code"] as? String != "container" && part?["kind"] as? String != "container"
      }
      return own.map { normalised($0, key) }
    default:
      switch key {
      case "time", "expires", "host", "version", "id": return key.uppercased()
      default:
        return (value as? String)?.replacing(/20\d\d-[-:T.\d]+Z(-\d+)?/, with: "TIME")
          .replacing(/20\d\d-\d\d-\d\d [:\d]+ [A-Z]+/, with: "LOCAL TIME")
          .replacing(Command.permcheck, with: "permcheck") ?? value
      }
    }
  }

  @Test func `Every document is unchanged`() throws {
    let output = try PrivateJournal().expect(Self.script)
    let writes = Variables.value("PERMCHECK_GOLDEN") == "write"
    var names: [String] = []
    for part in output.components(separatedBy: "== ").dropFirst() {
      let name = String(part.prefix { $0 != "\n" })
      let text = String(part.dropFirst(name.count + 1))
      names.append(name)
      #expect(try Validator.check(text).output == "", "\(name) follows the schema strictly")
      var document =
        try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
      // Saved facts have a golden file of their own.
      for key in ["facts", "credentials", "targets"] where document[key] != nil {
        document[key] = "SAVED"
      }
      let json = Self.normalised(document)
      let seen = try JSONSerialization.data(
        withJSONObject: json, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
      let file = Self.folder.appending(path: "\(name).json")
      if writes {
        try FileManager.default.createDirectory(
          at: Self.folder, withIntermediateDirectories: true)
        try (seen + Data("\n".utf8)).write(to: file)
      }
      let wanted = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      #expect(wanted == String(decoding: seen, as: UTF8.self) + "\n", "\(name)")
    }
    #expect(names.count == 17)
  }

  /// The plain output, of which scripts cut fields.
  @Test func `Every plain output is unchanged`() throws {
    let script = Self.script.replacing("--json", with: "--format plain")
      .replacing(/\n\ *show (explain|usage|error|watch) .*/, with: "")
    let output = try PrivateJournal().expect(script).replacing(/20\d\d-[-:T.\d]+Z/, with: "TIME")
    let file = Self.folder.deletingLastPathComponent().appending(path: "plain.txt")
    if Variables.value("PERMCHECK_GOLDEN") == "write" {
      try Data(output.utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == output)
    #expect(output.components(separatedBy: "== ").count == 14)
  }
}
