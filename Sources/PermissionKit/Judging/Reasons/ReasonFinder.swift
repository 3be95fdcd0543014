/// Turns a decision and the kernel's own answer into reasons for people.
struct ReasonFinder {
  let inspection: Inspection

  init(_ inspection: Inspection) { self.inspection = inspection }

  var facts: AccessFacts { inspection.facts }
  var users: UserDatabase { inspection.users }
  /// The subject's name for people.
  var name: String { inspection.subject.displayName }

  /// Returns the reasons why a resource is not authorized; empty if it is authorized.
  ///
  /// - Parameters:
  ///   - ask: The resource and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - steps: The steps of the walk that led to the decision.
  ///   - probe: The kernel's answer; nil if the kernel was not asked.
  ///   - contradicted: Finds the reason why the kernel refuses, with an errno, what the facts grant.
  /// - Returns: The reasons, the most important one first.
  func reasons(
    _ ask: ResourceQuery, _ decision: Decision, steps: [WalkStep], probe: Probe?,
    contradicted: (Errno) -> Reason
  ) -> [Reason] {
    var reasons: [Reason] = []
    if let probe, !probe.isInconclusive,
      probe.errno != decision.errno || decision.verdict == .undetermined
    {
      if let reason = contradiction(decision, probe, ask, contradicted) {
        reasons.append(reason)
      }
      if probe.errno == nil || decision.errno == nil { return reasons }
    }
    switch decision.verdict {
    case .granted: break
    case .undetermined:
      reasons.append(OpenReason(finder: self, decision: decision, ask: ask, probe: probe).reason)
    case .refused(let errno):
      var reason = refusal(ask, decision, errno, steps: steps)
      if reason.code == .noDevice, decision.rule == .missing,
        ask.resource.kind == .directory
      {
        reason.ownAdvice = "create the folder, or name another one"
      }
      reasons.append(reason)
      let credentials = inspection.subject.credentials
      if decision.rule.bits != nil, credentials.user.fileSystem == 0 {
        // capable_wrt_inode_uidgid() wants the owner and the group mapped as well.
        let isMissing = !credentials.effective.contains(.dacOverride)
        let inode = decision.inode.map { facts.inodes[$0] }
        // generic_permission(): no capability makes a file executable that is so for nobody.
        let isForNobody =
          ask.need.contains(.execute) && decision.step == .target && inode?.kind != .directory
          && (inode?.mode ?? 0) & 0o111 == 0
        let cause =
          isForNobody
          ? "no execute bit is set, and no capability replaces that"
          : isMissing
            ? "CAP_DAC_OVERRIDE is missing"
            : "CAP_DAC_OVERRIDE does not apply, because this user namespace does not map the owner or the group"
        reasons.append(
          Reason(
            isForNobody
              ? .otherBits : isMissing ? .rootWithoutCapability : .usernsUnmapped, .proven,
            "root has no exemption here: \(cause)",
            evidence: [
              "effective capabilities 0x" + String(credentials.effective.rawValue, radix: 16)
            ]))
      }
    }
    return reasons
  }

