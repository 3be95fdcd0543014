/// Everything that was read for one or several paths: what the evaluator judges, and nothing else.
///
/// A graph of inodes rather than a list, so that the evaluator can walk any path through it just
/// as the kernel does, and several paths share what they have in common.
public struct AccessFacts: Hashable, Sendable, Codable {
  /// The sysctls that take part in a decision, see proc_sys_fs(5); nil when one was not read.
  public struct Sysctls: Hashable, Sendable, Codable {
    /// fs.protected_symlinks, 0 or 1.
    public var protectedSymlinks: Int?
    /// fs.protected_regular, 0 to 2.
    public var protectedRegular: Int?
    /// fs.protected_fifos, 0 to 2.
    public var protectedFIFOs: Int?

    /// Makes one of its parts.
    public init(
      protectedSymlinks: Int? = nil, protectedRegular: Int? = nil, protectedFIFOs: Int? = nil
    ) {
      self.protectedSymlinks = protectedSymlinks
      self.protectedRegular = protectedRegular
      self.protectedFIFOs = protectedFIFOs
    }
  }

  /// The inodes; `InodeFacts.parent` and `InodeFacts.entries` hold indices into them.
  public var inodes: [InodeFacts]
  /// The mounts; `InodeFacts.mount` is an index into them.
  public var mounts: [MountFacts]
  /// Index of the inode that absolute paths start at.
  public var root: Int
  /// Index of the inode that relative paths start at.
  public var start: Int
  /// The sysctls, each nil unless it was read.
  public var sysctls: Sysctls
  /// The subject's device cgroup; nil when it restricts nothing that is known.
  public var deviceCgroup: DeviceCgroup?
  /// The subject's Landlock domain, the outermost layer first; rules name inodes of these facts.
  public var landlock: [LandlockRuleset]
  /// The process that read them is the subject: what it could follow in /proc, the subject can.
  public var readerIsSubject = true
  /// The ids that stand for "not mapped in the reader's user namespace"; nil in the initial one.
  ///
  /// Inodes that show them may belong to anybody: two such ids cannot be told apart.
  public var overflow: Overflow?

  /// /proc/sys/kernel/overflowuid and overflowgid, and whether the reader's maps also hold an id
  /// of that number.
  public struct Overflow: Hashable, Sendable, Codable {
    /// The uid shown for what is not mapped: 65534 unless the sysctl says otherwise.
    public var uid: UInt32
    /// The gid shown for what is not mapped: 65534 unless the sysctl says otherwise.
    public var gid: UInt32
    /// Whether the map of uids holds that number as well.
    public var uidIsMapped: Bool
    /// Whether the map of gids holds that number as well.
    public var gidIsMapped: Bool

    /// Makes one of its parts.
    public init(uid: UInt32, gid: UInt32, uidIsMapped: Bool, gidIsMapped: Bool) {
      self.uid = uid
      self.gid = gid
      self.uidIsMapped = uidIsMapped
      self.gidIsMapped = gidIsMapped
    }
  }

