import Foundation
import TestSupport
import Testing

/// One check for several users, held against the user data base and against a check of each.
@Suite(.blocking) struct SeveralUsersTests {
  func lines(_ arguments: [String]) throws -> [[String]] {
    let outcome = try Command.permcheck(arguments + ["--format", "plain"])
    return outcome.output.split(separator: "\n").map { $0.components(separatedBy: "\t") }
  }

  @Test func `The help says what a command does for the user: a request grants, others judge`()
    throws
  {
    func help(_ command: String) throws -> String {
      // Lines are wrapped.
      try Command.permcheck([command, "--help-hidden"]).output
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    for command in ["check", "explain", "audit", "watch"] {
      #expect(try help(command).contains("Check for this user"), "\(command)")
    }
    let request = try help("request")
    #expect(request.contains("Grant to this user") && request.contains("Grant to this uid"))
    #expect(!request.contains("Judge for this u"))
  }

  @Test func `Each user has the answer of a single check`() throws {
    let users = ["root", "daemon", "nobody"]
    let names = ["photos=/root", "photos=/etc"]
    let together = try lines(names + users.flatMap { ["--user", $0] })
    let apart = try users.flatMap { try lines(names + ["--user", $0]) }
    #expect(together == apart)
    #expect(together.map { $0[9] } == users.flatMap { [$0, $0] })
  }

  @Test func `The table has a row for each user`() throws {
    let outcome = try Command.permcheck([
      "photos=/root", "photos=/no/such", "--user", "root", "--user", "daemon",
    ])
    let rows = outcome.output.split(separator: "\n")
    #expect(outcome.status == 1)
    #expect(rows.count == 3)
    #expect(rows[0].contains("photos=/root") && rows[0].contains("photos=/no/such"))
    #expect(rows[2].hasPrefix("daemon  ✘ denied"), "\(outcome.output)")
  }

  @Test func `Every report names its subject`() throws {
    let outcome = try Command.permcheck([
      "photos=/etc", "--user", "daemon", "--user", "root", "--json",
    ])
    #expect(try Validator.check(outcome.output).output == "")
    let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    let reports = try #require(json?["reports"] as? [[String: Any]])
    let users = reports.map { ($0["subject"] as? [String: Any])?["user"] as? String }
    #expect(users == ["daemon", "root"])
    #expect((json?["subject"] as? [String: Any])?["user"] as? String == "daemon")
  }

  /// What getent(1) lists, each name once.
  @Test(.enabled(if: Kernel.canAsk, "its own /etc"))
  func `--everybody is every user of the data base`() throws {
    let etc = try OwnEtc()
    let passwd = try etc.run(["getent", "passwd"]).output.split(separator: "\n")
    var uids: Set<String> = []
    let users = passwd.map { $0.components(separatedBy: ":") }.filter {
      uids.insert($0[2]).inserted
    }
    let outcome = try etc.run(
      [Command.permcheck, "photos=/etc", "--all-users", "--format", "plain"])
    let told = outcome.output.split(separator: "\n").map { $0.components(separatedBy: "\t")[9] }
    #expect(told == users.map { $0[0] })
  }

  /// A source that need not list its users is named, and JSON says that some may be missing.
  @Test(
    .enabled(if: Kernel.canAsk, "its own /etc"),
    arguments: Effort.some(
      [
        ("passwd: files systemd", nil), ("passwd:\tfiles sss [NOTFOUND=return] db # ldap", "sss"),
        ("passwd: compat winbind ldap", "winbind and ldap"), ("group: files sss", nil),
        ("passwd: files sss; enumerate = True", nil),
        ("passwd: files sss; enumerate = False", "sss"),
      ] as [(String, String?)], of: "SeveralUsersTests An reported", atLeast: 2))
  func `An incomplete list of users is reported`(_ line: String, _ named: String?) throws {
    let etc = try OwnEtc()
    let parts = line.split(separator: ";").map(String.init)
    let sssd =
      parts.count > 1
      ? "mkdir -p /etc/sssd; printf '[domain/x]\\n%s\\n' \"$2\" >/etc/sssd/sssd.conf" : ":"
    let written = try etc.run(
      ["sh", "-c", "printf '%s\\n' \"$1\" >/etc/nsswitch.conf; \(sssd)", "sh"] + parts)
    try #require(written.status == 0)
    for command in [["photos=/etc", "--all-users"], ["photos=/etc", "--group", "audio"]] {
      try #require(try etc.run(["usermod", "-aG", "audio", "games"]).status == 0)
      let outcome = try etc.run([Command.permcheck] + command + ["--json"])
      let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      let isComplete = (document as? [String: Any])?["usersComplete"] as? Bool
      #expect(isComplete == (named == nil), "\(outcome)")
      let warning = "the list of users may not be complete: \(named ?? "") in /etc/nsswitch.conf"
      #expect(outcome.errors.contains(warning) == (named != nil), "\(outcome.errors)")
    }
    let census = try etc.run([Command.permcheck, "audit", "/etc/ssl", "--who", "--json"])
    #expect(census.output.contains("\"usersComplete\":\(named == nil)"), "\(census)")
    let one = try etc.run([Command.permcheck, "photos=/etc", "--user", "games", "--json"])
    #expect(!one.output.contains("usersComplete") && one.errors.isEmpty)
  }

  /// A group's members: those it lists, and those whose primary group it is.
  @Test func `A group is all of its members`() throws {
    let tree = try Tree()
    try tree.file("root/etc/passwd", "ada:x:7:7::/:\nbob:x:8:9::/:\ncy:x:9:8::/:\n")
    try tree.file("root/etc/group", "seven:x:7:bob\nnone:x:6:\n")
    func check(_ group: String) throws -> Outcome {
      try Command.permcheck([
        "photos=/etc", "--root", tree.path("root"), "--group", group, "--format", "plain",
      ])
    }
    let users = try check("seven").output.split(separator: "\n").map {
      $0.components(separatedBy: "\t")[9]
    }
    #expect(users == ["ada", "bob"])
    let empty = try check("none")
    #expect(empty.status == 64 && empty.errors.contains("group none has no members"))
    let missing = try check("no")
    #expect(missing.status == 64 && missing.errors.contains("there is no group no"))
  }

  @Test(
    arguments: Effort.some(
      [
        ["explain", "/etc"], ["watch", "photos", "--for", "0"],
        ["request", "photos"], ["audit", "/etc/ssl"],
      ], of: "SeveralUsersTests Other user", atLeast: 2))
  func `Other commands take one user`(_ command: [String]) throws {
    let at = command.firstIndex(of: "--") ?? command.count
    let users = ["--user", "root", "--user", "daemon"]
    let outcome = try Command.permcheck(
      Array(command[..<at]) + users + Array(command[at...]))
    #expect(outcome.status == 64, "\(outcome)")
    #expect(outcome.errors.contains("one user at a time"), "\(outcome.errors)")
  }

  @Test(
    arguments: Effort.some(
      [
        ["--user", "root", "--group", "root"], ["--all-users", "--group", "root"],
        ["--pid", "1", "--all-users"], ["--all-users", "--wait", "1s"],
        ["--user", "a", "--user", "b", "--wait", "1s"],
      ], of: "SeveralUsersTests What refused", atLeast: 2))
  func `What cannot be combined is refused`(_ options: [String]) throws {
    let outcome = try Command.permcheck(["photos=/etc"] + options)
    #expect(outcome.status == 64 && outcome.output == "", "\(outcome)")
  }
}
