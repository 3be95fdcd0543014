/// All facts about one or several paths; the evaluator uses nothing else.
///
/// The inodes form a graph, so that the evaluator can walk any path as the kernel does, and several
/// paths share their common inodes.
package struct AccessFacts: Hashable, Sendable {
  /// The sysctls that matter for a decision, see proc_sys_fs(5); nil if a sysctl was not read.
  package struct Sysctls: Hashable, Sendable {
    /// fs.protected_symlinks, 0 or 1.
    package var protectedSymlinks: Int?
    /// fs.protected_regular, 0 to 2.
    package var protectedRegular: Int?
    /// fs.protected_fifos, 0 to 2.
    package var protectedFIFOs: Int?
    /// fs.protected_hardlinks, 0 or 1.
    package var protectedHardlinks: Int?
    /// kernel.dmesg_restrict, 0 or 1; nil where no path leads to /dev/kmsg.
    package var dmesgRestrict: Int?
    /// Whether kernel.printk_devkmsg is `off`; nil like `dmesgRestrict`.
    package var kernelLogIsOff: Bool?

    /// Creates a set of sysctls.
    package init(
      protectedSymlinks: Int? = nil, protectedRegular: Int? = nil, protectedFIFOs: Int? = nil,
      protectedHardlinks: Int? = nil
    ) {
      self.protectedHardlinks = protectedHardlinks
      self.protectedSymlinks = protectedSymlinks
      self.protectedRegular = protectedRegular
      self.protectedFIFOs = protectedFIFOs
    }
  }

  /// The inodes; `InodeFacts.parent` and `InodeFacts.entries` hold indices into this array.
  package var inodes: [InodeFacts]
  /// The mounts; `InodeFacts.mount` is an index into this array.
  package var mounts: [MountFacts]
  /// The index of the inode at which absolute paths start.
  package var root: Int
  /// The index of the inode at which relative paths start.
  package var start: Int
  /// The sysctls; a sysctl that was not read is nil.
  package var sysctls: Sysctls
  /// The device cgroup of the subject; nil if no restriction is known.
  package var deviceCgroup: DeviceCgroup?
  /// The Landlock domain of the subject, outermost layer first; rules name inodes of these facts.
  package var landlock: [LandlockRuleset]
  /// Whether the reader of the facts is the subject, who then can follow the same links in /proc.
  package var readerIsSubject = true
  /// The mount of the directory that relative paths start at, if it does not answer; `start` then has no
  /// meaning.
  package var unresponsiveStart: PathBytes?
  /// The error of the look at the directory that relative paths start at; `start` then has no meaning.
  package var startError: Errno?
  /// Whether the subject has a controlling terminal; nil if it is no process, or if no path leads to /dev/tty.
  package var hasTerminal: Bool?
  /// The directory that stands for `/` once a walk has reached it (`--root`): absolute links and `..` do not leave it.
  package var base: Int?
  /// The ids that stand for "not mapped in the reader's user namespace"; nil in the initial one.
  ///
  /// The owner of an inode with such an id is unknown: two such ids look the same.
  package var overflow: Overflow?

  /// The overflow ids of the reader: /proc/sys/kernel/overflowuid and overflowgid.
  ///
  /// Also says whether the reader's id maps contain an id with the same number.
  package struct Overflow: Hashable, Sendable {
    /// The uid that stands for an unmapped uid: 65534 unless the sysctl differs.
    package var uid: UInt32
    /// The gid that stands for an unmapped gid: 65534 unless the sysctl differs.
    package var gid: UInt32
    /// Whether the map of uids contains the same number.
    package var uidIsMapped: Bool
    /// Whether the map of gids contains the same number.
    package var gidIsMapped: Bool
    /// The maps of the reader's user namespace; nil if they could not be read.
    package var mapping: IDMapping?

    /// Creates overflow ids with these values.
    package init(uid: UInt32, gid: UInt32, uidIsMapped: Bool, gidIsMapped: Bool) {
      self.uid = uid
      self.gid = gid
      self.uidIsMapped = uidIsMapped
      self.gidIsMapped = gidIsMapped
    }
  }

  /// Creates facts with these values; the defaults restrict nothing.
  package init(
    inodes: [InodeFacts] = [], mounts: [MountFacts] = [MountFacts()], root: Int = 0,
    start: Int = 0, sysctls: Sysctls = Sysctls(), deviceCgroup: DeviceCgroup? = nil,
    landlock: [LandlockRuleset] = [], overflow: Overflow? = nil
  ) {
    self.inodes = inodes
    self.mounts = mounts
    self.root = root
    self.start = start
    self.sysctls = sysctls
    self.deviceCgroup = deviceCgroup
    self.landlock = landlock
    self.overflow = overflow
  }
}

extension AccessFacts {
  /// Whether every index is valid, which facts from a document cannot guarantee.
  package var isConsistent: Bool {
    guard inodes.indices.contains(root), inodes.indices.contains(start),
      base.map(inodes.indices.contains) ?? true
    else { return false }
    return inodes.allSatisfy { inode in
      mounts.indices.contains(inode.mount) && inodes.indices.contains(inode.parent)
        && inode.jump.map(inodes.indices.contains) ?? true
        && inode.entries.allSatisfy { entry in
          if case .inode(let index) = entry.found { inodes.indices.contains(index) } else { true }
        }
    }
  }

