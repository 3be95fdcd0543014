import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// /etc/passwd and /etc/group, read once for a check: the same answers as those of glibc, or none.
@Suite struct UserFileTests {
  static let passwd = """
    root:x:0:0:root:/root:/bin/bash
    games:x:5:60:Games, of all kinds:/usr/games:/usr/sbin/nologin
    twin:x:5:61::/home/twin:/bin/sh
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin

    """
  static let group = """
    root:x:0:
    games:x:60:
    video:x:44:games,twin
    audio:x:29:twin,gamesmaster
    again:x:44:games
    own:x:60:games

    """

  func read(_ text: String, _ fields: Int) -> UserFile {
    UserFile(Array(text.utf8), fields: fields)
  }

  @Test func `A user is found by name and by number, the first of several`() throws {
    let file = read(Self.passwd, 7)
    let games = UserRecord(name: "games", uid: 5, gid: 60, home: "/usr/games")
    #expect(file.user(named: "games") == games)
    #expect(file.user(5) == games)
    #expect(file.user(named: "twin")?.gid == 61)
    for name in ["", "game", "games:x", "5", "Games"] { #expect(file.user(named: name) == nil) }
    #expect(file.user(6) == nil)
  }

  @Test func `The groups of a user begin with the primary one, and each is there once`() throws {
    let users = read(Self.passwd, 7)
    let groups = read(Self.group, 4)
    #expect(groups.groups(of: try #require(users.user(named: "games"))) == [60, 44])
    #expect(groups.groups(of: try #require(users.user(named: "twin"))) == [61, 44, 29])
    #expect(groups.groups(of: try #require(users.user(named: "root"))) == [0])
    #expect(groups.groupName(44) == "video")
    #expect(groups.groupName(45) == nil)
  }

  @Test(arguments: [
    "# a comment", " a:x:1:1::/:/bin/sh", "+a:x:1:1::/:/bin/sh", "-a:x:1:1::/:/bin/sh", "+", "",
    "a:x:1:1::/", "a:x:1:1::/:/bin/sh:", ":x:1:1::/:/bin/sh", "a:x::1::/:/bin/sh",
    "a:x:1:::/:/bin/sh", "a:x:-1:1::/:/bin/sh", "a:x: 1:1::/:/bin/sh", "a:x:1:0x1::/:/bin/sh",
    "a:x:4294967296:1::/:/bin/sh", "a:x:1:99999999999::/:/bin/sh", "a\t:x:1:1::/:/bin/sh",
    "a:x:1:1::/:/bin/sh\r", "a:x:1:1:\0:/:/bin/sh",
  ])
  func `A file with a line that readers could read otherwise is left to glibc`(_ line: String) {
    let end = "late:x:7:7::/:/bin/sh\n"
    #expect(read(Self.passwd + end, 7).user(7)?.name == "late")
    let file = read(Self.passwd + line + "\n" + end, 7)
    #expect(file.user(5)?.name == "games", "what is before the line is known")
    #expect(file.user(7) == nil && file.user(named: "late") == nil)
    #expect(file.user(1) == nil && file.user(named: "a") == nil)
  }

  @Test(arguments: ["a:x:1: b\n", "a:x:1:b, c\n", "a:x:1\n", "a:x:1:b:\n", "#a:x:1:b\n", "a:x:1:b"])
  func `So are the groups of a user, by any line of the file, and a last line without an end`(
    _ line: String
  ) {
    let user = UserRecord(name: "games", uid: 5, gid: 60, home: "/")
    #expect(read(Self.group, 4).groups(of: user) != nil)
    #expect(read(Self.group + line, 4).groups(of: user) == nil)
  }

  /// A question to both, and whether they answer the same.
  private typealias Question = (
    name: String, isSame: (_ files: UserDatabase, _ glibc: LinuxSystem) throws -> Bool
  )

  @Test func `The files of this machine get glibc's answers for every user and group`() throws {
    let glibc = LinuxSystem()
    var questions: [Question] = []
    let users = try glibc.getpwent()
    #expect(users.count > 3)
    for user in users {
      questions += [
        (user.name, { try $0.user(named: user.name) == $1.getpwnam(user.name) }),
        ("\(user.uid)", { try $0.user(user.uid) == $1.getpwuid(user.uid) }),
        ("groups of \(user.name)", { try $0.groups(of: user) == $1.getgrouplist(user) }),
      ]
    }
    for id in UInt32(0)..<200 {
      questions += [
        ("group \(id)", { try $0.groupName(id) == $1.getgrgid(id) ?? String(id) }),
        ("\(id)", { try $0.user(id) == $1.getpwuid(id) }),
      ]
    }
    for name in ["", "nobody", "no-such-user", "+", "0"] {
      questions.append((name, { try $0.user(named: name) == $1.getpwnam(name) }))
    }
    // Users may be added meanwhile, so what differs is asked again, by itself and from new.
    var files = UserDatabase(LinuxSystem.cached())
    for _ in 0..<20 where !questions.isEmpty {
      questions = try questions.filter { try !$0.isSame(files, glibc) }
      files = UserDatabase(LinuxSystem.cached())
    }
    #expect(questions.map(\.name) == [])
  }

  @Test(arguments: [
    ("passwd: files\ngroup: files\n", "ugl"),
    ("passwd: files systemd\ngroup: files systemd\n", "ugl"),
    ("passwd:\tfiles sss\ngroup:\tfiles [SUCCESS=merge] systemd\n", "ugls"),
    ("passwd: files sss\ngroup: files sss\n", "ugs"), ("hosts: sss\npasswd:files\n", "u"),
    ("passwd: sss files\ngroup: sss files\n", "s"), ("passwd: compat\ngroup: compat\n", ""),
    ("passwd: files [SUCCESS=continue] sss\ngroup: files [SUCCESS=continue] sss\n", "s"),
    ("passwd: files [NOTFOUND=return] sss\ngroup: files\n", "ugls"),
    ("passwd: files\ngroup: files\ninitgroups: files sss\n", "s"),
    ("passwd: files # sss\ngroup: files\n", ""),
    ("passwd: files\npasswd: sss\ngroup: files\n", "s"),
    ("hosts: files\n", ""), ("", ""),
  ])
  func
    `The sources of nsswitch.conf(5) say whether the files answer for users, groups and lists, or a server`(
      _ text: String, _ expected: String
    )
  {
    let sources = UserSources(Array(text.utf8))
    var found = sources.usersAreInFiles ? "u" : ""
    if sources.groupsAreInFiles { found += "g" }
    if sources.filesListGroups { found += "l" }
    if sources.mayWait { found += "s" }
    #expect(found == expected)
  }
}
