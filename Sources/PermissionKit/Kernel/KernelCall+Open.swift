/// The system calls that open or check a file, as in fs/open.c and fs/namei.c.
extension KernelCall {
  /// Mirrors do_faccessat() of fs/open.c.
  mutating func access(
    _ want: Permissions, followsLink: Bool
  ) throws(Stop) -> Rule {
    try lookup(followsLast: followsLink, wantsDirectory: false)
    let kind = inodes[current].kind
    if want.contains(.execute), kind == .regular, mountHas(.noExecute, current) {
      throw refuse(.EACCES, .noExecuteMount, current)
    }
    let rule = try permission(current, want, .target)
    if want.contains(.write), !kind.isSpecial, mountIsReadOnly(current) {
      throw refuse(.EROFS, .readOnlyMount, current)
    }
    return rule
  }

  /// Mirrors build_open_flags() of fs/open.c, then path_openat() of fs/namei.c.
  mutating func open(_ asked: OpenFlags, executes: Bool) throws(Stop) -> Rule {
    var flags = asked
    if flags.contains(.path) {
      // build_open_how() drops every other flag.
      flags.formIntersection([.directory, .noFollow, .path])
      try lookup(
        followsLast: !flags.contains(.noFollow), wantsDirectory: flags.contains(.directory))
      return .pathOnly
    }
    if flags.contains([.create, .directory]) { throw refuse(.EINVAL, .invalidFlags, nil) }
    if flags.rawValue & 0o20000000 != 0 {
      guard flags.contains(.temporaryFile), flags.permissions.contains(.write) else {
        throw refuse(.EINVAL, .invalidFlags, nil)
      }
      return try openTemporary(flags)
    }
    var want: Permissions = executes ? .execute : flags.permissions
    if flags.contains(.truncate) { want.insert(.write) }
    let isCreated = try openLastLookups(flags)
    return try openInode(flags, want, executes: executes, isCreated: isCreated)
  }

