/// The sentence of a refusal by anything but the mode or the ACL.
struct LayerReason {
  let finder: ReasonFinder
  let decision: Decision
  /// The inode that refuses, and its path.
  let inode: Int
  let place: PathBytes
  let steps: [WalkStep]

  private var facts: AccessFacts { finder.facts }

  /// The code and the message.
  var text: (Reason.Code, String) {
    let errno = decision.errno?.description ?? ""
    let onMount = "\(place) is on \(facts.mountPoint(inode)),"
    switch decision.rule {
    case .noDeviceMount:
      return (.nodevMount, "\(onMount) and the mount allows no devices (nodev)")
    case .noExecuteMount:
      return (.noexecMount, "\(onMount) and the mount allows no programs (noexec)")
    case .readOnlyMount, .readOnlySuperblock:
      return (.readOnlyMount, "\(onMount) which is mounted read-only (\(errno))")
    case .readOnlySubvolume:
      return (.readOnlySubvolume, "\(place) is in a read-only subvolume of btrfs (\(errno))")
    case .protectedSymlink:
      return (
        .parentSearch,
        "\(place) is another user's symbolic link in a sticky, world-writable directory, and the kernel does not follow such links (fs.protected_symlinks)"
      )
    case .stickyDirectory: return (.protectedFile, inSticky)
    case .createOnDirectory, .writeToDirectory:
      return (
        .notPossible, "\(place) is a directory, which no program opens for writing (\(errno))"
      )
    case .createWithTrailingSlash:
      return (
        .notPossible, "a path that ends with / is of a directory, and not of a file (\(errno))"
      )
    case .makesNoFiles:
      let system = facts.mounts[facts.inodes[inode].mount].fileSystem
      return (
        .notPossible, "\(place) is on \(system), where only the kernel makes files (\(errno))"
      )
    case .kernfsMode:
      return (
        .notPossible,
        "the mode of \(place) shows what its driver can do, and no capability replaces a bit that is not there (\(errno))"
      )
    case .executeSpecialFile, .executeDirectory:
      return (
        .notPossible,
        "\(place) is a \(facts.inodes[inode].kind.noun), and only a file can be executed (\(errno))"
      )
    case .noSymlinkMount:
      return (
        .parentSearch,
        "\(place) is a symbolic link on a mount that does not follow links (nosymfollow)"
      )
    case .appendOnly: return (.appendOnly, "\(place) is append-only (chattr +a)")
    case .immutable:
      return (
        .immutable,
        facts.inodes[inode].isImmutable
          ? "\(place) is immutable (chattr +i)"
          : "\(place) is immutable because its whole file system is"
      )
    case .deviceCgroup: return (.deviceCgroup, "the device cgroup refuses \(place) (\(errno))")
    case .landlock:
      return (.landlockOrLSM, "a Landlock ruleset refuses \(place) (\(errno))")
    case .noTerminal:
      let process = finder.inspection.subject.process.map { "process \($0)" } ?? "this process"
      return (.noDevice, "\(process) has no controlling terminal, so it has no \(place) (\(errno))")
    case .kernelLog:
      return (
        .driver,
        facts.sysctls.kernelLogIsOff == true
          ? "kernel.printk_devkmsg is off, so nobody may open \(place) (\(errno))"
          : "kernel.dmesg_restrict is 1, so only who has CAP_SYSLOG may read \(place), and \(finder.name) has not (\(errno))"
      )
    case .driver where decision.errno == .ENXIO || decision.errno == .ENODEV:
      return (.noDriver, "\(place) exists, but no driver handles it (\(errno))")
    case .driver: return (.driver, "the driver of \(place) refuses access (\(errno))")
    case .fuseOtherUser:
      return (
        .networkFS,
        "\(facts.mountPoint(inode)) is a FUSE mount of \(finder.mounter(inode)) without allow_other, so no other user may enter it, not even root (\(errno))"
      )
    case .unmappedSubject where decision.errno == .EINVAL:
      return (
        .usernsUnmapped,
        "this user namespace does not map the new owner or group of \(place) (\(errno))"
      )
    case .unmappedOwner, .unmappedSubject:
      let whose = decision.rule == .unmappedOwner ? "its owner or group" : finder.name
      return (.usernsUnmapped, "the mount of \(place) has no id mapping for \(whose) (\(errno))")
    case .locked:
      let reason = finder.locked(place, [])
      return (reason.code, reason.message)
    default:
      if decision.rule.layer == .lookup {
        return lookup
      }
      return (.driver, "the rule \(decision.rule) refuses access to \(place) (\(errno))")
    }
  }

