// Mounts that a server, a daemon or an automount is behind, and encryption.
extension FactsReader {
  /// Returns why a name must not be looked up; nil if a look waits for nobody and mounts nothing.
  mutating func obstacle(
    _ name: PathBytes, in directory: Int
  ) -> InodeFacts.Entry.Found? {
    guard let table = mountTable else { return nil }
    if blocking.isEmpty { blocking = table.blockingMounts.map(\.point) }
    // Most names are none of a mount point, and need no path.
    let isBelowAutomount = facts.mounts[facts.inodes[directory].mount].isAutomount
    guard isBelowAutomount || blocking.contains(where: { $0.lastComponent == name }),
      facts.isReachedFromRoot(directory)
    else { return nil }
    let path = facts.path(of: directory).appending(name)
    guard isBelowAutomount || blocking.contains(path) else { return nil }
    let mount = table.mounts(at: path).last
    if isBelowAutomount, mount == nil { return .automount }
    guard let mount, mount.rules.mayKeepWaiting else { return nil }
    return isAnswered(mount) ? nil : .silent
  }

  /// Returns whether the server or daemon of a mount answers; asks once.
  private mutating func isAnswered(_ mount: MountFacts) -> Bool {
    if let known = answers[mount.point] { return known }
    let path = PathBytes(prefix.bytes + mount.point.bytes)
    let answer = system.answers(path, within: Reach.limit)
    answers[mount.point] = answer
    return answer
  }

  /// Returns the mount of the working directory if it does not answer; nil if it does.
  mutating func silentStart() -> PathBytes? {
    // The path of the directory is known without asking the file system.
    guard let table = mountTable, let path = try? system.getcwd() else { return nil }
    for mount in table.blockingMounts
    where mount.rules.mayKeepWaiting && (path == mount.point || path.isBelow(mount.point)) {
      if !isAnswered(mount) { return mount.point }
    }
    return nil
  }

  /// Returns whether the key of an encrypted inode is missing.
  func isLocked(_ descriptor: Descriptor, _ index: Int) -> Bool {
    guard facts.inodes[index].kind == .directory else {
      // A file has the policy of its directory, see fscrypt_has_permitted_context().
      return facts.inodes[facts.inodes[index].parent].isLocked
    }
    // The ioctl needs a descriptor that is open for reading.
    let system = systems[facts.inodes[index].mount]
    guard let directory = try? system.openat(descriptor, ".", [.readOnly, .directory], mode: 0)
    else {
      return false
    }
    defer { system.close(directory) }
    return (try? system.encryptionKeyIsPresent(directory)) == false
  }
}

extension FileSystemRules {
  /// Whether a look may wait for a server or daemon.
  var mayKeepWaiting: Bool { !isDecidedByKernel }
}

extension MountTable {
  /// Returns whether a layer of an overlay lies where a server decides, as far as this process sees its
  /// layers.
  func hasLayerOnServer(_ overlay: MountFacts) -> Bool {
    for option in overlay.superblockOptions.split(separator: ",") {
      for name in ["lowerdir=", "upperdir=", "lowerdir+=", "datadir+="] where option.hasPrefix(name)
      {
        let layers = option.dropFirst(name.count).split(separator: ":")
        for layer in layers where layer.first == "/" {
          guard let mount = mount(of: PathBytes(String(layer))), mount.point != overlay.point else {
            continue
          }
          if mount.fileSystem != "overlay", !mount.rules.isDecidedByKernel { return true }
        }
      }
    }
    return false
  }
}

extension System {
  /// Whether a server has kept another process waiting for too long, see `apart`.
  var isSilent: Bool { (self as? LinuxSystem)?.apart?.isOver == true }
}

// User namespaces.
extension FactsReader {
  /// Returns the overflow ids if this process is in a user namespace of its own.
  static func overflow(_ system: any System) -> AccessFacts.Overflow? {
    // PROC_USER_INIT_INO of the kernel's proc_ns.h: the initial namespace, whose maps are the identity.
    if (try? system.status(of: "/proc/self/ns/user"))?.inode == 0xEFFF_FFFD { return nil }
    func map(_ path: PathBytes) -> IDMap? {
      (try? system.contents(of: path)).flatMap { IDMap(lines: $0) }
    }
    func id(_ name: String) -> UInt32 {
      let line = try? system.line(of: PathBytes("/proc/sys/kernel/\(name)"))
      return line.flatMap { UInt32($0.description) } ?? 65_534
    }
    let users = map(ownUsers)
    let groups = map(ownGroups)
    if let users, let groups, users.isIdentity, groups.isIdentity { return nil }
    // Without /proc nothing is known about the namespace, so these ids may belong to anybody.
    let (uid, gid) = (id("overflowuid"), id("overflowgid"))
    return AccessFacts.Overflow(
      uid: uid, gid: gid, uidIsMapped: users.map { $0.outside(uid) != nil } ?? true,
      gidIsMapped: groups.map { $0.outside(gid) != nil } ?? true)
  }
}
