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
    _ ask: Ask, _ decision: Decision, steps: [WalkStep], probe: Probe?,
    contradicted: (Errno) -> Reason
  ) -> [Reason] {
    var reasons: [Reason] = []
    if let probe, !probe.isSilent,
      probe.errno != decision.errno || decision.verdict == .undetermined
    {
      if let reason = contradiction(decision, probe, ask, contradicted) {
        reasons.append(reason)
      }
      if probe.errno == nil || decision.errno == nil { return reasons }
    }
    switch decision.verdict {
    case .granted: break
    case .undetermined: reasons.append(undetermined(decision, ask, probe))
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

  /// Returns the reason why the kernel's answer differs from the facts; nil if that needs none.
  private func contradiction(
    _ decision: Decision, _ probe: Probe, _ ask: Ask, _ contradicted: (Errno) -> Reason
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
      var reason = undetermined(decision, ask, probe)
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
    case .EACCES, .EPERM, .EROFS:
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
        var reason = undetermined(decision, ask, probe)
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
