import Foundation
import Glibc
import TestSupport
import Testing

/// permcheck audit --who and --pid, held to what the kernel tells each user and process.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "needs root, to run as other users"))
struct AuditUsersTests {
  private struct Census: Decodable {
    struct User: Decodable {
      struct Rule: Decodable {
        let verdict: String
        let rule: String
        let isSearch: Bool
        let count: Int
      }
      let user: String
      let uid: UInt32
      let granted: Int
      let refused: Int
      let undetermined: Int
      let rules: [Rule]
    }
    let asked: Int
    let unlisted: Int
    let users: [User]
  }

  /// A tree with every kind of file, whose owners are users of the user data base.
  private func tree() throws -> Tree {
    let tree = try AuditTests.tree()
    let script = """
      import os, sys
      for index, (folder, folders, files) in enumerate(sorted(os.walk(sys.argv[1]))):
          for number, name in enumerate(sorted(folders + files)):
              os.lchown(os.path.join(folder, name), [0, 1, 2, 65534][(number + index) % 4],
                        [0, 1, 2, 39][number % 4])
      """
    #expect(try Command.run(["/usr/bin/python3", "-c", script, tree.root]).status == 0)
    try tree.setfacl(["-m", "u:2:rwx,g:1:-"], "d3")
    try tree.setfacl(["-m", "u:1:rx,g:2:r"], "d8/sub")
    return tree
  }

  private static let counting = """
    import os, sys
    names = sys.stdin.buffer.read().split(b"\\0")[:-1]
    print(sum(os.access(name, int(sys.argv[1]), effective_ids=True) for name in names))
    """

  private func account(_ name: String, _ etc: OwnEtc) throws -> Account {
    func ids(_ option: String) throws -> [UInt32] {
      try etc.run(["id", option, name]).output.split(whereSeparator: \.isWhitespace)
        .compactMap { UInt32($0) }
    }
    return Account(uid: try ids("-u")[0], gid: try ids("-g")[0], groups: try ids("-G"))
  }

  @Test(arguments: Effort.isFull ? ["r", "w", "x", "rw"] : ["rx"])
  func `Every count is the kernel's`(need: String) throws {
    let (tree, etc) = (try tree(), try OwnEtc())
    let all = try Command.run(["find", tree.root, "-print0"]).output
    let mode = need.reduce(0) { $0 + ["r": 4, "w": 2, "x": 1][$1, default: 0] }
    for threads in Effort.isFull ? ["1", "3"] : ["2"] {
      let outcome = try etc.run([
        Command.permcheck, "audit", tree.root, "--who", "--need", need, "--json",
        "--threads", threads,
      ])
      let census = try JSONDecoder().decode(Census.self, from: Data(outcome.output.utf8))
      #expect(outcome.status == 0, "\(outcome)")
      #expect(census.asked == records(all).count)
      #expect(census.users.count > 10)
      for user in census.users {
        let counted =
          user.uid == 0
          ? try Command.run(["/usr/bin/python3", "-c", Self.counting, "\(mode)"], input: all)
          : try Command.run(
            ["/usr/bin/python3", "-c", Self.counting, "\(mode)"], as: account(user.user, etc),
            input: all)
        #expect("\(user.granted)\n" == counted.output, "\(user.user) \(counted.errors)")
        #expect(user.granted + user.refused == census.asked && user.undetermined == 0)
        #expect(user.rules.reduce(0) { $0 + $1.count } == census.asked)
      }
    }
  }

