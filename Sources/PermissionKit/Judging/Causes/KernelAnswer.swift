/// The kernel's own answer, or that of the facts where it was not asked.
struct KernelAnswer: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let remedies = evidence.leastChange
    var reasons = evidence.refusal
    if remedies.isEmpty, !reasons.isEmpty, evidence.decision.rule.bits != nil,
      evidence.answer == .denied || evidence.ask.operation != nil
    {
      reasons[0].ownAdvice =
        reasons[0].ownAdvice ?? Self.whyNoChange(evidence)
        ?? LayerRemedies(evidence.inspection, evidence.ask).laterRefusal()
    }
    // An operation that a change of mode or ACL allows is denied, whatever refuses it.
    let isChangeable = evidence.ask.operation != nil && !remedies.isEmpty
    return Finding(
      status: isChangeable ? .denied : evidence.answer, reasons: reasons, remedies: remedies)
  }

  /// Returns why access is refused or unknown, the main reason first; empty if it is granted.
  static func reasons(in evidence: Evidence) -> [Reason] {
    let (finder, ask, decision) = (
      ReasonFinder(evidence.inspection), evidence.ask, evidence.decision
    )
    if let operation = ask.named {
      return finder.reasons(operation, ask, decision, steps: evidence.steps)
    }
    let probe = evidence.probe?.shown
    let reasons = finder.reasons(ask, decision, steps: evidence.steps, probe: probe) { errno in
      if probe?.method == .enter, evidence.isHere,
        let reason = OtherProcess.refusal(evidence, errno)
      {
        return reason
      }
      return Contradiction(
        evidence.inspection, ask, decision, probe ?? Probe(method: .none, errno: errno)
      ).reason(errno)
    }
    guard let future = evidence.future, let reason = reasons.first, decision.step == .target,
      evidence.answer == .denied
    else { return reasons }
    let what = future.inode.kind == .directory ? "folder" : "file"
    return [
      Reason(
        .futureFiles, .proven, "the next \(what): \(reason.message)", evidence: reason.evidence)
    ]
  }

  /// Returns the smallest change of modes and ACLs that gives access; empty if none does.
  static func remedies(in evidence: Evidence) -> [Remedy] {
    guard evidence.decision.errno != nil,
      evidence.answer == .denied || evidence.ask.operation != nil
    else { return [] }
    if let future = evidence.future { return future.remedies }
    var remedies = RemedyFinder(evidence.inspection).remedies(evidence.ask)
    if !remedies.isEmpty, let note = Seat.note(evidence) { remedies[0].note = note }
    return remedies
  }

  /// Returns why no change of the refusing mode or ACL helps; nil if there is no special obstacle.
  private static func whyNoChange(_ evidence: Evidence) -> String? {
    let (facts, decision) = (evidence.facts, evidence.decision)
    guard let index = decision.inode, decision.rule.bits != nil else { return nil }
    let (inode, path) = (facts.inodes[index], facts.path(of: index))
    let mount = facts.mounts[inode.mount]
    if facts.hasFixedMode(index) {
      let owner =
        path.isBelow(mount.point.appending("sys")) ? "" : " or as the user of the process"
      return "ask as root\(owner): nobody can change permissions in \(mount.point)"
    }
    if mount.isOfNoPath {
      return
        "use the open file itself, as >&1 does instead of >/dev/stdout: only an open by its path asks who made it"
    }
    if mount.fileSystem == "devpts" {
      return
        "start a terminal of your own, such as by script -q /dev/null; \(path) belongs to another session"
    }
    if let branch = MountOwner.branch(of: index, evidence) {
      return
        "change the permissions of \(ShellCommand.line([branch])): \(ShellCommand.line([path])) shows those of its branch"
    }
    if mount.rules.mayKeepWaiting {
      return
        "change the permissions where \(mount.fileSystem) has them: by the daemon or on the machine that serves \(mount.point)"
    }
    if inode.isImmutable {
      return "make \(path) changeable first (chattr -i), since its permissions are immutable"
    }
    if inode.isAppendOnly {
      return "make \(path) changeable first (chattr -a), since it is append-only"
    }
    if mount.isReadOnly {
      return
        "mount \(mount.point) read-write first, since permissions cannot be changed while it is read-only"
    }
    if inode.subvolume?.isReadOnly == true {
      return
        "make the subvolume writable first (btrfs property set … ro false), since permissions in it cannot be changed"
    }
    return decision.step == .walk && evidence.inspection.method != .none
      ? "ask as root, who sees what is below \(path)" : nil
  }
}

// MARK: - The status

extension AuthorizationStatus {
  /// Creates the status for a decision alone.
  init(_ decision: Decision) {
    switch decision.verdict {
    case .granted: self = .authorized
    case .undetermined: self = .notDetermined
    case .refused(let errno): self.init(errno, decision.rule)
    }
  }

  private init(_ errno: Errno, _ rule: Rule) {
    switch rule.layer {
    case .bits: self = .denied
    case .lookup: self = .unavailable
    // The bits granted access before the driver refused. No request can end another program's use,
    // so EBUSY is restricted too.
    case .driver: self = errno == .ENXIO || errno == .ENODEV ? .unavailable : .restricted
    case .capability, .link, .mount, .attribute, .idMapping, .deviceCgroup, .securityModule,
      .fileSystem, .call, .nothing, .unknown:
      self = .restricted
    }
  }

  /// Creates the status for a decision and the kernel's answer; the kernel takes precedence.
  init(_ decision: Decision, _ probe: Probe?) {
    self.init(decision)
    guard let probe else { return }
    if probe.isLate {
      self = .notDetermined
    } else if let errno = probe.errno {
      if decision.errno == errno { return }
      switch errno {
      // Where the facts predict a refusal with another errno, another layer refuses before.
      case .ENOENT, .ENOTDIR, .ELOOP, .ENAMETOOLONG, .ENXIO, .ENODEV: self = .unavailable
      case .EACCES, .EPERM, .EROFS, .EBUSY, .ETXTBSY, .ENOKEY, .ENOSYS, .ENOSPC, .EDQUOT,
        .EOVERFLOW:
        self = .restricted
      default: self = .notDetermined
      }
    } else if !probe.isInconclusive {
      self = probe.isBusy ? .restricted : .authorized
    }
  }
}

extension Probe {
  /// The answer, if the kernel could be asked.
  var shown: Probe? { obstacle == nil ? self : nil }

  /// Whether a server did not answer in time.
  var isLate: Bool { obstacle != nil && method != .enter }
}
