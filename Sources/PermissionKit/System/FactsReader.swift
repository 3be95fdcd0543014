/// Reads facts from a system: walks paths as the kernel would, but permitting itself everything
/// that the system lets it see, and notes what it could not.
///
/// Every inode is looked at through an O_PATH descriptor that was opened by name below its
/// directory's descriptor, so what is read together belongs together. Paths share what they have
/// in common.
public struct FactsReader: ~Copyable {
  private let system: any System
  private let mountinfo: PathBytes
  private var mountsMayBelongToNamespace = false
  private var facts: AccessFacts
  /// What tells each inode among the facts from any other.
  private(set) var identities: [InodeIdentity] = []
  private var descriptors: [Descriptor?] = []
  private var indices: [Key: Int] = [:]
  private var mountTable: MountTable?
  private var mountIndices: [UInt64?: Int] = [:]
  private var parentIsKnown: [Bool] = []

  /// What tells inodes apart: the same inode on another mount is judged by other flags.
  private struct Key: Hashable {
    let mount: UInt64?
    let fileSystem: InodeFacts.Device
    let inode: UInt64

    /// By the number that differs most; equality looks at all three.
    func hash(into hasher: inout Hasher) { hasher.combine(inode) }
  }

  private static let maxLinks = 41

  /// Opens the root directory and the directory that relative paths start at.
  ///
  /// - Parameters:
  ///   - system: What to read.
  ///   - process: The process whose root, working directory and mounts are meant; nil for this one.
  ///   - isSubject: Whether this process is the one that is asked about: what it can follow in /proc
  ///     says nothing about others.
  /// - Throws: The errno of the open or statx that failed.
  public init(
    _ system: any System, process: Int32? = nil, isSubject: Bool = true
  ) throws(Errno) {
    let own: PathBytes = "/proc/self/mountinfo"
    self.system = system
    mountinfo = process.map { PathBytes("/proc/\($0)/mountinfo") } ?? own
    facts = AccessFacts(inodes: [], mounts: [])
    indices.reserveCapacity(32)
    facts.inodes.reserveCapacity(32)
    descriptors.reserveCapacity(32)
    facts.readerIsSubject = isSubject && process == nil
    var root: PathBytes = "/"
    var start: PathBytes = "."
    if let process {
      root = PathBytes("/proc/\(process)/root/.")
      start = PathBytes("/proc/\(process)/cwd/.")
      let theirs = try system.contents(of: mountinfo, limit: 1 << 26)
      let isOwn = try system.contents(of: own, limit: 1 << 26) == theirs
      mountsMayBelongToNamespace = !isOwn
      // Its root may be closed to us (it needs PTRACE_MODE_READ); the same mounts are the same root.
      if system.probe(open: root, .path) != nil {
        guard isOwn else { throw .EACCES }
        root = "/"
      }
    }
    facts.overflow = Self.overflow(system)
    if facts.overflow != nil { mountsMayBelongToNamespace = true }
    facts.root = try open(root)
    facts.start = facts.root
    // A directory that is gone or hidden matters only to a relative path.
    if let index = try? open(start) { facts.start = index }
    parentIsKnown[facts.root] = true
    facts.inodes[facts.root].parent = facts.root
  }

  /// The ids that stand for others when this process is in a user namespace of its own.
  private static func overflow(_ system: any System) -> AccessFacts.Overflow? {
    func map(_ name: String) -> IDMap? {
      (try? system.contents(of: PathBytes("/proc/self/\(name)"))).flatMap { IDMap(lines: $0) }
    }
    func id(_ name: String) -> UInt32 {
      let line = try? system.line(of: PathBytes("/proc/sys/kernel/\(name)"))
      return line.flatMap { UInt32($0.description) } ?? 65_534
    }
    let users = map("uid_map")
    let groups = map("gid_map")
    if let users, let groups, users.isIdentity, groups.isIdentity { return nil }
    // Without /proc nothing is known about the namespace, and the ids may stand for anybody.
    let (uid, gid) = (id("overflowuid"), id("overflowgid"))
    return AccessFacts.Overflow(
      uid: uid, gid: gid, uidIsMapped: users.map { $0.outside(uid) != nil } ?? true,
      gidIsMapped: groups.map { $0.outside(gid) != nil } ?? true)
  }

  deinit {
    for case let descriptor? in descriptors { system.close(descriptor) }
  }

  /// Everything read so far.
  public consuming func finish() -> AccessFacts { facts }

