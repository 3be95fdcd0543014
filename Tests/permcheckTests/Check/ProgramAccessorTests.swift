import Foundation
import TestSupport
import Testing

/// Accessors that are programs, in the commands of the tool.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "needs root, to run as another user"))
struct ProgramAccessorTests {
  private let tree: Tree
  private let visitor = AuditTests.visitor
  private static let examples = Checkout.path("Examples/accessors")

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
    // The visitor may not be able to reach the clone.
    try tree.folder("examples")
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.examples) {
      let program = try Data(contentsOf: URL(filePath: Self.examples).appending(path: name))
      try tree.file("examples/\(name)", program, mode: 0o755)
    }
  }

  private func permcheck(_ arguments: [String], as account: Account? = nil) throws -> Outcome {
    try Command.run(
      [Command.permcheck] + arguments,
      environment: [
        "PATH": "\(tree.path("bin")):\(tree.path("examples")):/usr/bin:/bin",
        "PERMCHECK_LOG": "none",
        "HOME": tree.path("state"),
      ], as: account ?? visitor)
  }

  private var questions: String {
    (try? String(contentsOfFile: tree.path("state/questions"), encoding: .utf8)) ?? ""
  }

  @Test func `A program is an accessor`() throws {
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

  @Test func `A request wants consent`() throws {
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
  @Test func `Root does not run it`() throws {
    let outcome = try permcheck(["gate"], as: Account(uid: 0, gid: 0))
    #expect(outcome.status == 2 && outcome.output.contains("is not run"), "\(outcome)")
    let json = try permcheck(["gate", "--json"], as: Account(uid: 0, gid: 0)).output
    #expect(json.contains(#""code":"accessor-failed""#), "\(json)")
    #expect(questions.isEmpty)
  }

  /// Makes a program set-user-ID root, as sudo is.
  private func rootCopy(of program: String) throws -> String {
    let path = tree.path("root-\(program)")
    #expect(try Command.run(["cp", "-p", "/usr/bin/\(program)", path]).status == 0)
    #expect(chown(path, 0, 0) == 0 && chmod(path, 0o4755) == 0)
    return path
  }

  /// Makes the accessor `held`, which writes its process id and runs these lines.
  private func held(_ lines: String) throws {
    let body = "#!/bin/sh\nquestion=$(cat)\necho $$ >\(tree.path("state"))/pid\n\(lines)\n"
    try tree.file("bin/permcheck-accessor-held", body, mode: 0o755)
  }

  /// The process id that a program wrote into a file.
  private func pid(in file: String) throws -> Int32 {
    for _ in 0..<5_000 {
      let text = (try? String(contentsOfFile: tree.path("state/\(file)"), encoding: .utf8)) ?? ""
      if text.hasSuffix("\n"), let pid = Int32(text.dropLast()) { return pid }
      usleep(2_000)
    }
    throw CocoaError(.fileReadNoSuchFile)
  }

  /// Whether a process runs, which a zombie does not; `isAwaited` gives it time to end.
  ///
  /// The state of proc_pid_stat(5) tells; its command line is empty during an execve(2).
  private func runs(_ pid: Int32, isAwaited: Bool = true) -> Bool {
    for _ in 0..<(isAwaited ? 5_000 : 1) {
      let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
      let state = stat.split(separator: ")").last?.first { $0 != " " }
      if state == nil || state == "Z" || state == "X" { return false }
      usleep(2_000)
    }
    return true
  }

  /// What has taken on all ids of root, as sudo does, cannot be killed by the user who asks.
  @Test func `A check gains no privileges`() throws {
    let sudo = "\(try rootCopy(of: "setpriv")) --reuid 0 --clear-groups"
    let probe = try Command.run(["sh", "-c", "\(sudo) id -ru"], as: visitor)
    #expect(probe.output == "0\n", "the bit counts here: \(probe)")
    try held(
      """
      user=$(\(sudo) id -ru || id -ru)
      case $question in
      *'"operation":"request"'*) echo $user >\(tree.path("state"))/requester ;;
      *) \(sudo) sleep 30 & echo $! >\(tree.path("state"))/left; sleep 0.2 ;;
      esac
      echo '{"version":1,"status":"denied","message":"asked by '$user'","requestable":true}'
      """)
    let checked = try permcheck(["held"])
    #expect(checked.output.contains("asked by 61234"), "\(checked)")
    let left = try pid(in: "left")
    #expect(!runs(left))
    kill(left, SIGKILL)
    _ = try permcheck(["request", "held", "--yes"])
    #expect(try pid(in: "requester") == 0)
  }

  /// The kernel ends a program whose permcheck is killed.
  @Test(arguments: [["held"], ["list"], ["request", "held", "--yes"]])
  func `A program ends with its checker`(_ arguments: [String]) throws {
    // A set-user-ID program is not told of the end if it gains privileges.
    let sleep = arguments[0] == "request" ? "sleep" : try rootCopy(of: "sleep")
    let denied = #"{"version":1,"status":"denied","message":"no","requestable":true}"#
    try held(
      """
      case "\(arguments[0]) $question" in
      request*'"operation":"check"'*) echo '\(denied)'; exit ;;
      esac
      echo $$ >\(tree.path("state"))/late
      exec \(sleep) 600
      """)
    let checker = try LiveCommand(
      [Command.permcheck] + arguments,
      environment: [
        "PATH": "\(tree.path("bin")):/usr/bin:/bin", "HOME": tree.path("state"),
      ], as: visitor)
    let program = try pid(in: "late")
    #expect(runs(program, isAwaited: false))
    checker.send(SIGKILL)
    #expect(try checker.finish().status == 128 + SIGKILL)
    #expect(!runs(program))
    kill(program, SIGKILL)
  }

  /// After unshare(1) without --fork a program is the first of a process namespace, and sees no parent.
  @Test func `A program in a PID namespace of its own ends`() throws {
    // A user of the files: getent(1) would be the first process there, and its end the end of all others.
    let visitor = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    let outcome = try Command.run(
      ["unshare", "--pid"] + visitor + [Command.permcheck, "gate"],
      environment: ["PATH": "\(tree.path("bin")):/usr/bin:/bin", "HOME": tree.path("state")])
    #expect(outcome.status == 1 && outcome.output.contains("the gate is shut"), "\(outcome)")
  }

  @Test func `A built-in name is never a program`() throws {
    for name in ["camera", "mic", "serial", "tty"] {
      try tree.file(
        "bin/permcheck-accessor-\(name)", "#!/bin/sh\ntouch \(tree.path("state"))/ran\n",
        mode: 0o755)
    }
    _ = try permcheck(["camera", "mic", "serial", "tty", "photos"])
    #expect(!FileManager.default.fileExists(atPath: tree.path("state/ran")))
    #expect(try !permcheck(["list"]).output.contains("permcheck-accessor-camera"))
  }

  @Test func `The examples answer as the kernel does`() throws {
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
