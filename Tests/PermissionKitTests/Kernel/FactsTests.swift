@_spi(SystemCalls) import PermissionKit
import Testing

/// What facts say of places that no name leads to, and of devices whose drivers ask for more.
@Suite struct FactsTests {
  private static func directory(_ parent: Int, _ entries: [(PathBytes, Int)]) -> InodeFacts {
    var inode = InodeFacts(kind: .directory, mode: 0o755, uid: 0, gid: 0, parent: parent)
    inode.entries = entries.map { InodeFacts.Entry(name: $0.0, found: .inode($0.1)) }
    return inode
  }

  @Test func `The target of a magic link is named by the link`() {
    var link = InodeFacts(
      kind: .symbolicLink, mode: 0o777, uid: 0, gid: 0, parent: 0, target: "/gone (deleted)")
    link.jump = 2
    let facts = AccessFacts(inodes: [
      Self.directory(0, [("3", 1)]), link, Self.directory(2, [("x", 3)]), Self.directory(2, []),
    ])
    #expect(facts.path(of: 1) == "/3")
    #expect(facts.path(of: 2) == "/3")
    #expect(facts.path(of: 3) == "/3/x")
  }

  @Test func `A circle in a document ends`() {
    let name = PathBytes([UInt8](repeating: 0x61, count: 1 << 20))
    var inodes = [InodeFacts](repeating: Self.directory(0, []), count: 100_000)
    inodes[1] = Self.directory(2, [(name, 2)])
    inodes[2] = Self.directory(1, [(name, 1)])
    #expect(AccessFacts(inodes: inodes).path(of: 1).bytes.count < 1 << 22)
  }

  @Test(arguments: [
    (1, 1, OpenFlags.readOnly, true), (1, 3, .readWrite, false), (1, 4, .readOnly, true),
    (1, 11, .writeOnly, true), (5, 0, .readWrite, true), (5, 2, .readWrite, false),
    (10, 183, .readOnly, false), (10, 183, .readWrite, true),
  ])
  func `A driver with a rule of its own is not predicted`(
    major: UInt32, minor: UInt32, flags: OpenFlags, isDriver: Bool
  ) {
    let node = InodeFacts(
      kind: .characterDevice, mode: 0o666, uid: 0, gid: 0,
      device: .init(major: major, minor: minor), parent: 0)
    let facts = AccessFacts(inodes: [Self.directory(0, [("node", 1)]), node])
    let evaluator = AccessEvaluator(
      facts: facts, credentials: Credentials(uid: 1000, gid: 1000, groups: []))
    let decision = evaluator.decide(.open(flags), path: "/node")
    #expect(decision.verdict == (isDriver ? .undetermined : .granted))
    #expect(decision.rule == (isDriver ? .driver : .otherBits))
    // Asked without an open, the driver is not.
    #expect(evaluator.decide(.faccessat2(.read, followsLink: true), path: "/node").isGranted)
  }
}