  /// What `path` names, once read; nil when its last component was not reached.
  ///
  /// Stops where nothing more can be read; that is then in the facts.
  @discardableResult
  public mutating func read(_ path: PathBytes, followsLast: Bool = true) -> Int? {
    var current = path.isAbsolute ? facts.root : facts.start
    var rest = path.bytes[...]
    // What is left of a path when a link's target is walked first.
    var suspended: [ArraySlice<UInt8>] = []
    let endsInSlash = path.bytes.last == UInt8(ascii: "/")
    var links = 0
    while let name = Self.next(&rest, &suspended) {
      guard facts.inodes[current].kind == .directory else { return nil }
      if name.elementsEqual([0x2e]) { continue }
      if name.elementsEqual([0x2e, 0x2e]) {
        guard current != facts.root else { continue }
        guard let parent = parent(of: current) else { return nil }
        current = parent
        continue
      }
      guard case .inode(let found) = lookUp(name, in: current) else { return nil }
      let isLast = rest.isEmpty && !endsInSlash
      guard facts.inodes[found].kind == .symbolicLink, !isLast || followsLast else {
        current = found
        continue
      }
      links += 1
      if links > Self.maxLinks { return nil }
      if facts.sysctls.protectedSymlinks == nil { readSysctls() }
      if let jump = facts.inodes[found].jump {
        current = jump
        continue
      }
      guard let target = facts.inodes[found].target else { return nil }
      if target.isAbsolute { current = facts.root }
      suspended.append(rest)
      rest = target.bytes[...]
    }
    return current
  }

  /// Takes the next name off what is to walk; `rest` is empty when it was the last one.
  private static func next(
    _ rest: inout ArraySlice<UInt8>, _ suspended: inout [ArraySlice<UInt8>]
  ) -> ArraySlice<UInt8>? {
    let slash = UInt8(ascii: "/")
    func skipSlashes() {
      while true {
        while rest.first == slash { rest.removeFirst() }
        guard rest.isEmpty, let outer = suspended.popLast() else { return }
        rest = outer
      }
    }
    skipSlashes()
    if rest.isEmpty { return nil }
    let end = rest.firstIndex(of: slash) ?? rest.endIndex
    let name = rest[..<end]
    rest = rest[end...]
    skipSlashes()
    return name
  }

  private mutating func lookUp(
    _ slice: ArraySlice<UInt8>, in directory: Int
  ) -> InodeFacts.Entry.Found {
    for entry in facts.inodes[directory].entries where entry.name.bytes.elementsEqual(slice) {
      return entry.found
    }
    let name = PathBytes(Array(slice))
    let found: InodeFacts.Entry.Found
    do throws(Errno) {
      found = .inode(try open(name, in: directory))
    } catch .ENOENT {
      found = .missing
    } catch {
      found = .unreadable(error)
    }
    if facts.inodes[directory].entries.isEmpty {
      facts.inodes[directory].entries.reserveCapacity(8)
    }
    facts.inodes[directory].entries.append(InodeFacts.Entry(name: name, found: found))
    return found
  }

  private mutating func parent(of inode: Int) -> Int? {
    if !parentIsKnown[inode] {
      guard let parent = try? open("..", in: inode) else { return nil }
      facts.inodes[inode].parent = parent
      parentIsKnown[inode] = true
    }
    return facts.inodes[inode].parent
  }

  // MARK: - One inode

  private mutating func open(_ name: PathBytes, in directory: Int? = nil) throws(Errno) -> Int {
    var start = Descriptor.currentDirectory
    if let directory {
      guard let descriptor = descriptors[directory] else { throw .EBADF }
      start = descriptor
    }
    let descriptor = try system.openat(start, name, [.path, .noFollow], mode: 0)
    let isKnown = directory != nil && name != ".."
    let index = try register(descriptor, parent: isKnown ? directory : nil)
    if facts.inodes[index].kind == .symbolicLink { readMagicLink(index, name, start) }
    return index
  }

  /// Puts the inode behind a descriptor among the facts, and keeps or closes the descriptor.
  private mutating func register(
    _ descriptor: Descriptor, parent: Int?
  ) throws(Errno) -> Int {
    var keepsOpen = false
    defer { if !keepsOpen { system.close(descriptor) } }
    let status = try system.statx(descriptor)
    let key = Key(mount: status.mount, fileSystem: status.fileSystem, inode: status.inode)
    if let known = indices[key] {
      if let parent, !parentIsKnown[known] {
        facts.inodes[known].parent = parent
        parentIsKnown[known] = true
      }
      return known
    }
    guard let kind = status.kind else { throw .EIO }

    let index = facts.inodes.count
    var inode = InodeFacts(
      kind: kind, mode: UInt16(status.mode & 0o7777), uid: status.uid, gid: status.gid,
      device: kind.isDevice ? status.device : nil, mount: mountIndex(status.mount, descriptor),
      parent: parent ?? index)
    inode.isImmutable = status.isImmutable
    inode.isAppendOnly = status.isAppendOnly
    if kind == .characterDevice { inode.driverErrno = missingDriver(status.device) }
    if kind == .symbolicLink {
      inode.target = try? system.readlinkat(descriptor)
    } else {
      readACL(of: descriptor, into: &inode)
    }
    facts.inodes.append(inode)
    identities.append(InodeIdentity(status))
    indices[key] = index
    parentIsKnown.append(parent != nil)
    keepsOpen = kind == .directory
    descriptors.append(keepsOpen ? descriptor : nil)
    return index
  }