  /// Makes one of its parts; what is not given restricts nothing.
  public init(
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

/// A cgroup v1 device whitelist, see `devcgroup_check_permission()` in security/device_cgroup.c.
public struct DeviceCgroup: Hashable, Sendable, Codable {
  /// One line of devices.allow or devices.deny: `c 81:* rw`.
  public struct Exception: Hashable, Sendable, Codable {
    /// Character or block device.
    public var kind: InodeFacts.Kind
    /// Nil stands for `*`.
    public var major: UInt32?
    /// Nil stands for `*`.
    public var minor: UInt32?
    /// Read and write; mknod takes no part in an open.
    public var access: Permissions

    /// Makes one of its parts.
    public init(kind: InodeFacts.Kind, major: UInt32?, minor: UInt32?, access: Permissions) {
      self.kind = kind
      self.major = major
      self.minor = minor
      self.access = access
    }

    func matches(_ kind: InodeFacts.Kind, _ device: InodeFacts.Device) -> Bool {
      kind == self.kind && (major == nil || major == device.major)
        && (minor == nil || minor == device.minor)
    }
  }

  /// What goes for a device that no exception matches.
  public var allowsByDefault: Bool
  /// What is refused when `allowsByDefault`, what is allowed otherwise.
  public var exceptions: [Exception]

  /// Makes one of its parts.
  public init(allowsByDefault: Bool, exceptions: [Exception]) {
    self.allowsByDefault = allowsByDefault
    self.exceptions = exceptions
  }

  /// Whether `access` (read and write count) to the device is let through.
  func allows(
    _ access: Permissions, _ kind: InodeFacts.Kind, _ device: InodeFacts.Device
  ) -> Bool {
    let access = access.intersection([.read, .write])
    if allowsByDefault {
      // match_exception_partial(): one bit in common is enough to refuse.
      return !exceptions.contains {
        $0.matches(kind, device) && !$0.access.isDisjoint(with: access)
      }
    }
    // match_exception(): one exception must hold every bit.
    return exceptions.contains { $0.matches(kind, device) && $0.access.isSuperset(of: access) }
  }
}

/// Landlock's file system rights that take part in an open, see landlock(7).
public struct LandlockRights: OptionSet, Hashable, Sendable, Codable {
  /// LANDLOCK_ACCESS_FS_… bits of include/uapi/linux/landlock.h.
  public let rawValue: UInt32

  /// Takes the bits as they are.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// LANDLOCK_ACCESS_FS_EXECUTE: execute a file.
  public static let execute = LandlockRights(rawValue: 1 << 0)
  /// LANDLOCK_ACCESS_FS_WRITE_FILE: open a file for writing.
  public static let writeFile = LandlockRights(rawValue: 1 << 1)
  /// LANDLOCK_ACCESS_FS_READ_FILE: open a file for reading, which executing one needs too.
  public static let readFile = LandlockRights(rawValue: 1 << 2)
  /// LANDLOCK_ACCESS_FS_READ_DIR: open a directory.
  public static let readDirectory = LandlockRights(rawValue: 1 << 3)
  /// LANDLOCK_ACCESS_FS_MAKE_REG: create a regular file, asked of the directory.
  public static let makeRegular = LandlockRights(rawValue: 1 << 8)
  /// LANDLOCK_ACCESS_FS_TRUNCATE: truncate a file, since ABI 3.
  public static let truncate = LandlockRights(rawValue: 1 << 14)
}

/// One layer of a Landlock domain: what it handles, and what it allows beneath which inodes.
public struct LandlockRuleset: Hashable, Sendable, Codable {
  /// The rights that this layer refuses wherever `allowed` does not have them.
  public var handled: LandlockRights
  /// Rights by the index of the inode in `AccessFacts.inodes` at or beneath which they hold.
  public var allowed: [Int: LandlockRights]

  /// Makes one of its parts.
  public init(handled: LandlockRights, allowed: [Int: LandlockRights]) {
    self.handled = handled
    self.allowed = allowed
  }
}

extension AccessFacts {
  /// Whether every index names an inode or mount of these facts; facts from a document may be
  /// anything.
  public var isConsistent: Bool {
    guard inodes.indices.contains(root), inodes.indices.contains(start) else { return false }
    return inodes.allSatisfy { inode in
      mounts.indices.contains(inode.mount) && inodes.indices.contains(inode.parent)
        && inode.jump.map(inodes.indices.contains) ?? true
        && inode.entries.allSatisfy { entry in
          if case .inode(let index) = entry.found { inodes.indices.contains(index) } else { true }
        }
    }
  }

  /// The path by which the inode was reached, from the root or, relative, from the start; of one that
  /// a magic link leads to, the link's.
  public func path(of inode: Int) -> PathBytes {
    let (top, path) = climb(from: inode)
    guard top != root, top != start, let link = inodes.firstIndex(where: { $0.jump == top }) else {
      return path
    }
    let below = climb(from: link).path
    return top == inode ? below : below.appending(path)
  }

  /// Whether its path leads from the root to it by names alone.
  func isReachedFromRoot(_ inode: Int) -> Bool { climb(from: inode).top == root }

  /// The names from where the climb ends: at the root, or at an inode that was not reached by name.
  private func climb(from inode: Int) -> (top: Int, path: PathBytes) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    var top = inode
    // From its end; up to the root, and no further than there are inodes or 64 KiB: facts may come
    // from a document.
    for _ in inodes.indices where top != root && bytes.count < 1 << 16 {
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

  /// The path by which the inode was reached: `asked`, where that is it.
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

  /// The name by which an inode was found in its directory; nil where it was come upon otherwise.
  func name(of inode: Int) -> PathBytes? {
    let parent = inodes[inode].parent
    return entry(of: inode, in: parent).map { inodes[parent].entries[$0].name }
  }

  /// The index of the name by which an inode was found in a directory.
  private func entry(of inode: Int, in directory: Int) -> Int? {
    for index in inodes[directory].entries.indices {
      if case .inode(inode) = inodes[directory].entries[index].found { return index }
    }
    return nil
  }

  /// The path of the name that the last look-up of `steps` did not find.
  func missingPath(_ steps: [WalkStep]) -> PathBytes? {
    for step in steps.reversed() {
      if case .lookup(let name, let parent, nil, _) = step.event {
        return path(of: parent).appending(name)
      }
    }
    return nil
  }
}
