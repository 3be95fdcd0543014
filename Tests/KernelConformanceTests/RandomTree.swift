import GrantJudge
@_spi(SystemCalls) import PermissionKit

/// A path of inodes with modes and ACLs of all kinds, and a request of a subject that has to do with
/// them; always the same one for the same seed and number.
struct RandomTree {
  /// SplitMix64.
  struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      return word ^ word >> 31
    }

    mutating func below(_ count: Int) -> Int { Int(next() >> 33) % count }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[below(elements.count)]
    }
  }

  static let users: [UInt32] = [0, 1001, 1002, 1003, 1004, 1005]
  static let groups: [UInt32] = [0, 44, 2001, 2002, 2003, 2004]
  static let needs: [Permissions] = [
    .read, .write, [.read, .write], [.read, .execute], .all, .execute,
  ]

  /// Who asks; never root.
  let subject: Credentials
  private(set) var need: Permissions
  /// From the directory in which the first one is, down to the target.
  private(set) var inodes: [InodeFacts] = []
  var target: InodeFacts { inodes[inodes.count - 1] }
  /// Below the directory in which it is made: `0/1/2`.
  var path: String { (0..<inodes.count).map(String.init).joined(separator: "/") }
  private var random: Generator

  init(seed: UInt64, number: Int) {
    var random = Generator(state: seed &* 0x1_0000_01b3 &+ UInt64(number))
    let groups = (0..<random.below(4)).map { _ in random.pick(Self.groups) }
    subject = Credentials(
      uid: random.pick([1001, 1002, 1003]), gid: random.pick(Self.groups), groups: groups)
    need = random.pick(Self.needs)
    self.random = random
    for _ in 0..<self.random.below(4) { inodes.append(inode(.directory)) }
    // A FIFO that nobody reads cannot be opened for writing, whoever may.
    let last: FileKind = need == .write ? .characterDevice : .fifo
    inodes.append(
      inode(self.random.pick([.regular, .regular, .directory, .characterDevice, last])))
    // Only a plain file is executed.
    if target.kind.isSpecial { need = need == .execute ? .read : need.subtracting(.execute) }
  }

  private mutating func digit() -> UInt16 {
    random.pick([0, 0, 0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 7])
  }

  private mutating func bits() -> Permissions { Permissions(rawValue: UInt8(digit())) }

  private mutating func inode(_ kind: FileKind) -> InodeFacts {
    var mode = digit() << 6 | digit() << 3 | digit()
    // Most directories on the way let most people through, as they do in life.
    if kind == .directory, random.chance(40) { mode = random.pick([0o755, 0o750, 0o711, 0o775]) }
    for special: UInt16 in [0o4000, 0o2000, 0o1000]
    where random.chance(special == 0o4000 ? 3 : 12) {
      mode |= special
    }
    var inode = InodeFacts(
      kind: kind, mode: mode, uid: random.pick(Self.users), gid: random.pick(Self.groups))
    if random.chance(10) { inode.uid = subject.user.fileSystem }
    if kind == .directory, random.chance(20) { inode.defaultACL = acl(mode: 0o750) }
    guard random.chance(60), let acl = self.acl(mode: mode) else { return inode }
    inode.acl = acl
    if let mask = acl.mask { inode.mode = mode & ~0o070 | UInt16(mask.rawValue) << 3 }
    return inode
  }

  /// Named users and groups, in any order, some of them twice; nil where there is no entry but the
  /// three of a mode.
  private mutating func acl(mode: UInt16) -> AccessControlList? {
    func bits(_ shift: UInt16) -> Permissions { Permissions(rawValue: UInt8(mode >> shift & 7)) }
    var entries: [AccessControlList.Entry] = [.init(.owner, bits(6))]
    let (users, groups) = (random.below(4), random.below(4))
    var named: Set<UInt32> = []
    for _ in 0..<users {
      let id = random.chance(30) ? subject.user.fileSystem : random.pick(Self.users)
      guard named.insert(id).inserted || random.chance(10) else { continue }
      entries.append(.init(.user, id: id, self.bits()))
    }
    entries.append(.init(.owningGroup, bits(3)))
    named = []
    for _ in 0..<groups {
      let id = random.chance(20) ? subject.group.fileSystem : random.pick(Self.groups)
      guard named.insert(id).inserted || random.chance(10) else { continue }
      entries.append(.init(.group, id: id, self.bits()))
    }
    guard entries.count > 2 || random.chance(40) else { return nil }
    entries.append(.init(.mask, random.chance(25) ? [] : random.chance(40) ? .all : self.bits()))
    return AccessControlList(entries + [.init(.other, bits(0))])
  }

  /// The tree as read, on a file system that keeps ACLs or does not.
  func facts(hasACLs: Bool) -> AccessFacts {
    var all = [InodeFacts(kind: .directory, mode: 0o755, uid: 0, gid: 0)]
    for (index, inode) in inodes.enumerated() {
      all[index].entries = [.init(name: PathBytes(String(index)), found: .inode(index + 1))]
      var inode = inode
      inode.parent = index
      if !hasACLs {
        inode.hasACLs = false
        inode.acl = nil
      }
      all.append(inode)
    }
    return AccessFacts(inodes: all)
  }

  /// Others that the modes and ACLs may tell apart: each owner, each named user and a stranger, in no
  /// group, in each one, in some of them and in all.
  mutating func bystanders() -> [Credentials] {
    let entries = inodes.flatMap { $0.acl?.entries ?? [] }
    let users = Set(inodes.map(\.uid) + entries.filter { $0.tag == .user }.map(\.id))
      .subtracting([subject.user.fileSystem]).sorted()
    let groups = Set(inodes.map(\.gid) + entries.filter { $0.tag == .group }.map(\.id)).sorted()
    let stranger: UInt32 = 60_001
    var all: [Credentials] = []
    func add(_ user: UInt32, _ groups: [UInt32]) {
      // The first group is the primary one now and then, as it is of any other process.
      let isPrimary = all.count % 3 == 0 && !groups.isEmpty
      all.append(
        Credentials(
          user: .init(user), group: .init(isPrimary ? groups[0] : stranger),
          groups: isPrimary ? Array(groups.dropFirst()) : groups, effective: []))
    }
    for user in users {
      add(user, [])
      add(user, groups.filter { _ in random.chance(50) })
    }
    add(stranger, [])
    add(stranger, groups)
    for group in groups { add(stranger, [group]) }
    while all.count < 24 {
      let user = random.chance(50) ? stranger : random.pick(users + [stranger])
      add(user, groups.filter { _ in random.chance(40) })
    }
    return all
  }
}

// MARK: - As the judge takes it

extension AccessControlList {
  var judged: [judge_entry] {
    entries.map {
      judge_entry(tag: $0.tag.rawValue, permissions: UInt16($0.permissions.rawValue), id: $0.id)
    }
  }
}

extension InodeFacts {
  /// Calls `body` with mode, owner and ACL.
  func withJudged<Result>(_ body: (UnsafePointer<judge_inode>) -> Result) -> Result {
    (acl?.judged ?? []).withUnsafeBufferPointer { entries in
      var inode = judge_inode(
        mode: mode, uid: uid, gid: gid, entries: entries.baseAddress, count: entries.count)
      return body(&inode)
    }
  }
}
