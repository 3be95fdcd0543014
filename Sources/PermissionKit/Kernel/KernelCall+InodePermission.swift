/// The permissions of one inode: inode_permission() of fs/namei.c and the functions that it calls.
extension KernelCall {
  /// Mirrors inode_permission() of fs/namei.c.
  ///
  /// - Returns: The rule that granted access.
  mutating func permission(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> Rule {
    if grantsEverything { return .nothingAsked }
    do throws(Stop) {
      let rule = try checkPermission(inode, want, step)
      let isOpen = rule.layer == .unknown
      if isOpen, doubt == nil { doubt = undetermined(rule, inode, step).decision }
      steps?.append(
        WalkStep(event: .permission(inode, need: want, isOpen ? .undetermined : .granted, rule)))
      return rule
    } catch {
      steps?.append(
        WalkStep(
          event: .permission(inode, need: want, error.decision.verdict, error.decision.rule)))
      var stop = error
      stop.decision.asked = want
      throw stop
    }
  }

  private mutating func checkPermission(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> Rule {
    let kind = inodes[inode].kind
    if mappingIsUnknown(inode) { throw undetermined(.unreadableIDMapping, inode, step) }
    if want.contains(.write) {
      if mounts[mount(inode)].superblockIsReadOnly, !kind.isSpecial {
        throw refuse(.EROFS, .readOnlySuperblock, inode, step)
      }
      if inodes[inode].isImmutable || traits[mount(inode)].isImmutable {
        throw refuse(.EPERM, .immutable, inode, step)
      }
      if mappedUser(inodes[inode].uid, inode) == nil
        || mappedGroup(inodes[inode].gid, inode) == nil
      {
        throw refuse(.EACCES, .unmappedOwner, inode, step)
      }
      // btrfs_permission() of fs/btrfs/inode.c.
      if inodes[inode].subvolume?.isReadOnly == true, !kind.isSpecial {
        throw refuse(.EROFS, .readOnlySubvolume, inode, step)
      }
    }
    let rule = try fileSystemPermission(inode, want, step)
    if want.contains(.write), !kind.isSpecial, let subvolume = inodes[inode].subvolume,
      subvolume.isReadOnly == nil
    {
      throw undetermined(.unreadable, inode, step)
    }
    if kind.isDevice, let cgroup = facts.deviceCgroup, let device = inodes[inode].device,
      device != DeviceNumber(major: 0, minor: 0), !cgroup.allows(want, kind, device)
    {
      throw refuse(.EPERM, .deviceCgroup, inode, step)
    }
    return rule
  }

  /// Whether the mount may map no id of the inode: its maps could not be read, and an id is shown as one that has no
  /// other number, see from_kuid_munged() of kernel/user_namespace.c.
  func mappingIsUnknown(_ inode: Int) -> Bool {
    guard mounts[mount(inode)].idMappingIsUnreadable else { return false }
    func isUnmapped(_ id: UInt32) -> Bool { id == 65_534 || id == .max }
    return isUnmapped(inodes[inode].uid) || isUnmapped(inodes[inode].gid)
      || inodes[inode].acl?.entries.contains {
        ($0.tag == .user || $0.tag == .group) && isUnmapped($0.id)
      } == true
  }

  /// Mirrors the file system's own `->permission`, if there is one.
  ///
  /// - Returns: The rule that granted access; a rule of the layer `unknown` where somebody else has
  ///   the last word.
  private mutating func fileSystemPermission(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> Rule {
    // proc_fd_permission() of fs/proc/fd.c.
    if inodes[inode].isOwnLink, inodes[inode].kind == .directory { return .nothingAsked }
    if traits[mount(inode)].isProc, procDecides(inode, want) {
      throw undetermined(.fileSystemRules, inode, step)
    }
    if traits[mount(inode)].isTrigger { throw undetermined(.automount, inode, step) }
    let rules = traits[mount(inode)].rules
    switch rules.authority {
    case .kernel: return try generic(inode, want, step)
    case .unknown: throw undetermined(.unreadable, inode, step)
    case .server(let checksModes):
      if !checksModes { return .networkFileSystem }
      let rule = try generic(inode, want, step)
      return want.isEmpty ? rule : .serverDecides
    case .fuse(let uid, let gid, let allowsOthers, let checksModes):
      // fuse_allow_current_process() and fuse_permission() of fs/fuse/dir.c compare the real,
      // effective and saved ids. The saved ids are assumed to equal the effective ones.
      let (user, group) = (subject.user, subject.group)
      // The numbers are those of the namespace in which it was mounted.
      if !allowsOthers, facts.overflow != nil || subject.userNamespace != nil {
        throw undetermined(.fuseDaemon, inode, step)
      }
      if !allowsOthers,
        [user.real, user.effective] != [uid, uid] || [group.real, group.effective] != [gid, gid]
      {
        throw refuse(.EACCES, .fuseOtherUser, inode, step)
      }
      if inodes[inode].isClosed { throw undetermined(.fuseDaemon, inode, step) }
      if !checksModes { return .fuseDaemon }
      let rule = try generic(inode, want, step)
      return want.isEmpty || rules.daemonIsTrusted ? rule : .serverDecides
    }
  }

  /// Whether proc decides this question by its own rules.
  ///
  /// The files of proc have their own rules. Each directory of proc has its own rule for writing
  /// (proc_sys_permission() of fs/proc/proc_sysctl.c; S_IMMUTABLE of fs/proc/base.c, which statx(2)
  /// does not show). fdinfo and map_files of /proc/PID call ptrace_may_access(). With hidepid,
  /// every directory /proc/PID does.
  private func procDecides(_ inode: Int, _ want: Permissions) -> Bool {
    switch inodes[inode].kind {
    case .regular: return !want.isEmpty
    case .directory:
      if want.contains(.write) { return true }
      // A directory that was not found by name can be any directory.
      guard let name = facts.name(of: inode) else { return inode != facts.root }
      if name == "fdinfo" || name == "map_files" { return true }
      let parent = inodes[inode].parent
      return traits[mount(inode)].hidesProcesses && mount(inode) == mount(parent)
    default: return false
    }
  }

  // MARK: - generic_permission()

  /// Mirrors generic_permission() of fs/namei.c, for every value of the unknown facts.
  mutating func generic(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> Rule {
    if want.isEmpty { return .nothingAsked }
    let hasACL = inodes[inode].acl != nil || inodes[inode].aclError != nil
    guard hasACL, traits[mount(inode)].rules.honoursACLs == nil else {
      return try decided(inode, want, step)
    }
    // Nobody can see whether the kernel honours this ACL, so both answers must be the same.
    ignoresACLs = true
    defer { ignoresACLs = false }
    let bare = Result { () throws(Stop) in try decided(inode, want, step) }
    ignoresACLs = false
    let full = Result { () throws(Stop) in try decided(inode, want, step) }
    switch (bare, full) {
    case (.success, .success), (.failure, .failure): return try full.get()
    default: throw undetermined(.ignoredACL, inode, step)
    }
  }

  /// Decides by mode, ACL and capabilities, for every value of the unknown ids.
  private mutating func decided(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> Rule {
    assumptions = 0
    assumed = 0
    let (granted, rule) = try genericPermission(inode, want, step)
    if assumed > 0 {
      var most = assumed
      for other in 1...UInt16.max {
        if most >= 12 || other >= 1 << UInt16(most) { break }
        assumptions = other
        assumed = 0
        let (granted2, _) = try genericPermission(inode, want, step)
        if granted2 != granted { throw undetermined(.unmappedID, inode, step) }
        most = max(most, assumed)
      }
      if most >= 12 { throw undetermined(.unmappedID, inode, step) }
    }
    if granted { return rule }
    throw refuse(.EACCES, rule, inode, step)
  }

  private mutating func genericPermission(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> (Bool, Rule) {
    let (granted, rule) = try modeAndACL(inode, want, step)
    if granted { return (true, rule) }
    // Either mode and ACL grant all bits of `want`, or a capability does; never a part each.
    if inodes[inode].kind == .directory {
      if !want.contains(.write), capable(.dacReadSearch, inode) { return (true, .capDACReadSearch) }
      if capable(.dacOverride, inode) { return (true, .capDACOverride) }
    } else {
      if want == .read, capable(.dacReadSearch, inode) { return (true, .capDACReadSearch) }
      if !want.contains(.execute) || inodes[inode].mode & 0o111 != 0,
        capable(.dacOverride, inode)
      {
        return (true, .capDACOverride)
      }
    }
    return (false, rule)
  }

  /// Mirrors acl_permission_check() of fs/namei.c.
  private mutating func modeAndACL(
    _ inode: Int, _ want: Permissions, _ step: Decision.Step
  ) throws(Stop) -> (Bool, Rule) {
    let mode = inodes[inode].mode
    func bits(_ shift: UInt16) -> Permissions { Permissions(rawValue: UInt8(mode >> shift & 7)) }
    if let owner = mappedUser(inodes[inode].uid, inode), matchesUser(owner) {
      return (bits(6).isSuperset(of: want), .ownerBits)
    }
    let honoursACLs = !ignoresACLs && traits[mount(inode)].rules.honoursACLs != false
    let mayHaveACL = honoursACLs && (inodes[inode].acl != nil || inodes[inode].aclError != nil)
    if mayHaveACL, mode & 0o070 != 0 {
      if inodes[inode].aclError != nil { throw undetermined(.unreadable, inode, step) }
      return posixACL(inode, want)
    }
    if let group = mappedGroup(inodes[inode].gid, inode), matchesGroup(group) {
      return (bits(3).isSuperset(of: want), mayHaveACL ? .groupBitsMaskEmpty : .groupBits)
    }
    return (bits(0).isSuperset(of: want), mayHaveACL ? .otherBitsMaskEmpty : .otherBits)
  }

  /// Mirrors posix_acl_permission() of fs/posix_acl.c.
  private mutating func posixACL(_ inode: Int, _ want: Permissions) -> (Bool, Rule) {
    guard let acl = inodes[inode].acl else { return (false, .aclOther) }
    var refusingGroup: Rule?
    for entry in acl.entries {
      let holds = entry.permissions.isSuperset(of: want)
      switch entry.tag {
      case .user:
        if let id = mappedUser(entry.id, inode), matchesUser(named(id, facts.overflow?.uid)) {
          return masked(acl, entry, want, .aclUser(entry.id), .maskLimitsUser(entry.id))
        }
      case .owningGroup:
        if let id = mappedGroup(inodes[inode].gid, inode), matchesGroup(id) {
          if holds {
            return masked(acl, entry, want, .aclOwningGroup, .maskLimitsOwningGroup)
          }
          refusingGroup = refusingGroup ?? .aclOwningGroup
        }
      case .group:
        if let id = mappedGroup(entry.id, inode), matchesGroup(named(id, facts.overflow?.gid)) {
          if holds {
            return masked(acl, entry, want, .aclGroup(entry.id), .maskLimitsGroup(entry.id))
          }
          refusingGroup = refusingGroup ?? .aclGroup(entry.id)
        }
      case .other:
        if let refusingGroup { return (false, refusingGroup) }
        return (holds, .aclOther)
      case .owner, .mask: break
      }
    }
    return (false, refusingGroup ?? .aclOther)
  }

  /// Returns the id of an entry; one that the reader's namespace does not map is shown as -1, and may be the subject's,
  /// see posix_acl_fix_xattr_to_user() of fs/posix_acl.c.
  private func named(_ id: UInt32, _ overflow: UInt32?) -> UInt32 {
    id == .max ? overflow ?? id : id
  }

  private func masked(
    _ acl: AccessControlList, _ entry: AccessControlList.Entry, _ want: Permissions, _ rule: Rule,
    _ limited: Rule
  ) -> (Bool, Rule) {
    guard entry.permissions.isSuperset(of: want) else { return (false, rule) }
    guard let mask = acl.mask, !mask.isSuperset(of: want) else { return (true, rule) }
    return (false, limited)
  }

  // MARK: - Ids of files and of the subject

  /// Mirrors i_uid_into_vfsuid(): the user that an id on disk stands for on the inode's mount.
  func mappedUser(_ id: UInt32, _ inode: Int) -> UInt32? {
    guard let mapping = mounts[mount(inode)].idMapping else { return id }
    return mapping.users.outside(id)
  }

  /// Mirrors i_gid_into_vfsgid(): the group that an id on disk stands for on the inode's mount.
  func mappedGroup(_ id: UInt32, _ inode: Int) -> UInt32? {
    guard let mapping = mounts[mount(inode)].idMapping else { return id }
    return mapping.groups.outside(id)
  }

  /// Whether `id` is the subject's fsuid; an assumption if the view does not show it.
  private mutating func matchesUser(_ id: UInt32) -> Bool {
    guard id == subject.user.fileSystem else { return false }
    return id == facts.overflow?.uid ? assume() : true
  }

  /// Mirrors in_group_p(); an assumption if the view does not show the gid.
  private mutating func matchesGroup(_ id: UInt32) -> Bool {
    guard subject.isMember(of: id) else { return false }
    return id == facts.overflow?.gid ? assume() : true
  }

  /// Returns one of the two answers to a question that the facts leave open.
  private mutating func assume() -> Bool {
    defer { assumed += 1 }
    return assumed < 12 && assumptions & (1 << UInt16(assumed)) != 0
  }

  /// Whether `user` is the subject, for rules that have no other way to grant access.
  mutating func isSubject(
    _ user: UInt32, _ inode: Int, _ step: Decision.Step
  ) throws(Stop) -> Bool {
    guard user == subject.user.fileSystem else { return false }
    if user == facts.overflow?.uid { throw undetermined(.unmappedID, inode, step) }
    return true
  }

  /// Mirrors capable_wrt_inode_uidgid() of kernel/capability.c.
  private mutating func capable(_ capability: CapabilitySet, _ inode: Int) -> Bool {
    guard subject.effective.contains(capability),
      let user = mappedUser(inodes[inode].uid, inode),
      let group = mappedGroup(inodes[inode].gid, inode)
    else { return false }
    return namespaceMaps(user: user) && namespaceMaps(group: group)
  }

  private mutating func namespaceMaps(user: UInt32) -> Bool {
    if let overflow = facts.overflow, user == overflow.uid {
      return overflow.uidIsMapped ? assume() : false
    }
    guard let namespace = subject.userNamespace else { return true }
    return namespace.users.inside(user) != nil
  }

  private mutating func namespaceMaps(group: UInt32) -> Bool {
    if let overflow = facts.overflow, group == overflow.gid {
      return overflow.gidIsMapped ? assume() : false
    }
    guard let namespace = subject.userNamespace else { return true }
    return namespace.groups.inside(group) != nil
  }

  /// Mirrors inode_owner_or_capable() of fs/inode.c.
  mutating func ownerOrCapable(_ inode: Int) throws(Stop) -> Bool {
    guard let owner = mappedUser(inodes[inode].uid, inode) else { return false }
    if try isSubject(owner, inode, .target) { return true }
    guard subject.effective.contains(.fowner) else { return false }
    assumed = 0
    let isMapped = namespaceMaps(user: owner)
    if assumed > 0 { throw undetermined(.unmappedID, inode, .target) }
    return isMapped
  }

  /// Mirrors capable_wrt_inode_uidgid(), if only the capability could grant the request.
  mutating func isCapable(_ capability: CapabilitySet, _ inode: Int) throws(Stop) -> Bool {
    assumed = 0
    let isCapable = capable(capability, inode)
    if assumed > 0 { throw undetermined(.unmappedID, inode) }
    return isCapable
  }

  /// Mirrors fsuidgid_has_mapping() of include/linux/fs.h.
  func subjectIsMapped(_ step: Decision.Step) throws(Stop) {
    guard let mapping = mounts[mount(current)].idMapping else {
      if mounts[mount(current)].idMappingIsUnreadable {
        throw undetermined(.unreadableIDMapping, current, step)
      }
      return
    }
    if mapping.users.inside(subject.user.fileSystem) == nil
      || mapping.groups.inside(subject.group.fileSystem) == nil
    {
      throw refuse(.EOVERFLOW, .unmappedSubject, current, step)
    }
  }
}
