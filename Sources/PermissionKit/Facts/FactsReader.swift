/// Reads facts from a system: walks paths as the kernel does and records what it cannot read.
///
/// Reads everything it can, even where the subject would be refused. Each inode is read through an
/// O_PATH descriptor, which is opened by name below the descriptor of its directory, so that all
/// facts about an inode belong to the same inode. Paths share their common inodes.
package struct FactsReader: ~Copyable {
  let system: any System
  private let mountinfo: PathBytes
  /// The directory that relative paths start at; nil once it was read.
  private var start: PathBytes?
  let families: [DeviceFamily]
  private let isOtherMachine: Bool
  private var mountsMayBelongToNamespace = false
  /// The facts that were read so far.
  package internal(set) var facts: AccessFacts
  /// Additional knowledge about each inode.
  private(set) var seen = SeenInodes()
  private(set) var mountTable: MountTable?
  /// The systems that read the inodes of each mount, in the order of the facts: another process
  /// where a server may block, see `System.withCallProcess`.
  private(set) var systems: [any System] = []
  /// The path of this process to the root of the paths: empty, or `/proc/PID/root`.
  var prefix: PathBytes = ""
  /// The process whose paths are read; nil for this one.
  let process: Int32?
  /// The folders of that process in mounts of proc, by the index of the mount.
  var ownFolders: [(mount: Int, name: PathBytes)] = []
  /// Whether each mount that may block answers, by its mount point.
  var answers: [PathBytes: Bool] = [:]
  /// The subvolumes of btrfs whose state is known, by their number.
  var subvolumes: [DeviceNumber: Bool] = [:]
  /// The mount points of mounts that may block; empty until they are needed.
  var blocking: [PathBytes] = []

  /// The identity of each inode, in the order of the facts.
  var identities: [InodeIdentity] { seen.inodes.map(\.identity) }

  private static let maxLinks = 41

  // Created once, because a path allocates memory.
  static let ownUsers: PathBytes = "/proc/self/uid_map"
  static let ownGroups: PathBytes = "/proc/self/gid_map"
  package static let ownRoot: PathBytes = "/"
  private static let ownStart: PathBytes = "."

  /// Opens the root directory.
  ///
  /// - Parameters:
  ///   - system: The system to read.
  ///   - process: The process whose root, working directory and mounts are read; nil for this
  ///     process.
  ///   - isSubject: Whether this process is the subject; if not, the links that it can follow in
  ///     /proc prove nothing about the subject.
  ///   - families: The kinds of devices whose nodes are checked for a driver.
  ///   - base: The folder that stands for `/` in the paths below it, where the bits alone are judged.
  /// - Throws: The errno of the open or statx that failed.
  package init(
    _ system: any System, process: Int32? = nil, isSubject: Bool = true,
    families: [DeviceFamily] = DeviceFamily.builtIn, root base: PathBytes = Self.ownRoot
  ) throws(Errno) {
    isOtherMachine = base != Self.ownRoot
    self.system = system
    self.process = process
    self.families = families
    mountinfo = MountTable.path(of: process)
    facts = AccessFacts(inodes: [], mounts: [])
    facts.inodes.reserveCapacity(32)
    facts.readerIsSubject = isSubject && process == nil
    var root = Self.ownRoot
    var start = Self.ownStart
    if let process {
      prefix = PathBytes("/proc/\(process)/root")
      root = PathBytes("/proc/\(process)/root/.")
      start = PathBytes("/proc/\(process)/cwd/.")
      let isOwn = try system.mountTable(mountinfo) == system.mountTable()
      mountsMayBelongToNamespace = !isOwn
      // The root of the process needs PTRACE_MODE_READ and may be refused; equal mounts mean an
      // equal root.
      if system.probe(open: root, .path) != nil {
        guard isOwn else { throw .EACCES }
        root = Self.ownRoot
      }
    }
    facts.overflow = Self.overflow(system)
    if facts.overflow != nil { mountsMayBelongToNamespace = true }
    self.start = start
    facts.root = try open(root)
    facts.start = facts.root
    seen.inodes[facts.root].parentIsKnown = true
    facts.inodes[facts.root].parent = facts.root
    if isOtherMachine { facts.base = read(base) }
  }

  /// Opens the directory that relative paths start at, before the first of them.
  ///
  /// A working directory that is deleted, unreadable or unresponsive matters only to relative
  /// paths.
  private mutating func readStart() {
    guard let start else { return }
    self.start = nil
    if mountinfo == MountTable.own, mountTable?.hasBlocking == true {
      facts.unresponsiveStart = unresponsiveStart()
    }
    if facts.unresponsiveStart != nil { return }
    do throws(Errno) {
      facts.start = try open(start)
    } catch {
      facts.startError = error
    }
  }

  /// Reads the facts about paths with one reader, and closes every descriptor.
  ///
  /// - Parameters:
  ///   - paths: The paths to walk.
  ///   - system: The system to read.
  ///   - process: The process whose root, working directory and mounts are read; nil for this
  ///     process.
  ///   - isSubject: Whether this process is the subject.
  /// - Returns: The facts.
  /// - Throws: The errno of the open or statx that failed.
  package static func facts(
    of paths: [PathBytes], _ system: any System, process: Int32? = nil, isSubject: Bool = true
  ) throws(Errno) -> AccessFacts {
    var reader = try FactsReader(system, process: process, isSubject: isSubject)
    for path in paths { reader.read(path) }
    return reader.facts
  }

  deinit {
    for inode in seen.inodes {
      if let descriptor = inode.descriptor { system.close(descriptor) }
    }
  }

  /// Reads the facts about `path`, up to the point where reading fails.
  ///
  /// The facts record the failure.
  ///
  /// - Returns: The inode at the end of the path; nil if the last component was not reached.
  @discardableResult
  package mutating func read(_ path: PathBytes, followsLast: Bool = true) -> Int? {
    if !path.isAbsolute {
      readStart()
      if facts.unresponsiveStart != nil || facts.startError != nil { return nil }
    }
    var current = path.isAbsolute ? facts.root : facts.start
    var root = facts.root
    var bytes = path.bytes
    var offset = 0
    // The rest of each path that continues after the target of a link.
    var suspended: [(bytes: [UInt8], offset: Int)] = []
    let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
    var links = 0
    while true {
      while offset < bytes.count, bytes[offset] == slash { offset += 1 }
      if offset == bytes.count {
        guard let outer = suspended.popLast() else { return current }
        (bytes, offset) = outer
        continue
      }
      let start = offset
      while offset < bytes.count, bytes[offset] != slash { offset += 1 }
      guard facts.inodes[current].kind == .directory else { return nil }
      if bytes[start] == dot, offset == start + 1 { continue }
      if bytes[start] == dot, offset == start + 2, bytes[start + 1] == dot {
        guard current != root else { continue }
        guard let parent = parent(of: current) else { return nil }
        current = parent
        continue
      }
      guard case .inode(let found) = lookUp(bytes, start..<offset, in: current) else { return nil }
      let isLast = offset == bytes.count && suspended.isEmpty
      guard facts.inodes[found].kind == .symbolicLink, !isLast || followsLast else {
        current = found
        if found == facts.base { root = found }
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
      if target.isAbsolute { current = root }
      suspended.append((bytes, offset))
      (bytes, offset) = (target.bytes, 0)
    }
  }

  private mutating func lookUp(
    _ bytes: [UInt8], _ range: Range<Int>, in directory: Int
  ) -> InodeFacts.Entry.Found {
    for index in facts.inodes[directory].entries.indices
    where facts.inodes[directory].entries[index].name.bytes.count == range.count
      && facts.inodes[directory].entries[index].name.bytes.elementsEqual(bytes[range])
    {
      return facts.inodes[directory].entries[index].found
    }
    let name = PathBytes(Array(bytes[range]))
    let found: InodeFacts.Entry.Found
    if mountTable?.hasBlocking == true, let obstacle = obstacle(name, in: directory) {
      found = obstacle
    } else {
      found = lookUp(name, in: directory)
    }
    if facts.inodes[directory].entries.isEmpty {
      facts.inodes[directory].entries.reserveCapacity(8)
    }
    facts.inodes[directory].entries.append(InodeFacts.Entry(name: name, found: found))
    return found
  }

  private mutating func lookUp(
    _ name: PathBytes, in directory: Int
  ) -> InodeFacts.Entry.Found {
    do throws(Errno) {
      return .inode(try open(name, in: directory, isChild: true))
    } catch .ENOENT {
      return .missing
    } catch {
      let mount = facts.inodes[directory].mount
      if error == .ETIMEDOUT,
        systems[mount].isUnresponsive || facts.mounts[mount].fileSystem == "proc"
      {
        return .unresponsive
      }
      if error == .EACCES, let mount = closedMount(name, in: directory) {
        return .inode(closedRoot(of: mount, in: directory))
      }
      return .unreadable(error)
    }
  }

  /// Adds the root of a mount that `closedMount` found, of which nothing else is known.
  private mutating func closedRoot(of mount: MountFacts, in directory: Int) -> Int {
    let index = facts.inodes.count
    facts.mounts.append(mount)
    systems.append(system)
    facts.inodes.append(
      InodeFacts(
        kind: .directory, mode: 0, uid: .max, gid: .max, mount: facts.mounts.count - 1,
        parent: directory))
    facts.inodes[index].isClosed = true
    let nothing = StatusFields(mode: 0, uid: .max, gid: .max, inode: 0)
    seen.append(
      SeenInodes.Inode(
        identity: InodeIdentity(nothing), mount: mount.id, descriptor: nil, parentIsKnown: true))
    return index
  }

  private mutating func parent(of inode: Int) -> Int? {
    if !seen.inodes[inode].parentIsKnown {
      guard let parent = try? open("..", in: inode) else { return nil }
      facts.inodes[inode].parent = parent
      seen.inodes[inode].parentIsKnown = true
    }
    return facts.inodes[inode].parent
  }

  /// Reads the directories above an inode, which `..` of a working directory need not have shown.
  mutating func readAncestors(of inode: Int) {
    var current = inode
    while current != facts.root, let above = parent(of: current), above != current {
      current = above
    }
  }

  // MARK: - One inode

  private mutating func open(
    _ name: PathBytes, in directory: Int? = nil, isChild: Bool = false
  ) throws(Errno) -> Int {
    var start = Descriptor.currentDirectory
    var system = system
    if let directory {
      guard let descriptor = seen.inodes[directory].descriptor else { throw .EBADF }
      start = descriptor
      system = systems[facts.inodes[directory].mount]
    }
    let descriptor = try system.openat(start, name, [.path, .noFollow], mode: 0)
    let index = try register(descriptor, parent: isChild ? directory : nil)
    if facts.inodes[index].kind == .symbolicLink { try readMagicLink(index, name, start) }
    if process != nil, name == "fd", facts.mounts[facts.inodes[index].mount].fileSystem == "proc" {
      facts.inodes[index].isOwnLink = isOfOwnFolder(index)
    }
    return index
  }

  /// Adds the inode behind a descriptor to the facts; keeps the descriptor of a directory open, and of a file that a link
  /// of /proc jumps to, which need not have a path.
  private mutating func register(
    _ descriptor: Descriptor, parent: Int?, isJump: Bool = false
  ) throws(Errno) -> Int {
    var keepsOpen = false
    defer { if !keepsOpen { system.close(descriptor) } }
    // What the kernel remembers: it asks no server, see AT_STATX_DONT_SYNC.
    let status = try system.statx(descriptor)
    if let known = seen.index(of: status) {
      if let parent, !seen.inodes[known].parentIsKnown {
        facts.inodes[known].parent = parent
        seen.inodes[known].parentIsKnown = true
      }
      return known
    }
    guard let kind = status.kind else { throw .EIO }

    let index = facts.inodes.count
    let mount = mountIndex(status.mount, descriptor)
    facts.inodes.append(
      InodeFacts(
        kind: kind, mode: UInt16(status.mode & 0o7777), uid: status.uid, gid: status.gid,
        device: kind.isDevice ? status.device : nil, mount: mount, parent: parent ?? index))
    facts.inodes[index].isImmutable = status.isImmutable
    facts.inodes[index].isAppendOnly = status.isAppendOnly
    facts.inodes[index].hasOtherNames = kind == .regular && status.links > 1
    if facts.mounts[mount].fileSystem == "btrfs" {
      facts.inodes[index].subvolume = subvolume(descriptor, status, facts.mounts[mount])
    }
    if status.isEncrypted {
      (facts.inodes[index].isLocked, facts.inodes[index].keyError) = lock(descriptor, index)
    }
    if kind.isDevice, facts.mounts[mount].fileSystem != "devpts" {
      readDriver(of: status.device, isBlock: kind == .blockDevice, index)
    }
    if kind == .symbolicLink {
      facts.inodes[index].target = try? systems[mount].readlinkat(descriptor)
    } else {
      readACL(of: descriptor, index)
    }
    if systems[mount].isUnresponsive {
      facts.inodes.removeLast()
      throw .ETIMEDOUT
    }
    keepsOpen = kind == .directory || isJump && kind == .regular
    seen.append(
      SeenInodes.Inode(
        identity: InodeIdentity(status), mount: status.mount,
        descriptor: keepsOpen ? descriptor : nil, parentIsKnown: parent != nil))
    return index
  }

  private mutating func readACL(
    _ attribute: ExtendedAttribute = .access, of descriptor: Descriptor, _ index: Int
  ) {
    do throws(Errno) {
      let value = try systems[facts.inodes[index].mount].getxattr(attribute, of: descriptor)
      // fuse_get_acl() of fs/fuse/acl.c: no bytes are no ACL.
      if value.isEmpty { return }
      let list = AccessControlList(xattr: value)
      if list == nil { facts.inodes[index].aclError = .EINVAL }
      if attribute == .default {
        facts.inodes[index].defaultACL = list
      } else {
        facts.inodes[index].acl = list
      }
    } catch .ENODATA {
    } catch .EOPNOTSUPP {
      facts.inodes[index].hasACLs = false
    } catch {
      facts.inodes[index].aclError = error
    }
  }

  /// Reads whether a directory holds a name; that stays unknown if it cannot be listed.
  package mutating func readEmptiness(_ index: Int) {
    guard let folder = seen.inodes[index].descriptor else { return }
    let system = systems[facts.inodes[index].mount]
    guard let listing = try? system.openat(folder, ".", [.readOnly, .directory], mode: 0)
    else { return }
    defer { system.close(listing) }
    var isEmpty = true
    while isEmpty {
      guard let names = try? system.getdents(listing) else { return }
      if names.isEmpty { break }
      isEmpty = names.allSatisfy { $0 == "." || $0 == ".." }
    }
    facts.inodes[index].isEmpty = isEmpty
  }

  /// Reads the default ACL of a directory; the facts record a failure as one of the access ACL.
  mutating func readDefaultACL(_ index: Int) {
    if let folder = seen.inodes[index].descriptor { readACL(.default, of: folder, index) }
  }

  /// Reads the inode that a link of /proc/PID/fd and the like jumps to.
  ///
  /// See proc_pid_get_link() in fs/proc/base.c. Such links have absolute or made-up targets
  /// (`pipe:[1]`); the ordinary links of /proc are relative.
  ///
  /// - Throws: ETIMEDOUT if it leads where a server does not answer.
  private mutating func readMagicLink(
    _ link: Int, _ name: PathBytes, _ directory: Descriptor
  ) throws(Errno) {
    guard facts.mounts[facts.inodes[link].mount].fileSystem == "proc" else { return }
    if !facts.readerIsSubject, name == "self" || name == "thread-self" {
      // The subject reaches another place than the reader.
      let number = numberOfProcess(in: directory)
      facts.inodes[link].target =
        name == "self" ? number : number.map { $0.appending("task").appending($0) }
      if let number { ownFolders.append((facts.inodes[link].mount, number)) }
    }
    guard let target = facts.inodes[link].target,
      target.isAbsolute || target.bytes.contains(UInt8(ascii: ":"))
    else { return }
    // The file that the target names may be deleted or replaced.
    facts.inodes[link].target = nil
    if blocking.isEmpty { blocking = mountTable?.blockingMounts.map(\.point) ?? [] }
    if let point = blocking.last(where: { target == $0 || target.isBelow($0) }),
      let mount = mountTable?.mounts(at: point).last, mount.rules.mayKeepWaiting,
      !isAnswered(mount)
    {
      throw .ETIMEDOUT
    }
    guard let descriptor = try? system.openat(directory, name, .path, mode: 0) else { return }
    facts.inodes[link].jump = try? register(descriptor, parent: nil, isJump: true)
    if facts.inodes[link].jump != nil { facts.inodes[link].target = target }
    facts.inodes[link].isOwnLink = isOfOwnFolder(link)
  }

  // MARK: - Mounts and sysctls

  private mutating func mountIndex(_ id: UInt64?, _ descriptor: Descriptor) -> Int {
    for index in facts.mounts.indices where facts.mounts[index].id == id ?? 0 { return index }
    facts.mounts.append(readMount(id, descriptor))
    let index = facts.mounts.count - 1
    facts.mounts[index].isOtherMachine = isOtherMachine
    if facts.mounts[index].idMappingIsUnreadable, let read = idMapping(descriptor) {
      (facts.mounts[index].idMapping, facts.mounts[index].idMappingIsUnreadable) = (read.map, false)
    }
    if mountsMayBelongToNamespace {
      facts.mounts[index].mayBelongToNamespace =
        ["tmpfs", "ramfs", "overlay"].contains(facts.mounts[index].fileSystem)
    }
    let mount = facts.mounts[index]
    systems.append(
      mount.rules.mayKeepWaiting
        ? system.withCallProcess(
          PathBytes(prefix.bytes + mount.point.bytes), within: PathAvailability.limit)
        : system)
    return index
  }

  private mutating func readMount(_ id: UInt64?, _ descriptor: Descriptor) -> MountFacts {
    var table = mountTable ?? mounts(system)
    // A mount may be newer than what another look has read.
    if let id, !table.isEmpty, table[id: id] == nil {
      let fresh = mounts(system.uncached())
      if !fresh.isEmpty { table = fresh }
    }
    mountTable = table
    if let id, var listed = table[id: id] {
      if table.hasBlocking, listed.fileSystem == "overlay" {
        listed.hasLayerOnServer = table.hasLayerOnServer(listed)
      }
      return listed
    }
    // In a chroot the mount of the root itself is not listed, and without /proc none is.
    do throws(Errno) {
      return MountFacts(try system.fstatfs(descriptor), id: id ?? 0)
    } catch {
      return .unreadable(id: id ?? 0)
    }
  }

  /// Returns the mounts; empty if they cannot be read.
  private func mounts(_ system: any System) -> MountTable {
    system.look(at: mountinfo) { () throws(Errno) in try system.mountTable(mountinfo) }.value
      ?? MountTable(mountinfo: [])
  }

  /// Reads the sysctls if an inode is in a sticky directory in which others can write.
  package mutating func readSysctls(ofSticky inode: Int?) {
    guard let inode else { return }
    let mode = facts.inodes[facts.inodes[inode].parent].mode
    if mode & 0o1000 != 0, mode & 0o022 != 0 { readSysctls() }
  }

  /// Reads the sysctls, where no link on the way asked for them.
  package mutating func readSysctls() {
    if facts.sysctls.protectedSymlinks == nil { facts.sysctls.readLinks(system) }
  }
}

@available(*, unavailable)
extension FactsReader: Sendable {}

// Mounts that a server, a daemon or an automount is behind, and encryption.
extension FactsReader {
  /// Returns why a name must not be looked up; nil if the lookup cannot block and mounts nothing.
  mutating func obstacle(
    _ name: PathBytes, in directory: Int
  ) -> InodeFacts.Entry.Found? {
    guard let table = mountTable else { return nil }
    if blocking.isEmpty { blocking = table.blockingMounts.map(\.point) }
    // Most names are none of a mount point, and need no path.
    let isBelowAutomount = facts.mounts[facts.inodes[directory].mount].isAutomount
    guard isBelowAutomount || blocking.contains(where: { $0.lastComponent == name }),
      let folder = place(of: directory)
    else { return nil }
    let path = folder.appending(name)
    guard isBelowAutomount || blocking.contains(path) else { return nil }
    let mount = table.mounts(at: path).last
    if isBelowAutomount, mount == nil { return .automount }
    guard let mount, mount.rules.mayKeepWaiting else { return nil }
    return isAnswered(mount) ? nil : .unresponsive
  }

  /// Returns whether the server or daemon of a mount answers; asks once.
  private mutating func isAnswered(_ mount: MountFacts) -> Bool {
    if let known = answers[mount.point] { return known }
    let path = PathBytes(prefix.bytes + mount.point.bytes)
    let answer = system.answers(path, within: PathAvailability.limit)
    answers[mount.point] = answer
    return answer
  }

  /// Returns the mount of the working directory if its server does not answer; nil if it does.
  mutating func unresponsiveStart() -> PathBytes? {
    // The path of the directory is known without asking the file system.
    guard let table = mountTable, let path = try? system.getcwd() else { return nil }
    for mount in table.blockingMounts
    where mount.rules.mayKeepWaiting && (path == mount.point || path.isBelow(mount.point)) {
      if !isAnswered(mount) { return mount.point }
    }
    return nil
  }
}

extension FileSystemRules {
  /// Whether a system call on the mount may wait for a server or daemon.
  var mayKeepWaiting: Bool { !isDecidedByKernel }
}

extension MountTable {
  /// Returns whether a layer of an overlay lies where a server decides, as far as this process sees its
  /// layers.
  func hasLayerOnServer(_ overlay: MountFacts) -> Bool {
    for option in overlay.superblockOptions.parts(by: ",") {
      for name in ["lowerdir=", "upperdir=", "lowerdir+=", "datadir+="] where option.hasPrefix(name)
      {
        let layers = option.dropFirst(name.count).parts(by: ":")
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
  /// Whether a server has kept another process waiting for too long, see `withCallProcess`.
  var isUnresponsive: Bool { (self as? LinuxSystem)?.callProcess?.isOver == true }
}

// User namespaces.
extension FactsReader {
  /// Returns the overflow ids if this process is in a user namespace of its own.
  static func overflow(_ system: any System) -> AccessFacts.Overflow? {
    // PROC_USER_INIT_INO of the kernel's proc_ns.h: the initial namespace, whose maps are the identity.
    if (try? system.status(of: "/proc/self/ns/user"))?.inode == 0xEFFF_FFFD { return nil }
    func map(_ path: PathBytes) -> IDMap? {
      system.look(at: path).value.flatMap { IDMap(lines: $0) }
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
    var overflow = AccessFacts.Overflow(
      uid: uid, gid: gid, uidIsMapped: users.map { $0.outside(uid) != nil } ?? true,
      gidIsMapped: groups.map { $0.outside(gid) != nil } ?? true)
    if let users, let groups { overflow.mapping = IDMapping(users: users, groups: groups) }
    return overflow
  }
}