  /// Returns the reason why the kernel's answer differs from the facts; nil if that needs no
  /// reason.
  private func contradiction(
    _ decision: Decision, _ probe: Probe, _ ask: ResourceQuery, _ contradicted: (Errno) -> Reason
  ) -> Reason? {
    let path = ask.path
    let evidence = [
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)",
      "\(probe.method.rawValue): \(probe.errno.map(\.description) ?? "granted")",
    ]
    guard let errno = probe.errno else {
      if decision.verdict == .undetermined { return nil }
      return Reason(
        .unreadableFacts, .suspected,
        "the kernel grants \(path) although mode and ACL refuse it; they probably changed meanwhile, or the file system has its own rules",
        evidence: evidence)
    }
    let isUnlisted = decision.inode.map { facts.inodes[$0].hasNoListedDriver } == true
    if decision.isForDriver, !isUnlisted {
      var reason = OpenReason(finder: self, decision: decision, ask: ask, probe: probe).reason
      reason.evidence += evidence
      return reason
    }
    switch errno {
    case .ENXIO, .ENODEV:
      return Reason(
        .noDriver, .proven, "\(path) exists, but no driver handles it (\(errno))",
        evidence: evidence)
    case .EBUSY:
      return Reason(
        .busy, .proven, "access to \(path) is allowed, but something else is using it now",
        evidence: evidence)
    case .EACCES, .EPERM, .EROFS, .ENOSYS:
      if [.networkFileSystem, .fuseDaemon, .serverDecides].contains(decision.rule),
        let index = facts.target(of: path) ?? decision.inode
      {
        let system = facts.mounts[facts.inodes[index].mount].fileSystem
        return serverRefusal(
          path, system, isServer: !system.hasPrefix("fuse"), " (\(errno))", evidence,
          code: decision.rule == .serverDecides ? .serverDecides : .networkFS)
      }
      if decision.verdict == .undetermined, errno == .EACCES {
        // The facts left the result open, so the refusal does not point to another layer.
        var reason = OpenReason(finder: self, decision: decision, ask: ask, probe: probe).reason
        reason.evidence += evidence
        return reason
      }
      return contradicted(errno)
    case .ENOKEY: return locked(path, evidence)
    case .ENOENT, .ENOTDIR:
      return Reason(.noDevice, .proven, "there is no \(path) (\(errno))", evidence: evidence)
    default:
      return Reason(
        .driver, .suspected, "opening \(path) fails with \(errno)", evidence: evidence)
    }
  }

  /// Returns the reason for a refusal by the server or FUSE daemon of a file system.
  func serverRefusal(
    _ path: PathBytes, _ system: String, isServer: Bool, _ answer: String, _ evidence: [String],
    code: Reason.Code = .networkFS
  ) -> Reason {
    let isRoot = inspection.subject.credentials.user.fileSystem == 0
    let squash = isRoot && isServer ? "; it may treat root as nobody (root squash)" : ""
    let server = isServer ? "the server of" : "the FUSE daemon that serves"
    return Reason(
      code, .proven, "\(server) \(path) (\(system)) refuses access\(answer)\(squash)",
      evidence: evidence)
  }

  /// Returns the reason for an encrypted file or directory without its key.
  func locked(_ path: PathBytes, _ evidence: [String]) -> Reason {
    Reason(
      .locked, .proven, "\(path) is encrypted and locked: its key is not there (ENOKEY)",
      evidence: evidence)
  }
}

extension ReasonFinder {
  /// Returns the user who made the FUSE mount of an inode, for people.
  func mounter(_ inode: Int) -> String {
    guard case .fuse(let uid, _, _, _) = facts.mounts[facts.inodes[inode].mount].rules.authority
    else { return "another user" }
    return users.userName(uid)
  }

  /// Returns mode, owner and group of an inode, for people.
  func modeAndOwners(_ inode: Int) -> String {
    if facts.inodes[inode].isClosed {
      let mount = facts.mounts[facts.inodes[inode].mount]
      return "\(mount.fileSystem) \(mount.superblockOptions)"
    }
    let facts = facts.inodes[inode]
    return
      "\(facts.summary.modeText) \(users.userName(facts.uid)):\(users.groupName(facts.gid))"
  }

  /// Returns the mode bits or ACL entry that decided, for people: `owner rw-`,
  /// `ACL user:tester:rw-`.
  func basis(_ decision: Decision) -> String {
    guard let index = decision.inode, let rule = decision.rule.bits else {
      if decision.rule == .capDACOverride { return "CAP_DAC_OVERRIDE" }
      if decision.rule == .capDACReadSearch { return "CAP_DAC_READ_SEARCH" }
      return decision.rule.description
    }
    var group: String { users.groupName(facts.inodes[index].gid) }
    switch rule {
    case .owner: return "owner \(facts.inodes[index].bits(6))"
    case .group: return "group \(group) \(facts.inodes[index].bits(3))"
    case .other, .aclOther: return "other \(facts.inodes[index].bits(0))"
    case .aclUser(let id, _):
      return "ACL user:\(users.userName(id)):\(facts.inodes[index].entry(.user, id))"
    case .aclOwningGroup: return "ACL group::\(facts.inodes[index].entry(.owningGroup)) (\(group))"
    case .aclGroup(let id, _):
      return "ACL group:\(users.groupName(id)):\(facts.inodes[index].entry(.group, id))"
    }
  }
}

