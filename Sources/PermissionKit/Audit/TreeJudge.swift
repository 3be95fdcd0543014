internal import CCap

/// Judges for another user by the evaluator, and remembers verdicts by owner, group, mode and ACL.
///
/// It belongs to one thread.
final class TreeJudge {
  /// Everything about an inode that decides.
  struct Key: Hashable {
    var mode: UInt32
    var uid: UInt32
    var gid: UInt32
    var device = DeviceNumber(major: 0, minor: 0)
    var mount: UInt64
    var attributes: UInt64 = 0
    var subvolume: InodeFacts.Subvolume?
    var acl: [UInt8] = []
    var aclError: Errno?

    /// Type, mode and owners, as ls(1) prints them.
    var summary: InodeSummary? {
      StatusFields.kind(ofMode: mode).map {
        InodeSummary(
          kind: $0, mode: UInt16(mode & 0o7777), uid: uid, gid: gid,
          acl: acl.isEmpty ? nil : AccessControlList(xattr: acl))
      }
    }
  }

  /// The permissions of a user on an inode.
  struct Verdict {
    let need: Decision
    /// Whether a folder can be listed, and whether its names can be reached.
    let lists: Bool
    let search: Decision
  }

  private static let limit = 1 << 16

  let subject: Credentials
  private let question: TreeQuestion
  /// Whether the judge serves several users, so that the ACL of a file matters even if the first
  /// one owns it.
  private let isOfMany: Bool
  private let system: any System
  private let overflow: AccessFacts.Overflow?
  private var mounts = KnownMounts()
  private var verdicts: [Key: Verdict] = [:]
  private var last: (key: Key, verdict: Verdict)?
  private let asksToWrite: Bool
  private var subvolumes: [DeviceNumber: Bool] = [:]
  private var value = [UInt8](repeating: 0, count: 1 << 16)

  init(
    _ subject: Credentials, _ question: TreeQuestion, _ system: any System, isOfMany: Bool = false
  ) {
    self.subject = subject
    self.isOfMany = isOfMany
    self.question = question
    self.system = system
    overflow = FactsReader.overflow(system)
    asksToWrite = [FileKind.regular, .directory].contains {
      question.needs(on: $0).contains { $0.contains(.write) }
    }
  }

  /// Returns the verdict on an inode, which is computed once for all inodes with an equal key.
  func verdict(_ key: Key) -> Verdict {
    if let last, last.key == key { return last.verdict }
    let verdict = verdicts[key] ?? computed(key)
    last = (key, verdict)
    return verdict
  }

  private func computed(_ key: Key) -> Verdict {
    let needs = question.needs(on: StatusFields.kind(ofMode: key.mode))
    let verdict = Self.verdict(facts(of: key), subject, needs)
    if verdicts.count >= Self.limit { verdicts = [:] }
    verdicts[key] = verdict
    return verdict
  }

  /// Returns what a user may do with the inode of `facts(of:)`.
  ///
  /// - Returns: The first answer that is not granted, and what the user may do with a folder.
  static func verdict(
    _ facts: AccessFacts, _ subject: Credentials, _ needs: [Permissions]
  ) -> Verdict {
    let evaluator = AccessEvaluator(facts: facts, credentials: subject)
    func decide(_ need: Permissions) -> Decision {
      evaluator.decide(.faccessat2(need, followsLink: false), path: "it")
    }
    var need = decide(needs[0])
    for rest in needs.dropFirst() where need.isGranted { need = decide(rest) }
    return Verdict(need: need, lists: decide(.read).isGranted, search: decide(.execute))
  }

  /// Returns facts about an inode in a folder that refuses nothing.
  func facts(of key: Key) -> AccessFacts {
    let kind = StatusFields.kind(ofMode: key.mode)
    let mount = mounts.index(of: key.mount, system)
    var inode = InodeFacts(
      kind: kind ?? .regular, mode: UInt16(key.mode & 0o7777), uid: key.uid, gid: key.gid,
      device: kind?.isDevice == true ? key.device : nil, mount: mount)
    inode.isImmutable = key.attributes & 0x10 != 0
    inode.isAppendOnly = key.attributes & 0x20 != 0
    inode.subvolume = key.subvolume
    inode.aclError = key.aclError
    if !key.acl.isEmpty {
      inode.acl = AccessControlList(xattr: key.acl)
      if inode.acl == nil { inode.aclError = .EINVAL }
    }
    // The folder above was judged before; this one refuses nothing.
    var above = InodeFacts(kind: .directory, mode: 0o777, uid: 0, gid: 0, mount: mount)
    above.entries = [InodeFacts.Entry(name: "it", found: .inode(1))]
    return AccessFacts(inodes: [above, inode], mounts: mounts.facts, overflow: overflow)
  }