  /// The sentence of may_create_in_sticky() of fs/namei.c.
  private var inSticky: String {
    let file = facts.inodes[inode]
    let folder = facts.inodes[file.parent]
    let sysctl = file.kind == .fifo ? "fs.protected_fifos" : "fs.protected_regular"
    let value = file.kind == .fifo ? facts.sysctls.protectedFIFOs : facts.sysctls.protectedRegular
    let who = folder.mode & 0o002 != 0 ? "world" : "group"
    let setting = file.kind == .regular || file.kind == .fifo ? ", \(sysctl)=\(value ?? 1)" : ""
    return
      "the kernel opens \(place) with O_CREAT, as a shell's > does, only for its owner \(finder.users.userName(file.uid)): the folder is sticky and \(who)-writable (\(decision.errno?.description ?? "")\(setting))"
  }

  /// The paths of links that lead in a circle, in their order; empty if none do.
  private var circle: [String] {
    var links: [Int] = []
    for step in steps {
      guard case .link(let inode) = step.event else { continue }
      if let first = links.firstIndex(of: inode) {
        return links[first...].map { facts.path(of: $0).description }
      }
      links.append(inode)
    }
    return []
  }

  private var lookup: (Reason.Code, String) {
    switch decision.rule {
    case .missing: return missing
    case .notADirectory: return (.noDevice, "\(place) is not a directory")
    case .tooManyLinks:
      let circle = circle
      if circle.count == 1 {
        return (.danglingSymlink, "\(circle[0]) is a symbolic link that points at itself (ELOOP)")
      }
      if circle.count > 1 {
        let names = circle.dropLast().joined(separator: ", ") + " and " + circle[circle.count - 1]
        return (.danglingSymlink, "\(names) are symbolic links that point at each other (ELOOP)")
      }
      return (
        .danglingSymlink, "the path follows too many symbolic links, the last one \(place) (ELOOP)"
      )
    case .pathTooLong, .nameTooLong: return (.noDevice, "the path is too long (ENAMETOOLONG)")
    case .socketInode:
      return (
        .notPossible,
        "\(place) is a socket, which is connected and never opened (ENXIO); --to connect asks for that"
      )
    case .emptyPath: return (.noDevice, "the path is empty (ENOENT)")
    default:
      return (.noDevice, "\(place) is a \(facts.inodes[inode].kind.rawValue), not a device")
    }
  }

  private var missing: (Reason.Code, String) {
    let missing = facts.missingPath(steps) ?? place
    // Where the target of a link is there, and what follows it is not, nothing is wrong with the link.
    let isOfLink = steps.reversed().lazy.compactMap { step -> Bool? in
      if case .lookup(_, _, nil, let isOfLink) = step.event { isOfLink } else { nil }
    }.first
    for step in isOfLink == false ? [] : steps.reversed() {
      guard case .link(let link) = step.event else { continue }
      return (
        .danglingSymlink,
        "\(facts.path(of: link)) is a symbolic link, but \(missing) does not exist"
      )
    }
    // Of a process that /proc hides, the kernel says the same.
    let isProc = facts.mounts[facts.inodes[inode].mount].fileSystem == "proc"
    let isNumber = Int32(missing.lastComponent.description) != nil
    let hidden = isProc && isNumber ? ", or hidepid of /proc hides it" : ""
    return (.noDevice, "there is no \(missing)\(relativeTo(missing))\(hidden)")
  }

  /// Returns the folder that a relative path of another process starts at; empty for other paths.
  private func relativeTo(_ path: PathBytes) -> String {
    guard !path.isAbsolute, let process = finder.inspection.subject.process else { return "" }
    let folder =
      finder.inspection.isSaved
      ? nil : finder.inspection.system.destination(ofLink: PathBytes("/proc/\(process)/cwd"))
    return folder.map { " in \($0), the working directory of process \(process)" }
      ?? " in the working directory of process \(process)"
  }
}

extension AccessFacts {
  /// Returns the mount point of an inode, for people.
  func mountPoint(_ inode: Int) -> String {
    let point = mounts[inodes[inode].mount].point
    return point.isEmpty ? "a mount" : point.description
  }
}
