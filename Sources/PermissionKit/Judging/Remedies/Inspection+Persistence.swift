// How long changes last, by the place of what is changed.
extension Inspection {
  /// Returns how long mode and ACL of an inode last.
  func persistence(of index: Int) -> Persistence {
    let inode = facts.inodes[index]
    let mount = facts.mounts[inode.mount]
    let lasting = inMemory(index) ?? Persistence(inode.kind, on: mount.fileSystem, at: mount.point)
    guard !isSaved, context.root == "/" else { return lasting }
    if lasting == .permanent, isInSnapshot(index) { return .untilSnapshotIsDeleted }
    // What is in memory goes with the last process that has it mounted.
    if lasting == .untilReboot, processWithOwnMounts != nil,
      place(of: index) != facts.path(of: index)
    {
      return .untilProcessEnds
    }
    guard lasting == .permanent || mount.fileSystem == "tmpfs", let side = ownSide(mount) else {
      return lasting
    }
    return .shortest(of: [lasting, side])
  }

  /// Returns how long an attribute of a kernel object lasts that is no device; nil for other files.
  private func inMemory(_ index: Int) -> Persistence? {
    let (inode, path) = (facts.inodes[index], facts.path(of: index))
    let mount = facts.mounts[inode.mount]
    switch mount.fileSystem {
    // What a module or a file system put there goes with it, as what a driver put there goes with its device.
    case "sysfs" where ["kernel", "power"].contains { path.isBelow(mount.point.appending($0)) }:
      return .untilReboot
    case "cgroup", "cgroup2":
      let group = inode.kind == .directory ? path : path.parent
      // The top of a hierarchy of version 1 goes when nobody has it mounted.
      let isTop = group == mount.point && !mount.isPart && mount.fileSystem == "cgroup2"
      return isTop && isInFirstCgroupNamespace ? nil : .untilCgroupIsRemoved
    default: return nil
    }
  }

  /// Whether the top of the control groups that this process sees is that of the kernel, see `PROC_CGROUP_INIT_INO`.
  private var isInFirstCgroupNamespace: Bool {
    system.destination(ofLink: "/proc/self/ns/cgroup") == "cgroup:[4026531835]"
  }

  /// Returns how long the options of a mount last.
  func persistence(ofMount mount: Int) -> Persistence {
    if processWithOwnMounts != nil { return .untilProcessEnds }
    guard !isSaved, context.root == "/", let side = ownSide(facts.mounts[mount]) else {
      return .untilReboot
    }
    return .shortest(of: [.untilReboot, side])
  }

  /// Returns what gives a socket its permissions each time it is made, for people; nil for other files.
  func lastingForm(of index: Int) -> String? {
    guard !isSaved, facts.inodes[index].kind == .socket else { return nil }
    var holders = DeviceHolders(system, users)
    holders.findListening(at: facts.path(of: index))
    let names = holders.holders.compactMap(\.name)
    let setting = Self.socketSettings.first { one in names.contains { $0.hasPrefix(one.program) } }
    guard let setting else {
      return
        "whoever listens there makes the socket anew when it starts: what lasts is a setting of that program, or SocketGroup= and SocketMode= of a .socket unit"
    }
    return
      "\(setting.program) makes the socket anew when it starts: what lasts is \(setting.words)"
  }

  /// The settings by which programs give their sockets an owner and a mode.
  private static let socketSettings: [(program: String, words: String)] = [
    ("systemd", "SocketGroup= and SocketMode= of the .socket unit, see systemd.socket(5)"),
    ("php-fpm", "listen.group and listen.mode of the pool"),
    ("postgres", "unix_socket_group and unix_socket_permissions in postgresql.conf"),
    ("redis-server", "unixsocketperm in redis.conf"),
    ("dockerd", "\"group\" in daemon.json"),
    ("uwsgi", "chmod-socket and chown-socket"),
    ("gunicorn", "--umask, and --group"),
    ("memcached", "-a, its access mask"),
  ]

  /// Returns how long the container, sandbox or service of a mount lasts; nil for a mount of the
  /// machine.
  private func ownSide(_ mount: MountFacts) -> Persistence? {
    // What is mounted at / of a machine is the top of a file system, or a subvolume.
    guard HostSide.isOwn(mount), mount.point != "/" || HostSide.mayBeRoot(mount) else { return nil }
    for (place, _) in confinement.found {
      switch place {
      case .docker, .podman, .container, .flatpak, .snap, .bubblewrap, .firejail, .privateDevices:
        return .untilContainerEnds
      case .service: return .untilServiceRestart
      case .wsl: continue
      }
    }
    return nil
  }

