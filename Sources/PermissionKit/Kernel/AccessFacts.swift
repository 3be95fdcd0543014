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

    /// Creates a set of sysctls.
    package init(
      protectedSymlinks: Int? = nil, protectedRegular: Int? = nil, protectedFIFOs: Int? = nil
    ) {
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
  package var silentStart: PathBytes?
  /// The ids that stand for "not mapped in the reader's user namespace"; nil in the initial one.
  ///
  /// Nobody can tell who owns an inode with such an id: two such ids look the same.
  package var overflow: Overflow?

  /// The overflow ids of the reader: /proc/sys/kernel/overflowuid and overflowgid.
  ///
  /// Also tells whether the reader's id maps contain an id with the same number.
  package struct Overflow: Hashable, Sendable {
    /// The uid that stands for an unmapped uid: 65534 unless the sysctl differs.
    package var uid: UInt32
    /// The gid that stands for an unmapped gid: 65534 unless the sysctl differs.
    package var gid: UInt32
    /// Whether the map of uids contains the same number.
    package var uidIsMapped: Bool
    /// Whether the map of gids contains the same number.
    package var gidIsMapped: Bool

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
