import Foundation
import TestSupport
import Testing

/// Accessors that are programs, in the commands of the tool.
@Suite(.enabled(if: Kernel.canAsk, "needs root, to run as another user"))
struct ProgramAccessorTests {
  private let tree: Tree
  private let visitor = AuditTests.visitor
  private static let examples = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Examples/accessors").path

  /// The accessor `gate`: a file of the visitor that a request makes.
  init() throws {
    tree = try Tree()
    try tree.folder("state", mode: 0o755, uid: 61234, gid: 61234)
    try tree.file(
      "bin/permcheck-accessor-gate",
      """
      #!/bin/sh
      question=$(cat)
      echo "$question" >>\(tree.path("state"))/questions
      case $question in
      *'"operation":"describe"'*) echo '{"version":1,"summary":"the gate"}'; exit ;;
      *'"operation":"request"'*) touch \(tree.path("state"))/open ;;
      esac
      if [ -e \(tree.path("state"))/open ]; then
        echo '{"version":1,"status":"authorized"}'
      else
        echo '{"version":1,"status":"denied","message":"the gate is shut","requestable":true}'
      fi
      """, mode: 0o755)
    try tree.folder("bin", mode: 0o755)
  }

  private func permcheck(_ arguments: [String], as account: Account? = nil) throws -> Outcome {
    try Command.run(
      [Command.permcheck] + arguments,
      environment: [
        "PATH": "\(tree.path("bin")):\(Self.examples):/usr/bin:/bin", "PERMCHECK_LOG": "none",
        "HOME": tree.path("state"),
      ], as: account ?? visitor)
  }

  private var questions: String {
    (try? String(contentsOfFile: tree.path("state/questions"), encoding: .utf8)) ?? ""
  }

  @Test func aProgramIsAnAccessor() throws {
    let denied = try permcheck(["gate"])
    #expect(denied.status == 1 && denied.output.contains("the gate is shut"), "\(denied)")
    let json = try permcheck(["gate", "--json"]).output
    #expect(json.contains(#""code":"by-accessor""#), "\(json)")
    #expect(try Validator.check(json).output == "")
    #expect(questions.contains(#""operation":"check""#) && questions.contains(#""uid":61234"#))
    let listed = try permcheck(["list", "--format", "plain"])
    #expect(
      listed.output.contains("gate\t\tthe gate\t\(tree.path("bin"))/permcheck-accessor-gate\n"),
      "\(listed)")
    #expect(try permcheck(["run", "gate", "--", "true"]).status == 126)
    let toml = "[[expect]]\naccessor = \"gate\"\nis = \"refused\"\nuser = [\"daemon\"]\n"
    try tree.file("expect.toml", toml)
    #expect(try permcheck(["verify", tree.path("expect.toml")]).status == 0)
    #expect(questions.contains(#""source":"user""#))
    let watched = try permcheck(["watch", "gate", "--for", "0"])
    #expect(watched.output.contains("the gate is shut"), "\(watched)")
    let explained = try permcheck(["explain", "gate"])
    #expect(explained.status == 64 && !explained.errors.isEmpty, "\(explained)")
    #expect(try permcheck(["audit", "gate"]).status == 64)
    #expect(try permcheck(["gat"]).status == 64)
  }

  @Test func aRequestWantsConsent() throws {
    let silent = try permcheck(["request", "gate"])
    #expect(silent.status == 1 && silent.errors.contains("--yes"), "\(silent)")
    #expect(try permcheck(["request", "gate", "--dry-run"]).status == 1)
    #expect(try permcheck(["run", "gate", "--request", "--", "true"]).status == 126)
    #expect(!questions.contains(#""operation":"request""#))
    // What a program does, nobody takes back when a command or a time ends.
    #expect(try permcheck(["run", "gate", "--request", "--yes", "--", "true"]).status == 126)
    let timed = try permcheck(["request", "gate", "--for", "1s", "--yes"])
    #expect(timed.status == 64 && timed.errors.contains("--for"), "\(timed)")
    #expect(!questions.contains(#""operation":"request""#))
    // It is not asked about a path.
    #expect(try permcheck(["gate=/etc/shadow"]).status == 2)
    let granted = try permcheck(["request", "gate", "--yes"])
    #expect(granted.status == 0, "\(granted)")
    #expect(questions.contains(#""operation":"request""#))
    #expect(try permcheck(["gate", "-q"]).status == 0)
    #expect(try permcheck(["run", "gate", "--", "true"]).status == 0)
  }

  /// Another user could have written it.
  @Test func rootDoesNotRunIt() throws {
    let outcome = try permcheck(["gate"], as: Account(uid: 0, gid: 0))
    #expect(outcome.status == 2 && outcome.output.contains("is not run"), "\(outcome)")
    let json = try permcheck(["gate", "--json"], as: Account(uid: 0, gid: 0)).output
    #expect(json.contains(#""code":"accessor-failed""#), "\(json)")
    #expect(questions.isEmpty)
  }

  @Test func aBuiltInNameIsNoProgram() throws {
    for name in ["camera", "mic", "serial", "tty"] {
      try tree.file(
        "bin/permcheck-accessor-\(name)", "#!/bin/sh\ntouch \(tree.path("state"))/ran\n",
        mode: 0o755)
    }
    _ = try permcheck(["camera", "mic", "serial", "tty", "photos"])
    #expect(!FileManager.default.fileExists(atPath: tree.path("state/ran")))
    #expect(try !permcheck(["list"]).output.contains("permcheck-accessor-camera"))
  }

  @Test func theExamplesTellTheTruth() throws {
    let start = try String(
      contentsOfFile: "/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding: .utf8)
    let mayBind = (Int(start.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 1024) <= 81
    let ports = try permcheck(["low-ports"])
    #expect(ports.status == (mayBind ? 0 : 1), "\(ports)")
    #expect(try permcheck(["low-ports", "--user", "daemon"]).status == 2)
    let folders = ["/var/log/journal", "/run/log/journal"]
    let isThere = folders.contains { FileManager.default.fileExists(atPath: $0) }
    let journal = try permcheck(["journal"])
    #expect(isThere ? [0, 1].contains(journal.status) : journal.status == 3, "\(journal)")
    let listed = try permcheck(["list"])
    #expect(listed.output.contains("CAP_NET_BIND_SERVICE"), "\(listed)")
  }
}
