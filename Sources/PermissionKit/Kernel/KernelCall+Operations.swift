/// The table of operations: what each call requires of names, directories and inodes, in the
/// kernel's order.
extension KernelCall {
  mutating func operate(_ operation: FileOperation) throws(Stop) -> Rule {
    switch operation {
    // Names: a directory is asked for w and x.
    case .create: return try open([.writeOnly, .create, .exclusive], executes: false)
    case .write:
      waitsForReader = true
      return try open([.writeOnly, .create, .truncate], executes: false)
    case .makeDirectory: return try make(.directory)
    case .makeNode(let kind): return try make(kind)
    case .makeLink: return try make(.symbolicLink)
    case .link(let new): return try link(to: new)
    case .unlink: return try remove(isDirectory: false)
    case .removeDirectory: return try remove(isDirectory: true)
    case .rename(let new): return try rename(to: new)
    // Inodes: the owner is asked for, or a right.
    case .changeMode: return try setAttributes { call throws(Stop) in try call.mustOwn() }
    case .setTimes: return try setAttributes { call throws(Stop) in try call.mustOwn() }
    case .changeOwner(let uid, let gid): return try changeOwner(uid, gid)
    case .touch: return try touch()
    case .setAttribute: return try setAttribute()
    case .truncate: return try truncate()
    // Rights alone.
    case .changeDirectory:
      // ksys_chdir() of fs/open.c.
      try lookup(followsLast: true, wantsDirectory: true)
      return try permission(current, .execute, .target)
    case .execute: return try execute()
    case .connect:
      // unix_find_bsd() of net/unix/af_unix.c.
      try findTarget()
      let rule = try permission(current, .write, .target)
      if inodes[current].kind != .socket { throw refuse(.ECONNREFUSED, .notASocket, current) }
      return rule
    }
  }

  // MARK: - Names

  /// The last component of a path, below `directory`.
  private struct Last {
    let directory: Int
    /// The number of dots in `.` and `..`, 0 for a name, 3 for the root, which has no name.
    let dots: Int
    let hasSlash: Bool

    var isName: Bool { dots == 0 }
  }

  /// Mirrors filename_parentat() of fs/namei.c; `current` is then the directory of the last component.
  private mutating func lookupParent(_ path: PathBytes) throws(Stop) -> Last {
    (self.path, source, links, suspended) = (path, Self.questionPath, 0, [])
    try start(followsLast: false, wantsDirectory: false)
    try walkToLast()
    return Last(
      directory: current, dots: isRootOnly ? 3 : lastIsDots ? lastEnd - lastStart : 0,
      hasSlash: lastHasSlash)
  }

