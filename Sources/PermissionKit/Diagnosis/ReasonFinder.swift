/// Turns a decision, and what the kernel itself said, into a status and reasons for people.
struct ReasonFinder {
  let users: UserDatabase
  let subject: Subject
  let facts: AccessFacts

  // MARK: - Status

  /// The status that a decision alone stands for.
  static func status(_ decision: Decision) -> AuthorizationStatus {
    switch decision.verdict {
    case .granted: .authorized
    case .undetermined: .notDetermined
    case .refused(let errno): status(errno, decision.rule)
    }
  }

  private static func status(_ errno: Errno, _ rule: Rule) -> AuthorizationStatus {
    switch rule {
    case .ownerBits, .groupBits, .otherBits, .groupBitsMaskEmpty, .otherBitsMaskEmpty, .aclUser,
      .aclOwningGroup, .aclGroup, .aclOther, .maskLimitsUser, .maskLimitsOwningGroup,
      .maskLimitsGroup:
      .denied
    case .missing, .notADirectory, .emptyPath, .pathTooLong, .nameTooLong, .tooManyLinks,
      .socketInode, .fifoWithoutReader, .fifoAccessMode:
      .unavailable
    case .driver: driverStatus(errno)
    default: .restricted
    }
  }

  /// What a driver's refusal stands for: permission had been granted by then.
  private static func driverStatus(_ errno: Errno) -> AuthorizationStatus {
    switch errno {
    case .ENXIO, .ENODEV: .unavailable
    // Nothing that is requested here ends another program's use: EBUSY is restricted too.
    default: .restricted
    }
  }

  /// The status when the kernel was asked as well; the kernel decides.
  static func status(_ decision: Decision, _ probe: Probe?) -> AuthorizationStatus {
    guard let probe else { return status(decision) }
    guard let errno = probe.errno else {
      if probe.method == .access, decision.isForDriver { return .notDetermined }
      return probe.isBusy ? .restricted : .authorized
    }
    if decision.errno == errno { return status(decision) }
    switch errno {
    case .EACCES, .EPERM, .EROFS:
      // A refusal of which the facts gave another errno is still refused by what they name.
      return decision.errno == nil ? .restricted : status(decision)
    case .ENOENT, .ENOTDIR, .ELOOP, .ENAMETOOLONG, .ENXIO, .ENODEV: return .unavailable
    case .EBUSY: return .restricted
    default: return .notDetermined
    }
  }

  // MARK: - Reasons

  /// Why a resource is not simply authorized; empty when it is.
  ///
  /// `contradicted` finds out why the kernel refuses with an errno what the facts grant.
  func reasons(
    _ decision: Decision, steps: [WalkStep], probe: Probe?, path: PathBytes, need: Permissions,
    contradicted: (Errno) -> Reason
  ) -> [Reason] {
    var reasons: [Reason] = []
    if let probe, probe.errno != decision.errno || decision.verdict == .undetermined {
      if let reason = contradiction(decision, probe, path, contradicted) { reasons.append(reason) }
      if probe.errno == nil || decision.errno == nil { return reasons }
    }
    switch decision.verdict {
    case .granted: break
    case .undetermined: reasons.append(undetermined(decision, path))
    case .refused(let errno):
      reasons.append(refusal(decision, errno, steps: steps, path: path, need: need))
      if isBitRule(decision.rule), subject.credentials.user.fileSystem == 0 {
        reasons.append(
          Reason(
            .rootWithoutCapability, .proven,
            "root is judged like any user here: it lacks CAP_DAC_OVERRIDE for this inode",
            evidence: [
              "effective capabilities 0x"
                + String(subject.credentials.effective.rawValue, radix: 16)
            ]))
      }
    }
    return reasons
  }

  private func isBitRule(_ rule: Rule) -> Bool { Self.status(.EACCES, rule) == .denied }