  /// Whether an inode is in a snapshot of btrfs that lies within another subvolume.
  private func isInSnapshot(_ index: Int) -> Bool {
    guard let own = facts.inodes[index].subvolume else { return false }
    var (top, isWithin) = (index, false)
    for _ in facts.inodes.indices {
      let above = facts.inodes[top].parent
      if above == top { break }
      if facts.inodes[above].subvolume?.device != own.device {
        isWithin = facts.inodes[above].mount == facts.inodes[top].mount
        break
      }
      top = above
    }
    guard isWithin,
      let folder = try? system.openat(
        .currentDirectory, facts.path(of: top), [.readOnly, .directory], mode: 0)
    else { return false }
    defer { system.close(folder) }
    return (try? system.isSnapshot(folder)) == true
  }
}

// Groups, where a file system has no ACLs.
extension Inspection {
  /// Returns the groups of the subject, except that of root, and how many others than the owner of a file are in each;
  /// the smallest first.
  func groups(besides owner: UInt32) -> [(gid: UInt32, others: Int)] {
    guard !isSaved else { return [] }
    let ids = subject.credentials
    let gids = Set(ids.groups + [ids.group.fileSystem]).subtracting([0])
    let counted = gids.compactMap { gid in
      others(in: gid, than: [ids.user.fileSystem, owner]).map { (gid: gid, others: $0) }
    }
    return counted.sorted { ($0.others, $0.gid) < ($1.others, $1.gid) }
  }

  /// Returns how many other users than some and root, who needs no group, have a group; nil if it has no name or cannot
  /// be looked up.
  func others(in gid: UInt32, than users: Set<UInt32>) -> Int? {
    guard let holders = try? self.users.holders(of: gid) else { return nil }
    return holders.users.count { $0.uid != 0 && !users.contains($0.uid) } + holders.others.count
  }

  /// Whether a file may have capabilities, as ping(8) has, which chown(2) would clear, see setattr(2) of the kernel:
  /// `security_inode_killpriv()`.
  func hasCapabilities(_ index: Int) -> Bool {
    guard facts.inodes[index].kind == .regular else { return false }
    let path = facts.path(of: index)
    guard let reader = system.examiner(of: path),
      let file = try? reader.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
    else { return true }
    defer { reader.close(file) }
    return reader.hasCapabilities(file)
  }

  /// Returns the others who gain, for people; a group in which only the subject is, and the owner, is nobody else.
  func others(_ gains: [SubjectClasses.Gain], besides owner: UInt32) -> [String] {
    let known: Set = [subject.credentials.user.fileSystem, owner]
    return gains.filter { gain in
      guard case .groups(let gids) = gain.who else { return true }
      return !gids.contains { others(in: $0, than: known) == 0 }
    }.map(users.describe)
  }

  /// Returns the rule of udev that makes a change of a sysfs attribute each time its device is added, for people; nil for
  /// other files.
  func attributeRule(_ change: InodeChange) -> String? {
    guard facts.mounts[change.before.mount].fileSystem == "sysfs" else { return nil }
    var device = change.before.parent
    var names = [facts.path(of: change.inode).lastComponent]
    while facts.inodes[device].parent != device {
      let path = facts.path(of: device)
      if let link = system.destination(ofLink: path.appending("subsystem")) {
        let attribute = names.reversed().map(\.description).joined(separator: "/")
        let added = Permissions(
          rawValue: UInt8((change.after.mode & ~change.before.mode) >> 3 & 7)
        ).letters
        return
          "a rule in /etc/udev/rules.d makes it each time: ACTION==\"add\", SUBSYSTEM==\"\(link.lastComponent)\", KERNEL==\"\(path.lastComponent)\", RUN+=\"/bin/chgrp \(users.operand(ofGroup: change.after.gid)) /sys%p/\(attribute)\", RUN+=\"/bin/chmod g+\(added) /sys%p/\(attribute)\""
      }
      names.append(path.lastComponent)
      device = facts.inodes[device].parent
    }
    return nil
  }
}