  /// What an open answers when no driver has registered the number of a V4L2 or ALSA node.
  ///
  /// A registered one has an entry in /sys/dev/char. Without a driver chrdev_open() in
  /// fs/char_dev.c answers ENXIO; sound.c:snd_open(), which has all of major 116, answers ENODEV.
  private func missingDriver(_ device: InodeFacts.Device) -> Errno? {
    guard device.major == 81 || device.major == 116 else { return nil }
    do throws(Errno) {
      _ = try system.status(of: PathBytes("/sys/dev/char/\(device.major):\(device.minor)"))
      return nil
    } catch .ENOENT {
      // Without sysfs the entry of no device is there.
      guard (try? system.status(of: "/sys/dev/char/1:3")) != nil else { return nil }
      guard device.major == 116, let sound = try? system.status(of: "/proc/asound") else {
        return .ENXIO
      }
      return sound.kind == .directory ? .ENODEV : .ENXIO
    } catch {
      return nil
    }
  }

  private func readACL(of descriptor: Descriptor, into inode: inout InodeFacts) {
    do throws(Errno) {
      guard let acl = AccessControlList(xattr: try system.getxattr(.access, of: descriptor)) else {
        inode.aclError = .EINVAL
        return
      }
      inode.acl = acl
    } catch .ENODATA {
    } catch .EOPNOTSUPP {
      inode.hasACLs = false
    } catch {
      inode.aclError = error
    }
  }

  /// Where a link of /proc/PID/fd and the like jumps to, see proc_pid_get_link() in fs/proc/base.c.
  ///
  /// Those links have absolute or made-up targets (`pipe:[1]`); /proc's ordinary ones are relative.
  private mutating func readMagicLink(_ link: Int, _ name: PathBytes, _ directory: Descriptor) {
    guard facts.mounts[facts.inodes[link].mount].fileSystem == "proc" else { return }
    if !facts.readerIsSubject, name == "self" || name == "thread-self" {
      // Who follows it comes to another place.
      facts.inodes[link].target = nil
    }
    guard let target = facts.inodes[link].target,
      target.isAbsolute || target.bytes.contains(UInt8(ascii: ":"))
    else { return }
    // What it says it leads to may be gone, or be something else by now.
    facts.inodes[link].target = nil
    guard let descriptor = try? system.openat(directory, name, .path, mode: 0) else { return }
    facts.inodes[link].jump = try? register(descriptor, parent: nil)
    if facts.inodes[link].jump != nil { facts.inodes[link].target = target }
  }

  // MARK: - Mounts and sysctls

  private mutating func mountIndex(_ id: UInt64?, _ descriptor: Descriptor) -> Int {
    if let index = mountIndices[id] { return index }
    if mountTable == nil {
      mountTable = MountTable(
        mountinfo: (try? system.contents(of: mountinfo, limit: 1 << 26)) ?? [])
    }
    var mount = MountFacts.unreadable(id: id ?? 0)
    if let listed = id.flatMap({ mountTable?[id: $0] }) {
      mount = listed
    } else if let table = mountTable, !table.isEmpty,
      var known = try? system.fstatfs(descriptor)
    {
      // In a chroot the root's own mount is not listed.
      known.id = id ?? 0
      mount = known
    }
    if mount.idMappingIsUnreadable, let mapping = try? system.statmount(descriptor) {
      // statx and getxattr show ids as the mount maps them: what it does not map is left to tell.
      mount.idMapping = mapping.ofSeenIDs
      mount.idMappingIsUnreadable = false
    }
    mount.mayBelongToNamespace =
      mountsMayBelongToNamespace && ["tmpfs", "ramfs", "overlay"].contains(mount.fileSystem)
    facts.mounts.append(mount)
    mountIndices[id] = facts.mounts.count - 1
    return facts.mounts.count - 1
  }

  private mutating func readSysctls() {
    func value(_ name: String) -> Int? {
      guard let line = try? system.line(of: PathBytes("/proc/sys/fs/\(name)")) else { return nil }
      return Int(line.description)
    }
    facts.sysctls = AccessFacts.Sysctls(
      protectedSymlinks: value("protected_symlinks"), protectedRegular: value("protected_regular"),
      protectedFIFOs: value("protected_fifos"))
  }
}

@available(*, unavailable)
extension FactsReader: Sendable {}
