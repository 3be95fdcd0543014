extension ReasonFinder {
  /// Returns the reason why a rule refuses.
  func refusal(
    _ ask: Ask, _ decision: Decision, _ errno: Errno, steps: [WalkStep]
  ) -> Reason {
    guard let inode = decision.inode else {
      return Reason(.noDevice, .proven, "the path \(ask.path) cannot be resolved (\(errno))")
    }
    let place = facts.path(of: inode)
    let evidence =
      [modeAndOwners(inode)] + (facts.inodes[inode].acl?.entries.map(\.description) ?? [])
    if let rule = decision.rule.bits {
      let asked: Permissions = decision.step == .walk ? .execute : ask.need
      var (code, message) = bitRefusal(rule, inode, asked)
      if isUnheeded(inode, asked) {
        code = .aclNotHonoured
        message =
          "the ACL would let \(name) in, but the kernel honours no ACLs on \(mountPoint(inode)) (\(modeAndOwners(inode)))"
      }
      if decision.step == .walk {
        return Reason(
          .parentSearch, .proven, "\(name) may not search \(place): \(message)",
          evidence: evidence)
      }
      return Reason(code, .proven, message, evidence: evidence)
    }
    let (code, message) = otherRefusal(decision, inode, place, steps: steps)
    return Reason(code, .proven, message, evidence: evidence)
  }

  /// Whether an ACL grants access that the kernel does not heed on this mount.
  private func isUnheeded(_ inode: Int, _ asked: Permissions) -> Bool {
    let mount = facts.inodes[inode].mount
    guard facts.inodes[inode].acl != nil, facts.mounts[mount].rules.honoursACLs == false else {
      return false
    }
    var heeding = facts
    heeding.mounts[mount].isOfOtherMachine = true
    return AccessEvaluator(facts: heeding, credentials: inspection.subject.credentials)
      .permits(asked, of: inode)
  }

  private func bitRefusal(
    _ rule: BitRule, _ inode: Int, _ need: Permissions
  ) -> (Reason.Code, String) {
    let facts = facts.inodes[inode]
    let seen = "(\(modeAndOwners(inode)))"
    let group = users.groupName(facts.gid)
    func lacks(_ have: Permissions) -> String {
      "\(have), which lacks \(need.subtracting(have).letters)"
    }
    func mask(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      let mask = facts.acl?.mask ?? []
      return (
        .aclMask,
        "the ACL grants \(whose) \(permissions), but the mask \(mask) removes \(need.subtracting(mask).letters) \(seen)"
      )
    }
    func entry(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      (.aclEntry, "the ACL entry for \(whose) is \(lacks(permissions)) \(seen)")
    }
    switch rule {
    case .owner:
      return (.ownerBits, "\(name) is the owner, and the owner has \(lacks(facts.bits(6))) \(seen)")
    case .group(false):
      return (
        .groupBits,
        "\(name) is in group \(group), and the group has \(lacks(facts.bits(3))) \(seen)"
      )
    case .other(false) where facts.bits(3).isSuperset(of: need):
      return (
        .notInGroup, "\(name) is not in group \(group) \(seen) and no ACL entry names \(name)"
      )
    case .other(false):
      return (.otherBits, "\(name) is neither the owner nor in group \(group) \(seen)")
    case .group(true), .other(true):
      return (
        .aclMask,
        "the ACL mask is empty, so no ACL entry counts, not even one for \(name) \(seen)"
      )
    case .aclUser(let id, false): return entry(name, facts.entry(.user, id))
    case .aclOwningGroup(false):
      return entry("group \(group), which \(name) is in,", facts.entry(.owningGroup))
    case .aclGroup(let id, false):
      return entry(
        "group \(users.groupName(id)), which \(name) is in,", facts.entry(.group, id))
    case .aclUser(let id, true): return mask("user:\(name)", facts.entry(.user, id))
    case .aclOwningGroup(true): return mask("group \(group)", facts.entry(.owningGroup))
    case .aclGroup(let id, true):
      return mask("group \(users.groupName(id))", facts.entry(.group, id))
    case .aclOther: return noEntry(facts, need, seen)
    }
  }

  /// Returns the reason if no ACL entry matches the subject.
  private func noEntry(
    _ facts: InodeFacts, _ need: Permissions, _ seen: String
  ) -> (Reason.Code, String) {
    let mask = facts.acl?.mask ?? .all
    let groups = facts.acl?.entries.filter { $0.tag == .owningGroup || $0.tag == .group } ?? []
    if groups.contains(where: { $0.permissions.intersection(mask).isSuperset(of: need) }) {
      return (
        .notInGroup,
        "\(name) is in no group to which the ACL grants \(need.letters), and no ACL entry names \(name) \(seen)"
      )
    }
    let bits = facts.bits(0)
    return (
      .otherBits,
      "no ACL entry is for \(name) or a group of \(name), and others have \(bits), which lacks \(need.subtracting(bits).letters)"
    )
  }

  private func otherRefusal(
    _ decision: Decision, _ inode: Int, _ place: PathBytes, steps: [WalkStep]
  ) -> (Reason.Code, String) {
    let errno = decision.errno?.description ?? ""
    switch decision.rule {
    case .noDeviceMount:
      return (
        .nodevMount,
        "\(place) is on \(mountPoint(inode)), and the mount allows no devices (nodev)"
      )
    case .noExecuteMount:
      return (
        .noexecMount,
        "\(place) is on \(mountPoint(inode)), and the mount allows no programs (noexec)"
      )
    case .readOnlyMount, .readOnlySuperblock:
      return (
        .readOnlyMount,
        "\(place) is on \(mountPoint(inode)), which is mounted read-only (\(errno))"
      )
    case .protectedSymlink:
      return (
        .parentSearch,
        "\(place) is another user's symbolic link in a sticky, world-writable directory, and the kernel does not follow such links (fs.protected_symlinks)"
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
    case .driver where decision.errno == .ENXIO || decision.errno == .ENODEV:
      return (.noDriver, "\(place) exists, but no driver handles it (\(errno))")
    case .driver: return (.driver, "the driver of \(place) refuses access (\(errno))")
    case .fuseOtherUser:
      return (
        .networkFS,
        "\(mountPoint(inode)) is another user's FUSE mount without allow_other (\(errno))"
      )
    case .unmappedOwner, .unmappedSubject:
      let whose = decision.rule == .unmappedOwner ? "its owner or group" : name
      return (.usernsUnmapped, "the mount of \(place) has no id mapping for \(whose) (\(errno))")
    case .locked:
      let reason = locked(place, [])
      return (reason.code, reason.message)
    default:
      if decision.rule.layer == .lookup {
        return lookupRefusal(decision.rule, inode, place, steps)
      }
      return (.driver, "the rule \(decision.rule) refuses access to \(place) (\(errno))")
    }
  }

  private func mountPoint(_ inode: Int) -> String {
    let point = facts.mounts[facts.inodes[inode].mount].point
    return point.isEmpty ? "a mount" : point.description
  }

  /// Returns the paths of links that lead in a circle, in their order; empty if none do.
  private func circle(_ steps: [WalkStep]) -> [String] {
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

  private func lookupRefusal(
    _ rule: Rule, _ inode: Int, _ place: PathBytes, _ steps: [WalkStep]
  ) -> (Reason.Code, String) {
    switch rule {
    case .missing: return missing(place, steps)
    case .notADirectory: return (.noDevice, "\(place) is not a directory")
    case .tooManyLinks:
      let circle = circle(steps)
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
    case .emptyPath: return (.noDevice, "the path is empty (ENOENT)")
    default:
      return (.noDevice, "\(place) is a \(facts.inodes[inode].kind.rawValue), not a device")
    }
  }

  private func missing(_ place: PathBytes, _ steps: [WalkStep]) -> (Reason.Code, String) {
    let missing = facts.missingPath(steps) ?? place
    for step in steps.reversed() {
      guard case .link(let link) = step.event else { continue }
      return (
        .danglingSymlink,
        "\(facts.path(of: link)) is a symbolic link, but \(missing) does not exist"
      )
    }
    return (.noDevice, "there is no \(missing)\(relativeTo(missing))")
  }

  /// Returns where a relative path of another process begins; empty for other paths.
  private func relativeTo(_ path: PathBytes) -> String {
    guard !path.isAbsolute, let process = inspection.subject.process else { return "" }
    let folder =
      inspection.isSaved
      ? nil : inspection.system.destination(ofLink: PathBytes("/proc/\(process)/cwd"))
    return folder.map { " in \($0), the working directory of process \(process)" }
      ?? " in the working directory of process \(process)"
  }
}
