/// Everything that was read for one or several paths: what the evaluator judges, and nothing else.
///
/// A graph of inodes rather than a list, so that the evaluator can walk any path through it just
/// as the kernel does, and several paths share what they have in common.
package struct AccessFacts: Hashable, Sendable {
  /// The sysctls that take part in a decision, see proc_sys_fs(5); nil when one was not read.
  package struct Sysctls: Hashable, Sendable {
    /// fs.protected_symlinks, 0 or 1.
    package var protectedSymlinks: Int?
    /// fs.protected_regular, 0 to 2.
    package var protectedRegular: Int?
    /// fs.protected_fifos, 0 to 2.
    package var protectedFIFOs: Int?

    /// Makes one of its parts.
    package init(
      protectedSymlinks: Int? = nil, protectedRegular: Int? = nil, protectedFIFOs: Int? = nil
    ) {
      self.protectedSymlinks = protectedSymlinks
      self.protectedRegular = protectedRegular
      self.protectedFIFOs = protectedFIFOs
    }
  }

  /// The inodes; `InodeFacts.parent` and `InodeFacts.entries` hold indices into them.
  package var inodes: [InodeFacts]
  /// The mounts; `InodeFacts.mount` is an index into them.
  package var mounts: [MountFacts]
  /// Index of the inode that absolute paths start at.
  package var root: Int
  /// Index of the inode that relative paths start at.
  package var start: Int
  /// The sysctls, each nil unless it was read.
  package var sysctls: Sysctls
  /// The subject's device cgroup; nil when it restricts nothing that is known.
  package var deviceCgroup: DeviceCgroup?
  /// The subject's Landlock domain, the outermost layer first; rules name inodes of these facts.
  package var landlock: [LandlockRuleset]
  /// The process that read them is the subject: what it could follow in /proc, the subject can.
  package var readerIsSubject = true
  /// The ids that stand for "not mapped in the reader's user namespace"; nil in the initial one.
  ///
  /// Inodes that show them may belong to anybody: two such ids cannot be told apart.
  package var overflow: Overflow?

  /// /proc/sys/kernel/overflowuid and overflowgid, and whether the reader's maps also hold an id
  /// of that number.
  package struct Overflow: Hashable, Sendable {
    /// The uid shown for what is not mapped: 65534 unless the sysctl says otherwise.
    package var uid: UInt32
    /// The gid shown for what is not mapped: 65534 unless the sysctl says otherwise.
    package var gid: UInt32
    /// Whether the map of uids holds that number as well.
    package var uidIsMapped: Bool
    /// Whether the map of gids holds that number as well.
    package var gidIsMapped: Bool

    /// Makes one of its parts.
    package init(uid: UInt32, gid: UInt32, uidIsMapped: Bool, gidIsMapped: Bool) {
      self.uid = uid
      self.gid = gid
      self.uidIsMapped = uidIsMapped
      self.gidIsMapped = gidIsMapped
    }
  }

  /// Makes one of its parts; what is not given restricts nothing.
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