  /// What it means that the kernel says otherwise than the facts.
  private func contradiction(
    _ decision: Decision, _ probe: Probe, _ path: PathBytes, _ contradicted: (Errno) -> Reason
  ) -> Reason? {
    let evidence = [
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)",
      "\(probe.method.rawValue): \(probe.errno.map(\.description) ?? "granted")",
    ]
    guard let errno = probe.errno else {
      if probe.method == .access, decision.isForDriver { return undetermined(decision, path) }
      if decision.verdict == .undetermined { return nil }
      return Reason(
        .unreadableFacts, .suspected,
        "the kernel grants \(path), though its mode and ACL refuse it: the facts changed meanwhile, or the file system has rules of its own",
        evidence: evidence)
    }
    if decision.isForDriver {
      var reason = undetermined(decision, path)
      reason.evidence += evidence
      return reason
    }
    switch errno {
    case .ENXIO, .ENODEV:
      return Reason(
        .noDriver, .proven, "\(path) is there, but no driver answers for it (\(errno))",
        evidence: evidence)
    case .EBUSY:
      return Reason(
        .busy, .proven, "\(path) may be used, but something else is using it now",
        evidence: evidence)
    case .EACCES, .EPERM, .EROFS:
      if decision.rule == .networkFileSystem || decision.rule == .fuseDaemon {
        return served(decision, errno, path, evidence)
      }
      if decision.verdict == .undetermined, errno == .EACCES {
        // The facts left it open, and this is the answer: no sign of a layer above the bits.
        var reason = undetermined(decision, path)
        reason.evidence += evidence
        return reason
      }
      return contradicted(errno)
    case .ENOENT, .ENOTDIR:
      return Reason(.noDevice, .proven, "there is no \(path) (\(errno))", evidence: evidence)
    default:
      return Reason(
        .driver, .suspected, "opening \(path) fails with \(errno)", evidence: evidence)
    }
  }

  /// The server of a file system refuses.
  private func served(
    _ decision: Decision, _ errno: Errno, _ path: PathBytes, _ evidence: [String]
  ) -> Reason {
    let system = decision.inode.map { facts.mounts[facts.inodes[$0].mount].fileSystem } ?? ""
    let squash =
      subject.credentials.user.fileSystem == 0 && decision.rule == .networkFileSystem
      ? "; it may take root for nobody (root squash)" : ""
    return Reason(
      .networkFS, .proven, "the server of \(path) (\(system)) refuses it (\(errno))\(squash)",
      evidence: evidence)
  }

  private func undetermined(_ decision: Decision, _ path: PathBytes) -> Reason {
    let place = decision.inode.map { facts.path(of: $0) } ?? path
    switch decision.rule {
    case .unmappedID:
      return Reason(
        .usernsUnmapped, .proven,
        "\(place) belongs to an id that is not mapped in this user namespace, so it cannot be told from others",
        evidence: decision.inode.map { [who($0)] } ?? [])
    case .networkFileSystem, .fuseDaemon:
      return Reason(
        .networkFS, .proven,
        "\(place) is on \(decision.inode.map { facts.mounts[facts.inodes[$0].mount].fileSystem } ?? "a network file system"), where a server has the last word",
        evidence: decision.inode.map {
          let mount = facts.mounts[facts.inodes[$0].mount]
          return ["\(mount.point): \(mount.superblockOptions)"]
        } ?? [])
    case .fileSystemRules:
      return Reason(
        .unreadableFacts, .proven,
        "mode and ACL alone do not decide on \(place): its file system has rules of its own",
        evidence: decision.inode.map { [facts.mounts[facts.inodes[$0].mount].fileSystem] } ?? [])
    case .driver:
      return Reason(
        .driver, .proven,
        "mode and ACL let \(name) in, but the driver of \(place) has a rule of its own, which only its open tells"
      )
    default:
      return Reason(
        .unreadableFacts, .proven,
        "what decides on \(path) cannot be read from here (at \(place))",
        evidence: unreadable(decision.inode))
    }
  }

  private func unreadable(_ inode: Int?) -> [String] {
    guard let inode else { return [] }
    var evidence: [String] = []
    for entry in facts.inodes[inode].entries {
      if case .unreadable(let errno) = entry.found { evidence.append("\(entry.name): \(errno)") }
    }
    if let errno = facts.inodes[inode].aclError { evidence.append("ACL: \(errno)") }
    if facts.mounts[facts.inodes[inode].mount].isUnreadable {
      evidence.append("mount \(facts.mounts[facts.inodes[inode].mount].id): not in mountinfo")
    }
    return evidence
  }

  // MARK: - Refusals by a rule

  /// Mode, owner and group of an inode, for people.
  func who(_ inode: Int) -> String {
    let facts = facts.inodes[inode]
    return
      "\(facts.modeText) \(users.userName(facts.uid)):\(users.groupName(facts.gid))"
  }

  private func refusal(
    _ decision: Decision, _ errno: Errno, steps: [WalkStep], path: PathBytes, need: Permissions
  ) -> Reason {
    guard let inode = decision.inode else {
      return Reason(.noDevice, .proven, "\(path) is no path that can be opened (\(errno))")
    }
    let place = facts.path(of: inode)
    let evidence = [who(inode)] + (facts.inodes[inode].acl?.entries.map(\.description) ?? [])
    if isBitRule(decision.rule) {
      let asked: Permissions = decision.step == .walk ? .execute : need
      let (code, message) = bitRefusal(decision.rule, inode, asked)
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

  private var name: String { subject.displayName }

  private func bitRefusal(_ rule: Rule, _ inode: Int, _ need: Permissions) -> (Reason.Code, String)
  {
    let facts = facts.inodes[inode]
    let seen = "(\(who(inode)))"
    let group = users.groupName(facts.gid)
    func lacks(_ have: Permissions) -> String {
      "\(have), without \(need.subtracting(have).letters)"
    }
    func entry(_ tag: AccessControlList.Tag, _ id: UInt32? = nil) -> Permissions {
      facts.acl?.entries.first { $0.tag == tag && (id == nil || $0.id == id) }?.permissions ?? []
    }
    let bits = { (shift: UInt16) in Permissions(rawValue: UInt8(facts.mode >> shift & 7)) }
    switch rule {
    case .ownerBits:
      return (.ownerBits, "\(name) is the owner, whose bits are \(lacks(bits(6))) \(seen)")
    case .groupBits:
      return (
        .groupBits, "\(name) is in group \(group), whose bits are \(lacks(bits(3))) \(seen)"
      )
    case .otherBits where bits(3).isSuperset(of: need):
      return (
        .notInGroup, "\(name) is not in group \(group) \(seen) and no ACL entry names \(name)"
      )
    case .otherBits:
      return (.otherBits, "\(name) is neither owner nor in group \(group) \(seen)")
    case .groupBitsMaskEmpty, .otherBitsMaskEmpty:
      return (
        .aclMask,
        "the ACL's mask is empty, so none of its entries counts, not even \(name)'s \(seen)"
      )
    case .aclUser(let id):
      return (.aclEntry, "the ACL entry of \(name) is \(lacks(entry(.user, id))) \(seen)")
    case .aclOwningGroup:
      return (
        .aclEntry,
        "the ACL entry of group \(group), which \(name) is in, is \(lacks(entry(.owningGroup))) \(seen)"
      )
    case .aclGroup(let id):
      return (
        .aclEntry,
        "the ACL entry of group \(users.groupName(id)), which \(name) is in, is \(lacks(entry(.group, id))) \(seen)"
      )
    case .maskLimitsUser(let id):
      return mask("user:\(name)", entry(.user, id))
    case .maskLimitsOwningGroup: return mask("group \(group)", entry(.owningGroup))
    case .maskLimitsGroup(let id):
      return mask("group \(users.groupName(id))", entry(.group, id))
    default:
      let helps = facts.acl?.entries.contains {
        ($0.tag == .owningGroup || $0.tag == .group)
          && $0.permissions.intersection(facts.acl?.mask ?? .all).isSuperset(of: need)
      }
      if helps == true {
        return (
          .notInGroup,
          "\(name) is in no group that the ACL grants \(need.letters), and no entry names \(name) \(seen)"
        )
      }
      return (.otherBits, "no entry of the ACL is about \(name), and others have \(lacks(bits(0)))")
    }

    func mask(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      let mask = facts.acl?.mask ?? []
      return (
        .aclMask,
        "the ACL grants \(whose) \(permissions), but its mask \(mask) takes \(need.subtracting(mask).letters) away \(seen)"
      )
    }
  }

  private func otherRefusal(
    _ decision: Decision, _ inode: Int, _ place: PathBytes, steps: [WalkStep]
  ) -> (Reason.Code, String) {
    let mounted = facts.mounts[facts.inodes[inode].mount].point
    let mount = mounted.isEmpty ? "a mount" : mounted.description
    let errno = decision.errno?.description ?? ""
    switch decision.rule {
    case .missing:
      let link = steps.last { if case .link = $0.event { true } else { false } }
      let missing = facts.missingPath(steps) ?? place
      if let link, case .link(let index) = link.event {
        return (
          .danglingSymlink,
          "\(facts.path(of: index)) is a symbolic link to what is not there (\(missing))"
        )
      }
      return (.noDevice, "there is no \(missing)")
    case .notADirectory: return (.noDevice, "\(place) is not a directory")
    case .nameTooLong, .pathTooLong: return (.noDevice, "the path is too long (\(errno))")
    case .tooManyLinks: return (.danglingSymlink, "\(place) is one symbolic link too many (ELOOP)")
    case .protectedSymlink:
      return (
        .parentSearch,
        "\(place) is somebody else's link in a sticky directory that all can write to; the kernel does not follow it (fs.protected_symlinks)"
      )
    case .noSymlinkMount:
      return (.parentSearch, "\(place) is a link on a mount that follows none (nosymfollow)")
    case .readOnlyMount, .readOnlySuperblock:
      return (
        .readOnlyMount, "\(place) is on \(mount), which is mounted read-only (\(errno))"
      )
    case .noDeviceMount:
      return (.nodevMount, "\(place) is on \(mount), whose devices are switched off (nodev)")
    case .noExecuteMount:
      return (.noexecMount, "\(place) is on \(mount), mounted noexec")
    case .immutable where facts.inodes[inode].isImmutable:
      return (.immutable, "\(place) is immutable (chattr +i)")
    case .immutable:
      return (.immutable, "\(place) is immutable, as all of its file system is")
    case .appendOnly: return (.appendOnly, "\(place) is append-only (chattr +a)")
    case .deviceCgroup: return (.deviceCgroup, "the device cgroup refuses \(place) (\(errno))")
    case .landlock: return (.landlockOrLSM, "a Landlock ruleset refuses \(place) (\(errno))")
    case .driver where decision.errno == .ENXIO || decision.errno == .ENODEV:
      return (.noDriver, "\(place) is there, but no driver answers for it (\(errno))")
    case .driver: return (.driver, "the driver of \(place) refuses it (\(errno))")
    case .fuseOtherUser:
      return (
        .networkFS, "\(mount) is another user's FUSE mount without allow_other (\(errno))"
      )
    case .unmappedOwner, .unmappedSubject:
      return (.usernsUnmapped, "ids of \(place) or of \(name) mean nothing on its mount (\(errno))")
    case .socketInode, .fifoWithoutReader, .fifoAccessMode:
      return (.noDevice, "\(place) is a \(facts.inodes[inode].kind.rawValue), not a device")
    default: return (.driver, "\(place) refuses it: \(decision.rule) (\(errno))")
    }
  }

  // MARK: - What granted it

  /// The bits or entry that a decision rests on, for people: `owner rw-`, `ACL user:tester:rw-`.
  func basis(_ decision: Decision) -> String {
    guard let index = decision.inode else { return decision.rule.description }
    func bits(_ shift: UInt16) -> String {
      Permissions(rawValue: UInt8(facts.inodes[index].mode >> shift & 7)).description
    }
    func entry(_ tag: AccessControlList.Tag, _ id: UInt32? = nil) -> Permissions {
      facts.inodes[index].acl?.entries.first { $0.tag == tag && (id == nil || $0.id == id) }?
        .permissions ?? []
    }
    var group: String { users.groupName(facts.inodes[index].gid) }
    switch decision.rule {
    case .ownerBits: return "owner " + bits(6)
    case .groupBits, .groupBitsMaskEmpty: return "group " + group + " " + bits(3)
    case .otherBits, .otherBitsMaskEmpty, .aclOther: return "other " + bits(0)
    case .aclUser(let id), .maskLimitsUser(let id):
      return "ACL user:\(users.userName(id)):\(entry(.user, id))"
    case .aclOwningGroup, .maskLimitsOwningGroup:
      return "ACL group::\(entry(.owningGroup)) (\(group))"
    case .aclGroup(let id), .maskLimitsGroup(let id):
      return "ACL group:\(users.groupName(id)):\(entry(.group, id))"
    case .capDACOverride: return "CAP_DAC_OVERRIDE"
    case .capDACReadSearch: return "CAP_DAC_READ_SEARCH"
    default: return decision.rule.description
    }
  }
}