  /// Mirrors filename_create() of fs/namei.c, after the directory was found.
  private mutating func mustBeNew(_ last: Last, isDirectory: Bool) throws(Stop) {
    guard last.isName else { throw refuse(.EEXIST, .dots, current) }
    if let found = try child() { throw refuse(.EEXIST, .exists, found) }
    if last.hasSlash, !isDirectory { throw refuse(.ENOENT, .missing, current, .walk) }
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current, .create) }
  }

  /// Mirrors do_mkdirat(), do_mknodat(), do_symlinkat() and vfs_mknod() of fs/namei.c.
  private mutating func make(_ kind: FileKind) throws(Stop) -> Rule {
    let last = try lookupParent(path)
    try mustBeNew(last, isDirectory: kind == .directory)
    let rule = try mayCreate(.making(kind))
    if kind != .directory, kind != .regular { try mustSupportNodes() }
    if kind.isDevice {
      // capable() is about the first user namespace.
      guard subject.effective.contains(.mknod), subject.userNamespace == nil, facts.overflow == nil
      else { throw refuse(.EPERM, .needsMknod, current, .create) }
      // devcgroup_inode_mknod() looks at the number.
      if facts.deviceCgroup != nil { throw undetermined(.deviceCgroup, current, .create) }
    }
    try mustKnowFileSystem(current)
    return rule
  }

  /// Mirrors do_linkat(), may_linkat() and vfs_link() of fs/namei.c.
  private mutating func link(to new: PathBytes) throws(Stop) -> Rule {
    try lookup(followsLast: false, wantsDirectory: false)
    let (file, above) = (current, inodes[current].parent)
    steps?.append(WalkStep(event: .turn(1)))
    let last = try lookupParent(new)
    try mustBeNew(last, isDirectory: false)
    if mount(file) != mount(current) { throw refuse(.EXDEV, .otherMount, current) }
    steps?.append(WalkStep(event: .turn(0)))
    try mayLink(file)
    steps?.append(WalkStep(event: .turn(1)))
    try mayMove(.making(inodes[file].kind), from: above, to: last.directory)
    let rule = try mayCreate([])
    steps?.append(WalkStep(event: .turn(0)))
    if isFixed(file) || inodes[file].isAppendOnly {
      throw refuse(.EPERM, isFixed(file) ? .immutable : .appendOnly, file)
    }
    try mustSupportNodes()
    if inodes[file].kind == .directory { throw refuse(.EPERM, .linkOfDirectory, file) }
    // btrfs_link() of fs/btrfs/inode.c.
    try mustShareSubvolume(file, current)
    try mustKnowFileSystem(current)
    current = file
    return rule
  }

  /// Mirrors may_linkat() and safe_hardlink_source() of fs/namei.c.
  private mutating func mayLink(_ file: Int) throws(Stop) {
    try mustBeMapped(file, .EOVERFLOW)
    guard facts.sysctls.protectedHardlinks != 0, !(try ownerOrCapable(file)) else { return }
    let mode = inodes[file].mode
    let isPlain =
      inodes[file].kind == .regular && mode & 0o4000 == 0 && mode & 0o2010 != 0o2010
    if isPlain {
      // What keeps the subject from reading and writing is the reason.
      do throws(Stop) {
        _ = try permission(file, [.read, .write], .target)
        return
      } catch {
        guard facts.sysctls.protectedHardlinks != nil, error.decision.errno != nil else {
          throw undetermined(.unreadable, file)
        }
        var stop = refuse(.EPERM, .protectedHardlink, file)
        stop.decision.asked = [.read, .write]
        throw stop
      }
    }
    if facts.sysctls.protectedHardlinks == nil { throw undetermined(.unreadable, file) }
    throw refuse(.EPERM, .protectedHardlink, file)
  }

  /// Mirrors do_unlinkat() and do_rmdir(), then vfs_unlink() and vfs_rmdir() of fs/namei.c.
  private mutating func remove(isDirectory: Bool) throws(Stop) -> Rule {
    let last = try lookupParent(path)
    if !last.isName {
      let ofDirectory: [Errno] = [.EINVAL, .ENOTEMPTY, .EBUSY]
      throw refuse(isDirectory ? ofDirectory[last.dots - 1] : .EISDIR, .dots, current)
    }
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current, .remove) }
    guard let victim = try child() else { throw refuse(.ENOENT, .missing, current, .walk) }
    let kind = inodes[victim].kind
    if last.hasSlash, !isDirectory {
      throw kind == .directory
        ? refuse(.EISDIR, .isDirectory, victim) : refuse(.ENOTDIR, .notADirectory, victim)
    }
    try landlock(isDirectory ? .removeDirectory : .removeFile, current)
    let rule = try mayDelete(victim, isDirectory: isDirectory)
    if isDirectory { try mustBeEmpty(victim) }
    try mustKnowFileSystem(current)
    return rule
  }

  /// Mirrors do_renameat2() and vfs_rename() of fs/namei.c.
  private mutating func rename(to new: PathBytes) throws(Stop) -> Rule {
    let (from, old) = try (path, lookupParent(path))
    let first = (lastSource, lastStart, lastEnd)
    steps?.append(WalkStep(event: .turn(1)))
    let last = try lookupParent(new)
    if mount(old.directory) != mount(last.directory) {
      throw refuse(.EXDEV, .otherMount, last.directory)
    }
    guard old.isName, last.isName else { throw refuse(.EBUSY, .dots, current) }
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, old.directory, .remove) }
    let second = (lastSource, lastStart, lastEnd)
    steps?.append(WalkStep(event: .turn(0)))
    (path, current, (lastSource, lastStart, lastEnd)) = (from, old.directory, first)
    guard let file = try child() else { throw refuse(.ENOENT, .missing, current, .walk) }
    steps?.append(WalkStep(event: .turn(1)))
    (path, current, (lastSource, lastStart, lastEnd)) = (new, last.directory, second)
    let replaced = try child()
    let isDirectory = inodes[file].kind == .directory
    if !isDirectory, old.hasSlash || last.hasSlash {
      throw refuse(.ENOTDIR, .notADirectory, file)
    }
    if isDirectory, try isAbove(file, last.directory) { throw refuse(.EINVAL, .intoItself, file) }
    if let replaced, inodes[replaced].kind == .directory, try isAbove(replaced, old.directory) {
      throw refuse(.ENOTEMPTY, .notEmpty, replaced)
    }
    var rights = LandlockRights.making(inodes[file].kind).union(.removing(inodes[file].kind))
    if let replaced { rights.formUnion(.removing(inodes[replaced].kind)) }
    try mayMove(rights, from: old.directory, to: last.directory)
    if replaced == file { return .nothingAsked }
    steps?.append(WalkStep(event: .turn(0)))
    current = old.directory
    let rule = try mayDelete(file, isDirectory: isDirectory)
    steps?.append(WalkStep(event: .turn(1)))
    current = last.directory
    if let replaced {
      _ = try mayDelete(replaced, isDirectory: isDirectory)
    } else {
      _ = try mayCreate([])
    }
    if isDirectory, old.directory != last.directory {
      // Its `..` changes.
      steps?.append(WalkStep(event: .turn(0)))
      _ = try permission(file, .write, .target)
    }
    try mayLeaveSubvolume(file, from: old.directory, to: current, replacing: replaced)
    if let replaced, isDirectory {
      // xfs_rename() of fs/xfs/xfs_inode.c
      try mustBeEmpty(replaced, mounts[mount(current)].fileSystem == "xfs" ? .EEXIST : .ENOTEMPTY)
    }
    try mustKnowFileSystem(current, movesDirectory: isDirectory)
    return rule
  }

  /// Mirrors may_delete() of fs/namei.c, and the test for a mount point that follows; the directory is
  /// `current`.
  private mutating func mayDelete(_ victim: Int, isDirectory: Bool) throws(Stop) -> Rule {
    // What lies below a mount point is not seen; the call is refused in any case.
    let isMountPoint = mount(victim) != mount(current)
    if !isMountPoint { try mustBeMapped(victim, .EOVERFLOW) }
    let rule = try permission(current, [.write, .execute], .remove)
    if inodes[current].isAppendOnly { throw refuse(.EPERM, .appendOnly, current, .remove) }
    if isMountPoint { throw refuse(.EBUSY, .mountPoint, victim) }
    if inodes[current].mode & 0o1000 != 0, !(try isFreeToRemove(victim)) {
      throw refuse(.EPERM, .sticky, current, .remove)
    }
    if inodes[victim].isAppendOnly { throw refuse(.EPERM, .appendOnly, victim) }
    if isFixed(victim) { throw refuse(.EPERM, .immutable, victim) }
    if isDirectory, inodes[victim].kind != .directory {
      throw refuse(.ENOTDIR, .notADirectory, victim)
    }
    if !isDirectory, inodes[victim].kind == .directory {
      throw refuse(.EISDIR, .isDirectory, victim)
    }
    return rule
  }

  /// Mirrors __check_sticky() of fs/namei.c; the directory is `current`.
  private mutating func isFreeToRemove(_ victim: Int) throws(Stop) -> Bool {
    for inode in [victim, current] {
      if let owner = mappedUser(inodes[inode].uid, inode), try isSubject(owner, inode, .remove) {
        return true
      }
    }
    return try isCapable(.fowner, victim)
  }

  private func mustBeEmpty(_ directory: Int, _ errno: Errno = .ENOTEMPTY) throws(Stop) {
    let inode = inodes[directory]
    let holdsNames = inode.entries.contains { if case .inode = $0.found { true } else { false } }
    if holdsNames { throw refuse(errno, .notEmpty, directory) }
    guard let isEmpty = inode.isEmpty ?? (inode.entriesAreComplete ? true : nil) else {
      throw undetermined(.unreadable, directory)
    }
    if !isEmpty { throw refuse(errno, .notEmpty, directory) }
  }

  /// Whether a directory is another one or lies above it: d_ancestor() of fs/dcache.c.
  private func isAbove(_ directory: Int, _ other: Int) throws(Stop) -> Bool {
    var position = other
    for _ in inodes.indices {
      if position == directory { return true }
      if inodes[position].parent == position {
        // What is above was not read, unless this is the root.
        guard position == facts.root else { throw undetermined(.unreadable, position) }
        return false
      }
      position = inodes[position].parent
    }
    return false
  }

  /// Mirrors current_check_refer_path() of security/landlock/fs.c.
  private func mayMove(
    _ rights: LandlockRights, from: Int?, to directory: Int
  ) throws(Stop) {
    if facts.landlock.isEmpty { return }
    // Another directory must restrict no less, which is a question about every rule.
    guard from == directory else { throw undetermined(.landlock(rights), directory) }
    try landlock(rights, directory)
  }

  // MARK: - Inodes

  /// Walks to the file that a call is about.
  private mutating func findTarget() throws(Stop) {
    try lookup(followsLast: true, wantsDirectory: false)
    try mustBeSeen()
  }

  /// Mirrors chmod_common() and vfs_utimes(), then notify_change() and setattr_prepare() of fs/attr.c.
  private mutating func setAttributes(
    _ prepare: (inout KernelCall) throws(Stop) -> Rule
  ) throws(Stop) -> Rule {
    try findTarget()
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current) }
    try mustNotBeFixed()
    try mustBeMapped(current, .EOVERFLOW)
    try mustBeInWritableSubvolume()
    try mustAskKernel()
    let rule = try prepare(&self)
    try mustKnowFileSystem(current, storesModes: true)
    return rule
  }

  /// Stops where setattr_prepare() of fs/attr.c asks for no owner, because a daemon or server decides: ATTR_FORCE of
  /// fuse_do_setattr() in fs/fuse/dir.c, and nfs_setattr() of fs/nfs/inode.c.
  private func mustAskKernel() throws(Stop) {
    switch traits[mount(current)].rules.authority {
    case .kernel, .unknown, .server(checksModes: true): return
    case .server(checksModes: false): throw undetermined(.networkFileSystem, current)
    case .fuse(_, _, _, let checksModes):
      if !checksModes { throw undetermined(.fuseDaemon, current) }
    }
  }

  /// Mirrors may_setattr() of fs/attr.c and may_write_xattr() of fs/xattr.c.
  private func mustNotBeFixed() throws(Stop) {
    if isFixed(current) { throw refuse(.EPERM, .immutable, current) }
    if inodes[current].isAppendOnly { throw refuse(.EPERM, .appendOnly, current) }
  }

  private mutating func mustOwn() throws(Stop) -> Rule {
    guard try ownerOrCapable(current) else { throw refuse(.EPERM, .notOwner, current) }
    return mappedUser(inodes[current].uid, current) == subject.user.fileSystem
      ? .owner : .capFowner
  }

  /// Mirrors make_kuid() and make_kgid() of kernel/user_namespace.c: the ids are those of the caller's namespace.
  private func mustBeNamed(_ uid: UInt32?, _ gid: UInt32?) throws(Stop) {
    if uid ?? gid == nil { return }
    if facts.overflow != nil || subject.userNamespace != nil {
      guard let mapping = facts.overflow?.mapping ?? subject.userNamespace else {
        throw undetermined(.unmappedID, current)
      }
      let inNamespace = facts.overflow?.mapping == nil
      func isNamed(_ id: UInt32?, _ map: IDMap) -> Bool {
        id.map { (inNamespace ? map.inside($0) : map.outside($0)) != nil } ?? true
      }
      if !isNamed(uid, mapping.users) || !isNamed(gid, mapping.groups) {
        throw refuse(.EINVAL, .unmappedSubject, current)
      }
    }
    // The mount may give them other numbers, or none.
    let place = mounts[mount(current)]
    if place.idMapping == nil, place.idMappingIsUnreadable {
      throw undetermined(.unreadableIDMapping, current)
    }
  }

  /// Mirrors chown_common() of fs/open.c, then chown_ok() and chgrp_ok() of fs/attr.c.
  private mutating func changeOwner(_ uid: UInt32?, _ gid: UInt32?) throws(Stop) -> Rule {
    try findTarget()
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current) }
    try mustBeNamed(uid, gid)
    try mustNotBeFixed()
    let (owner, group) = (
      mappedUser(inodes[current].uid, current), mappedGroup(inodes[current].gid, current)
    )
    if let mapping = mounts[mount(current)].idMapping {
      if let uid, mapping.users.inside(uid) == nil {
        throw refuse(.EOVERFLOW, .unmappedSubject, current)
      }
      if let gid, mapping.groups.inside(gid) == nil {
        throw refuse(.EOVERFLOW, .unmappedSubject, current)
      }
    }
    if uid == nil && owner == nil || gid == nil && group == nil {
      throw refuse(.EOVERFLOW, .unmappedOwner, current)
    }
    try mustBeInWritableSubvolume()
    try mustAskKernel()
    let isOwner = try owner.map { user throws(Stop) in try isSubject(user, current, .target) }
    let isNamed = uid != nil || gid != nil
    let mayGive = isNamed && (uid == nil || isOwner == true && uid == owner)
    let mayRegroup =
      gid == nil || isOwner == true && (gid == group || gid.map(subject.isMember(of:)) == true)
    if !mayGive || !mayRegroup {
      // An id that is not mapped can be given away by whoever may in the namespace of the superblock.
      let isCapable = try isCapable(.chown, current)
      let isCapableAtAll = subject.effective.contains(.chown) && subject.userNamespace == nil
      guard
        isCapable
          || (mayGive || owner == nil && isCapableAtAll)
            && (mayRegroup || group == nil && isCapableAtAll)
      else { throw refuse(.EPERM, .needsChown, current) }
    }
    // Set-id bits go, which is a chmod(2).
    if try dropsSetID(group) { _ = try mustOwn() }
    try mustKnowFileSystem(current, storesModes: true)
    return mayGive && mayRegroup ? .owner : .capChown
  }

  /// Mirrors chown_common() of fs/open.c and setattr_should_drop_sgid() of fs/attr.c.
  private mutating func dropsSetID(_ group: UInt32?) throws(Stop) -> Bool {
    let inode = inodes[current]
    if inode.kind == .directory { return false }
    if inode.mode & 0o4000 != 0 { return true }
    guard inode.mode & 0o2000 != 0 else { return false }
    if inode.mode & 0o010 != 0 { return true }
    if let group, subject.isMember(of: group) { return false }
    return !(try isCapable(.fsetid, current))
  }

  /// Mirrors may_setattr() of fs/attr.c for ATTR_TOUCH.
  private mutating func touch() throws(Stop) -> Rule {
    try findTarget()
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current) }
    if isFixed(current) { throw refuse(.EPERM, .immutable, current) }
    let rule: Rule
    if try ownerOrCapable(current) {
      rule = try mustOwn()
    } else {
      rule = try permission(current, .write, .target)
    }
    try mustBeMapped(current, .EOVERFLOW)
    try mustBeInWritableSubvolume()
    try mustKnowFileSystem(current, storesModes: true)
    return rule
  }

  /// Mirrors xattr_permission() of fs/xattr.c for the attributes of users.
  private mutating func setAttribute() throws(Stop) -> Rule {
    try findTarget()
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current) }
    try mustNotBeFixed()
    try mustBeMapped(current, .EPERM)
    let kind = inodes[current].kind
    guard kind == .regular || kind == .directory else {
      throw refuse(.EPERM, .notAFile, current)
    }
    if kind == .directory, inodes[current].mode & 0o1000 != 0 { _ = try mustOwn() }
    let rule = try permission(current, .write, .target)
    if case .fixed = mounts[mount(current)].creation {
      throw refuse(.EOPNOTSUPP, .notSupported, current)
    }
    try mustKnowFileSystem(current)
    return rule
  }

  /// Mirrors vfs_truncate() of fs/open.c.
  private mutating func truncate() throws(Stop) -> Rule {
    try findTarget()
    switch inodes[current].kind {
    case .directory: throw refuse(.EISDIR, .isDirectory, current)
    case .regular: break
    default: throw refuse(.EINVAL, .notAFile, current)
    }
    let rule = try permission(current, .write, .target)
    if mountIsReadOnly(current) { throw refuse(.EROFS, .readOnlyMount, current) }
    if inodes[current].isAppendOnly { throw refuse(.EPERM, .appendOnly, current) }
    try landlock(.truncate, current)
    try mustHaveKey()
    if mounts[mount(current)].mayBelongToNamespace, traits[mount(current)].copiesUp {
      throw undetermined(.fileSystemRules, current)
    }
    return rule
  }

  // MARK: - What file systems and mounts add

  private func isFixed(_ inode: Int) -> Bool {
    inodes[inode].isImmutable || traits[mount(inode)].isImmutable
  }

  private func mustBeMapped(_ inode: Int, _ errno: Errno) throws(Stop) {
    if mappingIsUnknown(inode) { throw undetermined(.unreadableIDMapping, inode) }
    if mappedUser(inodes[inode].uid, inode) == nil || mappedGroup(inodes[inode].gid, inode) == nil {
      throw refuse(errno, .unmappedOwner, inode)
    }
  }

  /// Mirrors btrfs_setattr() of fs/btrfs/inode.c, which asks for no right.
  private func mustBeInWritableSubvolume() throws(Stop) {
    if inodes[current].subvolume?.isReadOnly == true {
      throw refuse(.EROFS, .readOnlySubvolume, current)
    }
  }

  private func mustShareSubvolume(_ inode: Int, _ directory: Int) throws(Stop) {
    if inodes[inode].subvolume != inodes[directory].subvolume {
      throw refuse(.EXDEV, .otherSubvolume, directory)
    }
  }

  /// Mirrors btrfs_rename() of fs/btrfs/inode.c: only a whole subvolume moves to another one, and none
  /// is replaced.
  private func mayLeaveSubvolume(
    _ file: Int, from old: Int, to new: Int, replacing replaced: Int?
  ) throws(Stop) {
    if inodes[file].subvolume == inodes[old].subvolume { try mustShareSubvolume(old, new) }
    if let replaced, inodes[replaced].subvolume != inodes[new].subvolume {
      throw refuse(.ENOTEMPTY, .notEmpty, replaced)
    }
  }

  /// Refuses links and nodes on file systems without them, such as FAT.
  private func mustSupportNodes() throws(Stop) {
    if case .fixed = mounts[mount(current)].creation {
      throw refuse(.EPERM, .notSupported, current, .create)
    }
  }

  /// Stops as undetermined where the file system has rules of its own, which may refuse.
  private func mustKnowFileSystem(
    _ inode: Int, storesModes: Bool = false, movesDirectory: Bool = false
  ) throws(Stop) {
    let own = mounts[mount(inode)]
    let isKnown =
      switch own.creation {
      case .ordinary: true
      case .fixed: !storesModes
      case .unknown: false
      }
    guard isKnown, !traits[mount(inode)].copiesUp || !own.mayBelongToNamespace else {
      throw undetermined(.fileSystemRules, inode)
    }
    // ovl_rename() of fs/overlayfs/dir.c answers EXDEV for a folder of a lower layer.
    if movesDirectory, own.fileSystem == "overlay", !own.isOtherMachine,
      !own.superblockOptions.parts(by: ",").contains("redirect_dir=on")
    {
      throw undetermined(.fileSystemRules, inode)
    }
  }
}
