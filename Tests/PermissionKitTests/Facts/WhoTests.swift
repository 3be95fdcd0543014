import Foundation
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Whose access is judged: one value, and one place that makes a subject of it.
@Suite struct WhoTests {
  /// A data base that does not depend on this machine.
  private static func withUsers(_ body: (UserDatabase) throws -> Void) throws {
    let tree = try Tree()
    try tree.file("etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n")
    try tree.file("etc/group", "root:x:0:\nada:x:1000:\n")
    try body(UserDatabase(LinuxSystem(), root: PathBytes(tree.root)))
  }

  @Test func `Each case becomes the subject that it names`() throws {
    try Self.withUsers(Self.judge)
  }

  private static func judge(_ users: UserDatabase) throws {
    let own = LinuxSystem().getpid()
    #expect(try users.subject(.current).source == .current)
    #expect(try users.subject(.user("root")).credentials.user.fileSystem == 0)
    #expect(try users.subject(.user("0")).name == "root")
    let ids = try users.subject(.ids(uid: 54321, gid: 54322, groups: [7]))
    #expect(ids.source == .ids && ids.credentials.groups == [7] && ids.name == nil)
    #expect(try users.subject(.process(own)).process == own)
  }

  @Test(arguments: [Who.group("root"), .everybody])
  func `Several users are no subject, but each of them is`(_ who: Who) throws {
    #expect(who.isOfMany)
    #expect(throws: PermissionError.self) { try AccessContext(for: who) }
    try Self.withUsers { users in
      let error = #expect(throws: PermissionError.self) { try users.subject(who) }
      #expect(error?.code == .invalidArgument)
      let each = try users.each(who)
      #expect(each == (who == .everybody ? [.user("root"), .user("ada")] : [.user("root")]))
      #expect(try users.each(.group("no-such-group")) == nil)
      #expect(try users.each(.process(1)) == [.process(1)])
    }
  }

  @Test
  func `A context for this process leaves the subject open, so that each check reads it again`()
    throws
  {
    #expect(try AccessContext(for: .current).subject == nil)
    #expect(try AccessContext(for: .user("root")).subject?.name == "root")
  }

  @Test func `A status has one mark and one exit status, and counts as access in one way`() {
    let rows: [(AuthorizationStatus, String, String, Int32, Int32)] = [
      (.authorized, "✔", "ok", 0, 0), (.limited, "◐", "~", 0, 1), (.denied, "✘", "no", 1, 1),
      (.restricted, "✘", "no", 1, 1), (.unavailable, "–", "-", 3, 3),
      (.notDetermined, "?", "?", 2, 2),
    ]
    #expect(rows.count == AuthorizationStatus.allCases.count)
    for (status, mark, ascii, exit, strict) in rows {
      #expect(Mark(status).text == mark && Mark(status).ascii == ascii)
      var report = AccessReport(accessor: "door", status: status)
      #expect(ExitStatus(report).rawValue == exit && report.isGranted == (exit == 0))
      report.acceptsLimited = false
      #expect(ExitStatus(report).rawValue == strict && report.isGranted == (strict == 0))
    }
  }

  /// A data base below another root that is there, and cannot be read, is an error, and never another one.
  @Test func `Row 12: Users of another root are those of its files`() throws {
    let tree = try Tree()
    try tree.folder("root/etc")
    try tree.folder("root/srv")
    try tree.folder("root/srv/data", mode: 0o750, gid: 4321)
    let big = (0..<70_000).map { "g\($0):x:\(100_000 + $0):\n" }.joined() + "band:x:4321:ann\n"
    try tree.file("root/etc/passwd", "ann:x:1234:1234::/:/bin/sh\nroot:x:0:0::/:/bin/sh\n")
    try tree.file("root/etc/group", big)
    let database = UserDatabase(LinuxSystem(), root: PathBytes(tree.path("root")))
    #expect(try database.subject(.user("ann")).credentials.groups.contains(4321))
    try FileManager.default.removeItem(atPath: tree.path("root/etc/group"))
    try tree.link("root/etc/group", to: "/dev/zero")
    try tree.folder("root/dev")
    try tree.folder("root/dev/zero")
    let other = UserDatabase(LinuxSystem(), root: PathBytes(tree.path("root")))
    #expect(throws: PermissionError.self) { try other.subject(.user("ann")) }
    #expect(throws: PermissionError.self) { try other.subject(.user("nobody")) }
    #expect(other.userName(1) == "1" && other.groupName(1) == "1")
    // A link leads to what it names below the root.
    try FileManager.default.removeItem(atPath: tree.path("root/etc/group"))
    try tree.file("root/shared", "band:x:4321:ann\n")
    try tree.link("root/etc/group", to: "/shared")
    let linked = UserDatabase(LinuxSystem(), root: PathBytes(tree.path("root")))
    #expect(try linked.subject(.user("ann")).credentials.groups.contains(4321))
  }
}