extension ReasonFinder {
  /// Returns the reason why a rule refuses.
  func refusal(
    _ ask: ResourceQuery, _ decision: Decision, _ errno: Errno, steps: [WalkStep]
  ) -> Reason {
    guard let inode = decision.inode else {
      return Reason(.noDevice, .proven, "the path \(ask.path) cannot be resolved (\(errno))")
    }
    let place = facts.path(of: inode)
    let evidence =
      [modeAndOwners(inode)] + (facts.inodes[inode].acl?.entries.map(\.description) ?? [])
    if let rule = decision.rule.bits {
      let asked: Permissions = decision.step == .walk ? .execute : ask.need
      let bits = BitReason(finder: self, inode: inode, need: asked)
      var (code, message) = bits.text(rule)
      if bits.isIgnored {
        code = .aclNotHonoured
        message =
          "the ACL allows \(name), but the kernel ignores ACLs on \(facts.mountPoint(inode)) (\(modeAndOwners(inode)))"
      }
      if decision.step == .walk {
        return Reason(
          .parentSearch, .proven, "\(name) may not search \(place): \(message)",
          evidence: evidence)
      }
      let evaluator = inspection.evaluator
      if ask.createsInside, evaluator.permits(.write, of: inode),
        !evaluator.permits(.execute, of: inode)
      {
        message += "; without x, w on a folder lets nobody make or remove a name in it"
      }
      return Reason(code, .proven, message, evidence: evidence)
    }
    let (code, message) = LayerReason(
      finder: self, decision: decision, inode: inode, place: place, steps: steps
    ).text
    var reason = Reason(code, .proven, message, evidence: evidence)
    if case .landlock = decision.rule { reason.ownWhose = .landlock }
    if decision.rule == .protectedSymlink { reason.ownWhose = .kernelSetting }
    if decision.rule == .deviceCgroup { reason.ownAdvice = ofReplug(inode) }
    if decision.rule == .kernelLog {
      reason.ownWhose = .kernelSetting
      if facts.sysctls.kernelLogIsOff != true {
        let isRoot = inspection.subject.credentials.user.fileSystem == 0
        reason.ownAdvice =
          "\(isRoot ? "" : "read it as root, or ")give the program CAP_SYSLOG: AmbientCapabilities=CAP_SYSLOG of its unit, --cap-add=SYSLOG of its container"
      }
    }
    if decision.rule == .stickyDirectory { reason.ownAdvice = withoutCreation(ask.path, inode) }
    return reason
  }

  /// Returns the advice for a device of which the cgroup allows another number, as after a replug; nil for others.
  private func ofReplug(_ inode: Int) -> String? {
    guard let device = facts.inodes[inode].device, let cgroup = facts.deviceCgroup,
      cgroup.exceptions.contains(where: { $0.major == device.major && $0.minor != nil })
    else { return nil }
    let kind = facts.inodes[inode].kind == .blockDevice ? "b" : "c"
    return
      "the cgroup allows other devices of major \(device.major), as after a replug: allow them all, by --device-cgroup-rule='\(kind) \(device.major):* rmw' of the container, or DeviceAllow= of the service"
  }

  /// Returns how a file is written that may not be opened with O_CREAT; nil if nothing of that kind is known to help.
  private func withoutCreation(_ path: PathBytes, _ inode: Int) -> String? {
    let file = facts.inodes[inode]
    let evaluator = inspection.evaluator
    func allows(_ evaluator: AccessEvaluator) -> Bool {
      let plain = evaluator.decide(.open([.writeOnly, .truncate]), path: path)
      return plain.isGranted || plain.rule == .fifoWithoutReader
    }
    guard allows(evaluator) else {
      let owner = Credentials(uid: file.uid, gid: file.gid, groups: [])
      guard allows(AccessEvaluator(facts: facts, credentials: owner)) else { return nil }
      return "let \(users.userName(file.uid)), its owner, write it"
    }
    let words: [PathBytes] = ["dd", PathBytes(Array("of=".utf8) + path.bytes), "conv=nocreat"]
    return
      "write it without O_CREAT (\(ShellCommand.line(words))), or keep it in a folder that is not sticky"
  }
}
