import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// /etc/passwd and /etc/group, read once for a check: the same answers as those of glibc.
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

  func read(_ text: String) -> UserFile { UserFile(Array(text.utf8)) }

  @Test func `A user is found by name and by number, the first of several`() throws {
    let file = read(Self.passwd)
    let games = UserRecord(name: "games", uid: 5, gid: 60, home: "/usr/games")
    #expect(file.user(named: "games") == games)
    #expect(file.user(5) == games)
    #expect(file.user(named: "twin")?.gid == 61)
    for name in ["", "game", "games:x", "5", "Games"] { #expect(file.user(named: name) == nil) }
    #expect(file.user(6) == nil)
    #expect(file.users.map(\.name) == ["root", "games", "twin", "nobody"])
  }

  @Test func `The groups of a user begin with the primary one, and each is there once`() throws {
    let users = read(Self.passwd)
    let groups = read(Self.group)
    #expect(groups.groups(of: try #require(users.user(named: "games"))) == [60, 44])
    #expect(groups.groups(of: try #require(users.user(named: "twin"))) == [61, 44, 29])
    #expect(groups.groups(of: try #require(users.user(named: "root"))) == [0])
    #expect(groups.group(44)?.name == "video")
    #expect(groups.group(named: "video")?.members == ["games", "twin"])
    #expect(groups.group(45)?.name == nil)
  }

  @Test(
    arguments: [
      ("# a comment", nil), (" a:x:1:1::/:/bin/sh", 1), ("+a:x:1:1::/:/bin/sh", nil),
      ("-a:x:1:1::/:/bin/sh", nil), ("+", nil), ("", nil), ("a", nil), ("a:x:1", nil),
      ("a:x:1:1", 1),
      ("a:x:1:1::/", 1), ("a:x:1:1::/:/bin/sh:more", 1), ("a:x::1::/:/bin/sh", nil),
      ("a:x:1:::/:/bin/sh", nil), ("a:x:-1:1::/:/bin/sh", nil), ("a:x: 1:1::/:/bin/sh", 1),
      ("a:x:+1:1::/:/bin/sh", 1), ("a:x:1 :1::/:/bin/sh", nil), ("a:x:1:0x1::/:/bin/sh", nil),
      ("a:x:4294967295:1::/:/bin/sh", 4_294_967_295), ("a:x:4294967296:1::/:/bin/sh", nil),
      ("a:x:99999999999999999999999:1::/:/bin/sh", nil), ("a:x:1:99999999999::/:/bin/sh", nil),
      ("a:x:-18446744073709551615:1::/:/bin/sh", 1), ("a\t:x:1:1::/:/bin/sh", nil),
      ("a:x:1:1::/:/bin/sh\r", 1), ("a:x:1:1:\0:/:/bin/sh", 1), ("\0a:x:1:1::/:/bin/sh", nil),
      ("a:\0:1:1::/:/bin/sh", nil),
    ] as [(String, UInt32?)])
  func `An odd line is read as glibc reads it, and hides nothing after it`(
    _ line: String, _ uid: UInt32?
  ) {
    let file = read(Self.passwd + line + "\nlate:x:7:7::/:/bin/sh")
    #expect(file.user(named: "a")?.uid == uid)
    #expect(file.user(7)?.name == "late" && file.user(named: "late")?.gid == 7)
    #expect(file.user(5)?.name == "games")
  }

  @Test(
    arguments: [
      ("a:x:1: games\n", [60, 44, 1]), ("a:x:1:b,\tgames\n", [60, 44, 1]), ("a:x:1\n", [60, 44]),
      ("a:x:1:games :\n", [60, 44]), ("#a:x:1:games\n", [60, 44, 1]), ("a:x:1:games", [60, 44, 1]),
      ("a:x:1:,,games,,", [60, 44, 1]), ("+:::games", [60, 44, 0]), ("+", [60, 44]),
      ("+a:x:9:games\n", [60, 44, 9]), (" +:::games", [60, 44]), ("a:x:1:b\0,games", [60, 44]),
    ] as [(String, [UInt32])])
  func `The groups of a user are those that initgroups(3) sets, by any line of the file`(
    _ line: String, _ groups: [UInt32]
  ) {
    let user = UserRecord(name: "games", uid: 5, gid: 60, home: "/")
    #expect(read(Self.group + line).groups(of: user) == groups)
  }

  @Test func `The files of this machine get the answers of getent(1) for every user`() throws {
    let system = LinuxSystem.cached()
    let users = UserDatabase(system)
    let everybody = try users.everyUser()
    #expect(everybody.count > 3)
    for user in everybody {
      let listed = try system.getent("passwd", [user.name]).user(named: user.name)
      #expect(try users.user(named: user.name) == listed)
      #expect(try Set(users.groups(of: user)) == Set(system.listedGroups(of: user)), "\(user.name)")
    }
    for name in ["", "no-such-user", "+", "-x", "a:b", "a\nb"] {
      #expect(try users.user(named: name) == nil)
      #expect(try system.getent("passwd", [name]).users == [])
    }
  }

  @Test(arguments: [
    ("passwd: files\ngroup: files\n", "u g l"),
    ("passwd: files systemd\ngroup: files systemd\n", "u+ g+ l+"),
    ("passwd:\tfiles sss\ngroup:\tfiles [SUCCESS=merge] systemd\n", "u+ g+m l+"),
    ("passwd: files sss\ngroup: files sss\n", "u+ g+ l+"),
    ("hosts: sss\npasswd:files\n", "u g l"),
    ("passwd: sss files\ngroup: sss files\n", "+ + +"),
    ("passwd: compat\ngroup: compat\n", "+ + +"),
    ("passwd: files [SUCCESS=continue] sss\ngroup: files [SUCCESS=continue] sss\n", "+ + +"),
    ("passwd: files [!SUCCESS=continue] sss\ngroup: files\n", "+ g l"),
    ("passwd: files [NOTFOUND=return] sss\ngroup: files\n", "u+ g l"),
    ("passwd: files\ngroup: files\ninitgroups: files sss\n", "u g l+"),
    ("passwd: files # sss\ngroup: files\n", "+ g l"), ("passwd: \ngroup: files\n", "+ g l"),
    ("passwd: files\npasswd: sss\ngroup: files\n", "+ g l"),
    ("hosts: files\n", "u g l"), ("", "u g l"),
  ])
  func
    `The sources of nsswitch.conf(5) say whether the files answer for users, groups and lists, and whether others do`(
      _ text: String, _ expected: String
    )
  {
    let sources = UserSources(Array(text.utf8))
    let lines = [(sources.users, "u"), (sources.groups, "g"), (sources.lists, "l")]
    let found = lines.map { line, name in
      (line.beginsWithFiles && !line.isOdd ? name : "") + (line.hasOnlyFiles ? "" : "+")
        + (line.merges && name == "g" ? "m" : "")
    }
    #expect(found.joined(separator: " ") == expected)
  }
}
