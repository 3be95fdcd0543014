/// Turns a decision, and what the kernel itself said, into a status and reasons for people.
struct ReasonFinder {
  let inspection: Inspection

  init(_ inspection: Inspection) { self.inspection = inspection }

  var facts: AccessFacts { inspection.facts }
  var users: UserDatabase { inspection.users }
  /// The subject's name for people.
  var name: String { inspection.subject.displayName }

  // MARK: - Status

  /// Returns the status that a decision alone stands for.
  static func status(_ decision: Decision) -> AuthorizationStatus {
    switch decision.verdict {
    case .granted: .authorized
    case .undetermined: .notDetermined
    case .refused(let errno): status(errno, decision.rule)
    }
  }

  private static func status(_ errno: Errno, _ rule: Rule) -> AuthorizationStatus {
    switch rule.layer {
    case .bits: .denied
    case .lookup: .unavailable
    // Permission had been granted by then. Nothing that is requested here ends another program's
    // use: EBUSY is restricted too.
    case .driver: errno == .ENXIO || errno == .ENODEV ? .unavailable : .restricted
    case .capability, .link, .mount, .attribute, .idMapping, .deviceCgroup, .securityModule,
      .fileSystem, .call, .nothing, .unknown:
      .restricted
    }
  }

  /// Returns the status when the kernel was asked as well; the kernel decides.
  static func status(_ decision: Decision, _ probe: Probe?) -> AuthorizationStatus {
    guard let probe else { return status(decision) }
    guard let errno = probe.errno else {
      if probe.isSilent(on: decision) { return status(decision) }
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

  /// Returns why a resource is not simply authorized; empty when it is.
  ///
  /// `contradicted` finds out why the kernel refuses with an errno what the facts grant.
  func reasons(
    _ ask: Ask, _ decision: Decision, steps: [WalkStep], probe: Probe?,
    contradicted: (Errno) -> Reason
  ) -> [Reason] {
    var reasons: [Reason] = []
    if let probe, !probe.isSilent(on: decision),
      probe.errno != decision.errno || decision.verdict == .undetermined
    {
      if let reason = contradiction(decision, probe, ask.path, contradicted) {
        reasons.append(reason)
      }
      if probe.errno == nil || decision.errno == nil { return reasons }
    }
    switch decision.verdict {
    case .granted: break
    case .undetermined: reasons.append(undetermined(decision, ask.path))
    case .refused(let errno):
      reasons.append(refusal(ask, decision, errno, steps: steps))
      let credentials = inspection.subject.credentials
      if decision.rule.isOfBits, credentials.user.fileSystem == 0 {
        reasons.append(
          Reason(
            .rootWithoutCapability, .proven,
            "root is judged like any user here: it lacks CAP_DAC_OVERRIDE for this inode",
            evidence: [
              "effective capabilities 0x" + String(credentials.effective.rawValue, radix: 16)
            ]))
      }
    }
    return reasons
  }

  /// What it means that the kernel says otherwise than the facts.
  private func contradiction(
    _ decision: Decision, _ probe: Probe, _ path: PathBytes, _ contradicted: (Errno) -> Reason
  ) -> Reason? {
    let evidence = [
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)",
      "\(probe.method.rawValue): \(probe.errno.map(\.description) ?? "granted")",
    ]
    guard let errno = probe.errno else {
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
        let isServer = decision.rule == .networkFileSystem
        let system = decision.inode.map { facts.mounts[facts.inodes[$0].mount].fileSystem } ?? ""
        return served(path, system, isServer: isServer, " (\(errno))", evidence)
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

  /// Says that the server of a file system refuses, and what it may do to root.
  func served(
    _ path: PathBytes, _ system: String, isServer: Bool, _ answer: String, _ evidence: [String]
  ) -> Reason {
    let isRoot = inspection.subject.credentials.user.fileSystem == 0
    let squash = isRoot && isServer ? "; it may take root for nobody (root squash)" : ""
    return Reason(
      .networkFS, .proven, "the server of \(path) (\(system)) refuses it\(answer)\(squash)",
      evidence: evidence)
  }

  /// Says why the facts leave the answer open.
  private func undetermined(_ decision: Decision, _ path: PathBytes) -> Reason {
    let place = decision.inode.map { facts.path(of: $0) } ?? path
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    if decision.rule == .unmappedID {
      return Reason(
        .usernsUnmapped, .proven,
        "\(place) belongs to an id that is not mapped in this user namespace, so it cannot be told from others",
        evidence: decision.inode.map { [who($0)] } ?? [])
    }
    if decision.rule == .networkFileSystem || decision.rule == .fuseDaemon {
      return Reason(
        .networkFS, .proven,
        "\(place) is on \(mount?.fileSystem ?? "a network file system"), where a server has the last word",
        evidence: mount.map { ["\($0.point): \($0.superblockOptions)"] } ?? [])
    }
    if decision.rule == .fileSystemRules {
      return Reason(
        .unreadableFacts, .proven,
        "mode and ACL alone do not decide on \(place): its file system has rules of its own",
        evidence: mount.map { [$0.fileSystem] } ?? [])
    }
    if decision.rule == .driver {
      return Reason(
        .driver, .proven,
        "mode and ACL let \(name) in, but the driver of \(place) has a rule of its own, which only its open tells"
      )
    }
    return Reason(
      .unreadableFacts, .proven,
      "what decides on \(path) cannot be read from here (at \(place))",
      evidence: unreadable(decision.inode))
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
}
