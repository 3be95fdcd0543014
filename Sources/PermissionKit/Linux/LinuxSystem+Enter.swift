internal import CCap

// Asking the kernel in another process's place.
extension LinuxSystem {
  /// The time limit for all steps, in milliseconds: a cgroup may be frozen or starved.
  private static let enteringLimit: Int32 = 2000

  /// A child joins the process's cgroup and namespaces, takes on its root, ids and capabilities, opens
  /// the path and calls faccessat2(2).
  package func enter(
    _ process: Int32, as credentials: Credentials, path: PathBytes, flags: OpenFlags?,
    need: Permissions
  ) throws(Errno) -> ProcessProbe {
    if path.bytes.contains(0) { throw .EINVAL }
    var descriptors: [Descriptor] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    func open(_ path: PathBytes, _ flags: OpenFlags) throws(Errno) -> Int32 {
      let descriptor = try openat(.currentDirectory, path, flags, mode: 0)
      descriptors.append(descriptor)
      return descriptor.rawValue
    }
    var identity = ccap_identity()
    let handle = try pidfd_open(process)
    descriptors.append(handle)
    identity.pidfd = handle.rawValue
    // What was read about the process is still true of the one that the handle stands for.
    guard status(ofProcess: process)?.credentials.user == credentials.user else { throw .ESTALE }
    identity.root = try open(PathBytes("/proc/\(process)/root"), [.path, .directory])
    identity.cwd = try open(PathBytes("/proc/\(process)/cwd"), [.path, .directory])
    let own = cgroups(of: nil)
    for group in cgroups(of: process) where !own.contains(group) && identity.cgroup_count < 2 {
      guard
        let file = group.folders.lazy.compactMap({
          try? open($0.appending("cgroup.procs"), .writeOnly)
        }).first
      else { return .failed(.cgroup, .ENOENT) }
      if identity.cgroup_count == 0 {
        identity.cgroups.0 = file
      } else {
        identity.cgroups.1 = file
      }
      identity.cgroup_count += 1
    }
    guard try take(on: credentials, of: process, &identity) else {
      return .failed(.ids, .EOVERFLOW)
    }
    let groups = credentials.groups
    identity.group_count = UInt64(groups.count)
    var entered = ccap_entered()
    let wanted = flags.map { $0.union([.nonBlocking, .noControllingTerminal]).rawValue } ?? -1
    let result = unsafe groups.withUnsafeBufferPointer { groups in
      unsafe withCString(path) {
        unsafe ccap_enter(
          &identity, groups.baseAddress, $0, wanted, Int32(need.rawValue), Self.enteringLimit,
          &entered)
      }
    }
    _ = try check(result)
    if let step = ProcessProbe.Step(rawValue: entered.failed) {
      return .failed(step, Errno(rawValue: entered.error))
    }
    func answer(_ number: Int32) -> Errno? { number == 0 ? nil : Errno(rawValue: number) }
    return .answered(opened: answer(entered.opened), accessed: answer(entered.accessed))
  }

  /// Fills in the ids as the process's own user namespace has them, and the capabilities.
  ///
  /// - Returns: Whether every id has a number in the namespace.
  private func take(
    on credentials: Credentials, of process: Int32, _ identity: inout ccap_identity
  ) throws(Errno) -> Bool {
    let theirs = try status(of: PathBytes("/proc/\(process)/ns/user"))
    let own = try status(of: "/proc/self/ns/user")
    let isSame = theirs.inode == own.inode && theirs.fileSystem == own.fileSystem
    identity.joins_users = isSame ? 0 : 1
    let map = isSame ? nil : credentials.userNamespace
    func inside(_ id: UInt32, _ ids: IDMap?) -> UInt32? { ids == nil ? id : ids?.inside(id) }
    let (user, group) = (credentials.user, credentials.group)
    let uids = [user.real, user.effective, user.fileSystem].compactMap {
      inside($0, map?.users)
    }
    let gids = [group.real, group.effective, group.fileSystem].compactMap {
      inside($0, map?.groups)
    }
    guard uids.count == 3, gids.count == 3 else {
      return false
    }
    // The saved ids decide nothing about files.
    identity.uids = (uids[0], uids[1], uids[1])
    identity.fsuid = uids[2]
    identity.gids = (gids[0], gids[1], gids[1])
    identity.fsgid = gids[2]
    identity.effective = credentials.effective.rawValue
    identity.permitted = credentials.permitted.rawValue
    return true
  }
}