  @Test func `Users with the same access share a line`() throws {
    let tree = try Tree()
    for number in 0..<5 { try tree.file("in/f\(number)") }
    try tree.file("in/own", mode: 0o600, uid: 1, gid: 0)
    try tree.file("in/named", mode: 0o600)
    try tree.setfacl(["-m", "u:2:r"], "in/named")
    try tree.folder("shut", mode: 0o750)
    try tree.file("shut/file")
    let chosen = ["root", "daemon", "bin", "games", "nobody"].flatMap { ["--user", $0] }
    let outcome = try Command.permcheck(["audit", tree.root, "--who"] + chosen)
    #expect(
      outcome.output == """
        who has read access below \(tree.root): 11 files and folders, 5 users
        ✔ root           all  10 as the owner, 1 by CAP_DAC_READ_SEARCH
        ◐ daemon           8  7 as others, 1 as the owner; refused: 1 (no permission for others by ACL), 1 (no permission for others), 1 (a folder above is closed to others)
        ◐ bin              8  7 as others, 1 as uid 2 by ACL; refused: 2 (no permission for others), 1 (a folder above is closed to others)
        ◐ games, nobody    7  as others; refused: 2 (no permission for others), 1 (no permission for others by ACL), 1 (a folder above is closed to others)

        """)
    let plain = try Command.permcheck(
      ["audit", tree.root, "--who", "--user", "bin", "--format", "plain"])
    #expect(plain.output.contains("bin\t2\t8\t3\t0\tacl-user:2\tgranted\tname\t1\n"), "\(plain)")
    let members = try Command.permcheck(["audit", tree.root, "--who", "--group", "daemon", "-v"])
    #expect(members.output.split(separator: "\n").count == 2, "\(members)")
  }

  /// What permcheck cannot list is not counted as known.
  @Test func `A folder that cannot be listed is reported`() throws {
    let tree = try Tree()
    try tree.file("shut/file")
    try tree.folder("shut", mode: 0o700)
    let outcome = try Command.permcheck(
      ["audit", tree.root, "--who", "--user", "bin"], as: AuditTests.visitor)
    #expect(outcome.status == 2, "\(outcome)")
    #expect(outcome.output.contains("1 folder cannot be listed by permcheck"), "\(outcome)")
  }

  @Test func `Wrong arguments are usage errors`() throws {
    for arguments in [
      ["/", "--who", "--null"], ["/", "--who", "--pid", "1"], ["/", "--group", "daemon"],
      ["/", "--who", "--group", "no-such-group"], ["/", "--who", "--user", "no-such-user"],
      ["/", "--who", "--format", "tap"], ["/", "--pid", "1", "--user", "bin"],
      ["/nonsense/none", "--who"],
    ] {
      let outcome = try Command.permcheck(["audit"] + arguments)
      #expect(outcome.status == 64 && !outcome.errors.isEmpty, "\(arguments) \(outcome)")
    }
  }

  // MARK: - Other processes

  private func sleeper(_ before: [String] = [], as account: Account? = nil) throws -> LiveCommand {
    let command = try LiveCommand(before + ["sh", "-c", "echo ready; exec sleep 600"], as: account)
    #expect(command.line() == "ready")
    return command
  }

  @Test func `The list of a process is that of find in it`()
    throws
  {
    let tree = try AuditTests.tree()
    for (account, name) in [(AuditTests.visitor, "visitor"), (AuditTests.accounts[2], "other")] {
      let process = try sleeper(as: account)
      for (need, test) in [("r", "-readable"), ("w", "-writable")] {
        let expected = try findRecords(tree.root, ["!", test], as: account)
        let outcome = try Command.permcheck(
          ["audit", tree.root, "--null", "--need", need, "--pid", "\(process.pid)"])
        #expect(records(outcome.output) == expected, "\(name)")
        #expect(outcome.status == 1)
      }
    }
  }

  /// A sandbox that cannot be seen may refuse everything that mode and ACL grant.
  @Test func `A sandboxed process is not granted`() throws {
    let tree = try Tree()
    try tree.file("file")
    let free = try sleeper(as: AuditTests.visitor)
    #expect(try Command.permcheck(["audit", tree.root, "--pid", "\(free.pid)"]).status == 0)
    let bound = try sleeper(["setpriv", "--no-new-privs"], as: AuditTests.visitor)
    let outcome = try Command.permcheck(["audit", tree.root, "--pid", "\(bound.pid)"])
    #expect(outcome.status == 2, "\(outcome)")
    #expect(outcome.output.contains("read granted by mode and ACL for"), "\(outcome)")
    #expect(outcome.output.contains("Landlock"), "\(outcome)")
    let json = try Command.permcheck(["audit", tree.root, "--pid", "\(bound.pid)", "--json"])
    #expect(json.output.contains("\"doubts\":["), "\(json)")
  }

  /// The same path leads a process with other mounts elsewhere.
  @Test func `A process with other mounts is refused`() throws {
    let tree = try Tree()
    let process = try sleeper([
      "unshare", "--mount", "sh", "-c", "mount -t tmpfs none \(tree.root); exec \"$@\"", "sh",
    ])
    let outcome = try Command.permcheck(["audit", tree.root, "--pid", "\(process.pid)"])
    #expect(outcome.status == 64 || outcome.status == 70, "\(outcome)")
    #expect(outcome.errors.contains("other mounts") && outcome.output.isEmpty, "\(outcome)")
  }
}