  /// Returns the path by which the inode was reached, absolute if the path begins at the root.
  ///
  /// A path that does not begin at the root is relative to the start. For an inode behind a magic
  /// link, this is the path of the link.
  package func path(of inode: Int) -> PathBytes {
    let (top, path) = climb(from: inode)
    guard top != root, top != start else { return path }
    guard let link = inodes.firstIndex(where: { $0.jump == top }) else {
      return aboveStart(top).map { top == inode ? $0 : $0.appending(path) } ?? path
    }
    let below = climb(from: link).path
    return top == inode ? below : below.appending(path)
  }

  /// Returns the path from the start up to a directory above it: `../..`; nil for any other.
  private func aboveStart(_ directory: Int) -> PathBytes? {
    var (current, path) = (start, PathBytes(".."))
    for _ in inodes.indices {
      let parent = inodes[current].parent
      if parent == directory { return path }
      guard parent != current, parent != root else { return nil }
      (current, path) = (parent, path.appending(".."))
    }
    return nil
  }

  /// Returns whether the path of the inode leads from the root by names alone.
  func isReachedFromRoot(_ inode: Int) -> Bool { climb(from: inode).top == root }

  /// Returns the names up to the root or to the first inode that was not reached by name.
  private func climb(from inode: Int) -> (top: Int, path: PathBytes) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    var top = inode
    // Builds the path from its end. Ends at the root, or after as many steps as there are inodes,
    // or at 64 KiB, because facts from a document can have cycles.
    var steps = 0
    while top != root, steps < inodes.count, bytes.count < 1 << 16 {
      steps += 1
      let parent = inodes[top].parent
      guard parent != top, let entry = entry(of: top, in: parent) else { break }
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
      for byte in inodes[parent].entries[entry].name.bytes.reversed() { bytes.append(byte) }
      top = parent
    }
    if top == root { bytes.append(UInt8(ascii: "/")) } else if bytes.isEmpty { return (top, ".") }
    bytes.reverse()
    return (top, PathBytes(bytes))
  }

  /// Returns the path by which the inode was reached; returns `asked` itself if it is that path.
  func path(of inode: Int, asked: PathBytes) -> PathBytes {
    var end = asked.bytes.count
    var current = inode
    while current != root {
      let parent = inodes[current].parent
      guard parent != current, let entry = entry(of: current, in: parent) else { break }
      let start = end - inodes[parent].entries[entry].name.bytes.count
      guard start > 0, asked.bytes[start - 1] == UInt8(ascii: "/"),
        inodes[parent].entries[entry].name.bytes.elementsEqual(asked.bytes[start..<end])
      else { break }
      end = start - 1
      current = parent
    }
    return current == root && current != inode && end == 0 ? asked : path(of: inode)
  }

  /// Returns the name of an inode in its directory; nil if the inode was not found by name.
  func name(of inode: Int) -> PathBytes? {
    let parent = inodes[inode].parent
    return entry(of: inode, in: parent).map { inodes[parent].entries[$0].name }
  }

  /// Returns the index of the entry by which an inode was found in a directory.
  private func entry(of inode: Int, in directory: Int) -> Int? {
    for index in inodes[directory].entries.indices {
      if case .inode(inode) = inodes[directory].entries[index].found { return index }
    }
    return nil
  }

  /// Returns the path of the name that the last lookup of `steps` did not find.
  func missingPath(_ steps: [WalkStep]) -> PathBytes? {
    for step in steps.reversed() {
      if case .lookup(let name, let parent, nil, _) = step.event {
        return path(of: parent).appending(name)
      }
    }
    return nil
  }
}

extension AccessFacts {
  /// Returns whether the file system stores a change of mode or ACL of an inode, and uses it.
  func keepsChanges(of inode: Int) -> Bool {
    let mount = mounts[inodes[inode].mount]
    return mount.rules.honoursChanges && !mount.isReadOnly
      && inodes[inode].subvolume?.isReadOnly != true && !hasFixedMode(inode)
  }

  /// Whether an inode is below /proc/PID or /proc/sys, whose modes nobody changes.
  ///
  /// - SeeAlso: `proc_setattr()` in fs/proc/base.c and `proc_sys_setattr()` in fs/proc/proc_sysctl.c
  func hasFixedMode(_ inode: Int) -> Bool {
    let mount = mounts[inodes[inode].mount]
    guard mount.fileSystem == "proc" else { return false }
    let path = path(of: inode)
    if path == mount.point { return false }
    // A part of /proc may be mounted elsewhere.
    let names = path.components.dropFirst(mount.point.components.count)
    guard path.isBelow(mount.point), let first = names.first else { return true }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return first == "sys" || first.bytes.allSatisfy(digits.contains)
  }

  /// Returns the inode that `path` names, for any subject; does not follow a link at the end.
  func inode(at path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: self, credentials: anybody)
      .decide(.open([.path, .noFollow]), path: path)
    return decision.isGranted ? decision.inode : nil
  }
}

extension AccessFacts {
  /// Returns the inode that `path` leads to, for any subject; follows links.
  ///
  /// Nil if the facts do not contain the inode.
  func target(of path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    var call = KernelCall(AccessEvaluator(facts: self, credentials: anybody), path)
    call.grantsEverything = true
    let decision = call.run(.open(.path))
    return decision.leadsThere ? decision.inode : nil
  }

  /// Returns the file type at the end of `path`, for any subject; nil if the facts lack the inode.
  func kind(of path: PathBytes) -> FileKind? { target(of: path).map { inodes[$0].kind } }
}