  /// Mirrors open_last_lookups() and lookup_open() of fs/namei.c.
  ///
  /// - Returns: Whether the file does not exist yet and would be created.
  private mutating func openLastLookups(_ flags: OpenFlags) throws(Stop) -> Bool {
    let creates = flags.contains(.create)
    try start(
      followsLast: !flags.contains(.noFollow) && !flags.contains([.create, .exclusive]),
      wantsDirectory: flags.contains(.directory))
    while true {
      try walkToLast()
      if isRootOnly { return false }
      if lastIsDots {
        stepIntoDots()
        return false
      }
      if lastHasSlash {
        if creates { throw refuse(.EISDIR, .createWithTrailingSlash, current) }
        followsLast = true
        wantsDirectory = true
      }
      guard let found = try child() else {
        guard creates else { throw refuse(.ENOENT, .missing, current, .walk) }
        if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current, .create) }
        _ = try mayCreate(.makeRegular)
        if traits[mount(current)].isProc { throw undetermined(.fileSystemRules, current, .create) }
        try mustMakeFiles()
        return true
      }
      if try step(into: found, isLast: true) { return false }
    }
  }

  /// Mirrors the part of may_create() of fs/namei.c that faccessat2(2) does not ask: the ids of a new file need a number
  /// on the mount.
  mutating func createInside() throws(Stop) -> Rule {
    try lookup(followsLast: true, wantsDirectory: true)
    try subjectIsMapped(.create)
    // In a cgroup, mkdir(2) makes another one.
    if !traits[mount(current)].makesFolders { try mustMakeFiles() }
    return .nothingAsked
  }

  /// Stops in a directory without i_op->create, see lookup_open() of fs/namei.c.
  private func mustMakeFiles() throws(Stop) {
    if let errno = traits[mount(current)].creationErrno {
      throw refuse(errno, .makesNoFiles, current, .create)
    }
  }

  /// Mirrors may_o_create() and may_create() of fs/namei.c; the directory is `current`.
  mutating func mayCreate(_ right: LandlockRights) throws(Stop) -> Rule {
    try landlock(right, current)
    try subjectIsMapped(.create)
    let rule = try permission(current, [.write, .execute], .create)
    try mustHaveKey(.create)
    return rule
  }

  /// Stops at the root of a closed FUSE mount, of which not even the type is known.
  mutating func mustBeSeen() throws(Stop) {
    if inodes[current].isClosed { _ = try permission(current, [], .target) }
  }

  /// Stops where the key of the encrypted inode `current` is missing, or nobody could look for it.
  func mustHaveKey(_ step: Decision.Step = .target) throws(Stop) {
    if inodes[current].isLocked { throw refuse(.ENOKEY, .locked, current, step) }
    if inodes[current].keyError != nil { throw undetermined(.unreadable, current, step) }
  }

  /// Mirrors do_tmpfile() and vfs_tmpfile() of fs/namei.c.
  private mutating func openTemporary(_ flags: OpenFlags) throws(Stop) -> Rule {
    try lookup(followsLast: !flags.contains(.noFollow), wantsDirectory: true)
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current, .create) }
    try subjectIsMapped(.create)
    _ = try permission(current, [.write, .execute], .create)
    try mustHaveKey(.create)
    return .created
  }

  /// Mirrors do_open() of fs/namei.c, then do_dentry_open() of fs/open.c.
  private mutating func openInode(
    _ flags: OpenFlags, _ want: Permissions, executes: Bool, isCreated: Bool
  ) throws(Stop) -> Rule {
    if isCreated {
      // The kernel never checks the mode of the new file, but Landlock does.
      try landlock(openRights(flags, .regular, executes: executes), current)
      return .created
    }
    let kind = inodes[current].kind
    if flags.contains(.create) {
      if flags.contains(.exclusive) { throw refuse(.EEXIST, .exclusiveButExists, current) }
      try mustBeSeen()
      if kind == .directory { throw refuse(.EISDIR, .createOnDirectory, current) }
      try mayCreateInSticky()
    }
    if wantsDirectory, kind != .directory { throw refuse(.ENOTDIR, .notADirectory, current) }
    if flags.contains(.truncate), kind == .regular, mountIsReadOnly(current) {
      throw refuse(.EROFS, .readOnlyMount, current)
    }
    let rule = try mayOpen(flags, want)
    if flags.opensForWriting, !executes, !kind.isSpecial, mountIsReadOnly(current) {
      throw refuse(.EROFS, .readOnlyMount, current)
    }
    try landlock(openRights(flags, kind, executes: executes), current)
    try driverOpen(flags)
    if kind == .regular { try mustHaveKey() }
    if flags.contains(.truncate), kind == .regular { try landlock(.truncate, current) }
    return rule
  }

  /// Mirrors may_open() of fs/namei.c.
  private mutating func mayOpen(_ flags: OpenFlags, _ want: Permissions) throws(Stop) -> Rule {
    let kind = inodes[current].kind
    switch kind {
    case .symbolicLink: throw refuse(.ELOOP, .openOfSymlink, current)
    case .directory:
      if want.contains(.write) { throw refuse(.EISDIR, .writeToDirectory, current) }
      if want.contains(.execute) { throw refuse(.EACCES, .executeDirectory, current) }
    case .characterDevice, .blockDevice:
      // may_open_dev(): the mount, or a superblock that has no devices at all.
      if mountHas(.noDevices, current) || traits[mount(current)].hasNoDevices {
        throw refuse(.EACCES, .noDeviceMount, current)
      }
      // The bits may refuse in any case.
      if mounts[mount(current)].mayBelongToNamespace, doubt == nil {
        doubt = undetermined(.fileSystemRules, current).decision
      }
    case .regular, .fifo, .socket: break
    }
    if kind.isSpecial, want.contains(.execute) {
      throw refuse(.EACCES, .executeSpecialFile, current)
    }
    if kind == .regular, want.contains(.execute), mountHas(.noExecute, current) {
      throw refuse(.EACCES, .noExecuteMount, current)
    }
    let rule = try permission(current, want, .target)
    if want.contains(.write), mounts[mount(current)].mayBelongToNamespace,
      traits[mount(current)].copiesUp, !kind.isSpecial
    {
      throw undetermined(.fileSystemRules, current)
    }
    if inodes[current].isAppendOnly {
      let truncates = flags.contains(.truncate) && !kind.isSpecial
      if flags.accessMode != 0 && !flags.contains(.append) || truncates {
        throw refuse(.EPERM, .appendOnly, current)
      }
    }
    if flags.contains(.noAccessTime), !(try ownerOrCapable(current)) {
      throw refuse(.EPERM, .notOwnerForNoAccessTime, current)
    }
    return rule
  }

  /// Mirrors may_create_in_sticky() of fs/namei.c.
  private mutating func mayCreateInSticky() throws(Stop) {
    guard directoryMode & 0o1000 != 0 else { return }
    let kind = inodes[current].kind
    let level: Int? =
      switch kind {
      case .regular: facts.sysctls.protectedRegular
      case .fifo: facts.sysctls.protectedFIFOs
      default: 1
      }
    guard level != 0 else { return }
    let owner = mappedUser(inodes[current].uid, current)
    if let owner {
      if owner == directoryOwner, owner != facts.overflow?.uid { return }
      if try isSubject(owner, current, .target) { return }
    }
    guard directoryMode & 0o022 != 0 else { return }
    guard let level else { throw undetermined(.unreadable, current) }
    if directoryMode & 0o002 != 0 || level >= 2 {
      // Two ids that are not mapped look the same.
      if let owner, owner == directoryOwner { throw undetermined(.unmappedID, current) }
      throw refuse(.EACCES, .stickyDirectory, current)
    }
  }

  private func openRights(
    _ flags: OpenFlags, _ kind: FileKind, executes: Bool
  ) -> LandlockRights {
    var rights: LandlockRights = []
    if flags.opensForReading { rights.insert(kind == .directory ? .readDirectory : .readFile) }
    if flags.opensForWriting { rights.insert(.writeFile) }
    if executes { rights.insert(.execute) }
    return rights
  }

  /// Mirrors security/landlock/fs.c: each layer must allow every right that it handles, at the
  /// inode or at a directory above.
  func landlock(_ rights: LandlockRights, _ inode: Int) throws(Stop) {
    for layer in facts.landlock {
      var missing = rights.intersection(layer.handled)
      var position = inode
      // Ends after as many steps as there are inodes, because facts from a document can have
      // cycles.
      for _ in inodes.indices where !missing.isEmpty {
        if let allowed = layer.allowed[position] { missing.subtract(allowed) }
        position = inodes[position].parent
      }
      if !missing.isEmpty { throw refuse(.EACCES, .landlock(missing), inode) }
    }
  }

  /// Asks what the driver of a common node checks besides the permission bits.
  private func driverOpen(_ device: DeviceNumber, _ flags: OpenFlags) throws(Stop) {
    switch (device.major, device.minor) {
    // open_port() of drivers/char/mem.c: /dev/mem and /dev/port need CAP_SYS_RAWIO and no lockdown.
    case (1, 1), (1, 4): throw undetermined(.driver, current)
    case (1, 11): try openLog(flags)
    // tty_open_current_tty() of drivers/tty/tty_io.c.
    case (5, 0):
      guard let hasTerminal = facts.hasTerminal else { throw undetermined(.driver, current) }
      if !hasTerminal { throw refuse(.ENXIO, .noTerminal, current) }
    // rng_dev_open() of drivers/char/hw_random/core.c: /dev/hwrng is read-only.
    case (10, 183): if flags.accessMode != 0 { throw undetermined(.driver, current) }
    default: break
    }
  }

  /// Mirrors devkmsg_open() and check_syslog_permissions() of kernel/printk/printk.c.
  private func openLog(_ flags: OpenFlags) throws(Stop) {
    guard let restrict = facts.sysctls.dmesgRestrict, let isOff = facts.sysctls.kernelLogIsOff
    else { throw undetermined(.driver, current) }
    let isCapable =
      subject.effective.contains(.syslog) && subject.userNamespace == nil && facts.overflow == nil
    if isOff || flags.accessMode != 1 && restrict != 0 && !isCapable {
      throw refuse(.EPERM, .kernelLog, current)
    }
  }

  /// Mirrors the inode's own open: fs/char_dev.c, fs/pipe.c, fs/inode.c, fs/kernfs/file.c.
  private func driverOpen(_ flags: OpenFlags) throws(Stop) {
    switch inodes[current].kind {
    case .characterDevice, .blockDevice:
      if let errno = inodes[current].driverErrno {
        if errno.rawValue != 0 { throw refuse(errno, .driver, current) }
      } else if inodes[current].hasNoListedDriver || inodes[current].driverError != nil {
        throw undetermined(.driver, current)
      } else if inodes[current].kind == .characterDevice, let device = inodes[current].device {
        try driverOpen(device, flags)
      }
    case .socket: throw refuse(.ENXIO, .socketInode, current)
    case .fifo:
      if flags.accessMode == 1, !waitsForReader {
        throw refuse(.ENXIO, .fifoWithoutReader, current)
      }
      if flags.accessMode == 3 { throw refuse(.EINVAL, .fifoAccessMode, current) }
    case .regular where traits[mount(current)].checksModeAtOpen:
      let mode = inodes[current].mode
      let lacks =
        flags.opensForReading && mode & 0o444 == 0 || flags.opensForWriting && mode & 0o222 == 0
      if lacks { throw refuse(.EACCES, .kernfsMode, current) }
    case .regular, .directory, .symbolicLink: break
    }
  }
}