  /// Whether an ACL can change a verdict: not for the owner, and not if the mask is empty.
  ///
  /// See acl_permission_check() of fs/namei.c.
  private func mayMatter(_ mode: UInt32, _ uid: UInt32) -> Bool {
    (isOfMany || uid != subject.user.fileSystem) && mode & 0o070 != 0 && mode & 0o170000 != 0o120000
  }

  private func read(_ name: UnsafePointer<CChar>, _ size: Int) -> Int {
    unsafe value.withUnsafeMutableBytes { unsafe ccap_lgetxattr_acl(name, $0.baseAddress, size) }
  }

  /// Returns the rule by which a server may refuse what faccessat2(2) grants; nil if no server can.
  func mayBeRefusedLater(_ decision: Decision, _ key: Key) -> Rule? {
    guard decision.verdict == .undetermined else { return nil }
    let facts = facts(of: key)
    let rules = facts.mounts[facts.inodes[1].mount].rules
    return rules.isDecidedByKernel || rules.answersAccess ? nil : decision.rule
  }

  private static func path(_ name: UnsafePointer<CChar>) -> PathBytes {
    var bytes: [UInt8] = []
    while case let byte = unsafe name[bytes.count], byte != 0 {
      bytes.append(UInt8(bitPattern: byte))
    }
    return PathBytes(bytes)
  }

  /// Returns the subvolume that holds a file or folder, which is asked once; nil if it is not on btrfs.
  private func subvolume(
    _ device: DeviceNumber, _ mount: UInt64, at path: () -> PathBytes?
  ) -> InodeFacts.Subvolume? {
    let index = mounts.index(of: mount, system)
    let facts = mounts.facts[index]
    guard facts.fileSystem == "btrfs" else { return nil }
    if subvolumes[device] == nil, !facts.isReadOnly, let path = path() {
      subvolumes[device] = system.refusesWriting(path)
    }
    return InodeFacts.Subvolume(device: device, isReadOnly: subvolumes[device] ?? false)
  }

  /// Returns the key of a name in the working directory of this thread.
  func key(_ fields: ccap_named, _ name: UnsafePointer<CChar>?) -> Key {
    var key = Key(
      mode: fields.mode, uid: fields.uid, gid: fields.gid,
      device: DeviceNumber(major: fields.rdev_major, minor: fields.rdev_minor),
      mount: fields.mount, attributes: fields.attributes)
    if asksToWrite {
      let device = DeviceNumber(major: fields.dev_major, minor: fields.dev_minor)
      key.subvolume = subvolume(device, fields.mount) { unsafe name.map { unsafe Self.path($0) } }
    }
    guard mayMatter(fields.mode, fields.uid), let name = unsafe name else { return key }
    // The kernel clears as much memory as it is offered, so it is first offered little.
    var length = unsafe read(name, 256)
    if length == -Int(Errno.ERANGE.rawValue) { length = unsafe read(name, value.count) }
    if length > 0 {
      key.acl = Array(value[..<length])
    } else if length < 0 {
      let errno = Errno(rawValue: Int32(-length))
      if errno != .ENODATA, errno != .EOPNOTSUPP { key.aclError = errno }
    }
    return key
  }

  /// Returns the key of an open file or folder, which may be an O_PATH descriptor.
  ///
  /// `isExact` also reads an ACL that changes no verdict, for the name of the rule.
  func key(_ folder: Descriptor, _ status: StatusFields, isExact: Bool = false) -> Key {
    var key = Key(mode: status.mode, uid: status.uid, gid: status.gid, mount: status.mount ?? 0)
    if status.kind?.isDevice == true { key.device = status.device }
    key.attributes = (status.isImmutable ? 0x10 : 0) | (status.isAppendOnly ? 0x20 : 0)
    if asksToWrite {
      key.subvolume = subvolume(status.fileSystem, key.mount) { folder.link }
    }
    guard isExact && status.kind != .symbolicLink || mayMatter(status.mode, status.uid) else {
      return key
    }
    do throws(Errno) {
      key.acl = try system.getxattr(.access, of: folder)
    } catch {
      if error != .ENODATA, error != .EOPNOTSUPP { key.aclError = error }
    }
    return key
  }
}
