/// The rules that decide the status of a resource, in order.
///
/// The list is read from above. The first rule that applies decides, and nothing changes the status
/// afterwards.
enum StatusRule: CaseIterable {
  /// A sandbox has mounted something over the path, or over a folder on it.
  case covered
  /// The path names a file of another type than the accessor needs.
  case otherKind
  /// The folder opens, but is encrypted without its key, so that nothing in it can be used.
  case locked
  /// The device may be opened, but all of it is in use.
  case busy
  /// A layer that cannot be asked may refuse what was granted.
  case possiblyRefused
  /// The permissions allow connect(2), but no program is known to listen.
  case notListening
  /// Part of the folder is granted, and part is refused or unknown.
  case contents
  /// The kernel grants access, or the facts grant it and the kernel was not asked.
  case granted
  /// Access is refused, but fewer permissions that are useful are granted.
  case limited
  /// Mode and ACL refuse, and a login may give the user a group with access.
  case login
  /// Mode and ACL refuse because a setting of the service hides or protects the folder.
  case service
  /// The kernel refuses access, or the facts do, or access is unknown.
  case refused
}

/// Decides the status of one resource by the first rule that applies.
struct StatusRules {
  /// The rule that decided, with its status, reasons and remedies.
  struct Ruling {
    let rule: StatusRule
    let status: AuthorizationStatus
    /// The reasons that only this rule knows.
    var reasons: [Reason] = []
    /// The remedies that only this rule knows.
    var remedies: [Remedy] = []
  }

  let inspection: Inspection
  let ask: ResourceQuery
  let decision: Decision
  /// The kernel's answer; nil if it was not asked.
  let probe: Probe?
  /// Why the file is of another type than the accessor needs; nil if it is not.
  let otherKind: Reason?
  /// The result for the contents of the folder; nil if only the folder was checked.
  var contents: ContentsReport?
  /// Examines this machine; nil if the facts were saved earlier or elsewhere.
  let diagnosis: Diagnosis?

  /// Returns the first rule that applies, with the status.
  func ruling() -> Ruling {
    let answer = Self.status(decision, probe)
    for rule in StatusRule.allCases {
      if let ruling = ruling(by: rule, answer) { return ruling }
    }
    return Ruling(rule: .refused, status: answer)
  }

  /// Returns the status, reasons and remedies of a rule; nil if it does not apply.
  private func ruling(by rule: StatusRule, _ answer: AuthorizationStatus) -> Ruling? {
    func ruling(_ status: AuthorizationStatus, _ reasons: [Reason] = []) -> Ruling {
      Ruling(rule: rule, status: status, reasons: reasons)
    }
    let isGranted = answer == .authorized
    switch rule {
    case .covered:
      guard let cover = diagnosis?.cover(ask, decision, isOther: otherKind != nil) else {
        return nil
      }
      var ruling = ruling(.restricted, [cover.reason])
      ruling.remedies = cover.remedies
      return ruling
    case .otherKind: return otherKind.map { ruling(.unavailable, [$0]) }
    case .locked: return isGranted && isLocked ? ruling(.restricted) : nil
    case .busy:
      // In the place of another process nobody asks the driver.
      guard isGranted, probe?.method.opens != true || probe?.method == .enter,
        diagnosis?.isBusy(ask) == true
      else { return nil }
      return ruling(.restricted)
    case .possiblyRefused:
      guard isGranted, let diagnosis else { return nil }
      let policy = inspection.subject.process.flatMap { diagnosis.answerOfPolicy(ask, $0) }
      if case .refuses(let reason) = policy { return ruling(.restricted, [reason]) }
      var reasons = diagnosis.refusalsOfProcess(ask, decision, probe, policyAllows: policy != nil)
      if let reason = diagnosis.refusalOfConfined(ask, decision, probe) { reasons.append(reason) }
      if let reason = diagnosis.refusalAtLogin(ask, decision) { reasons.append(reason) }
      return reasons.isEmpty ? nil : ruling(.notDetermined, reasons)
    case .notListening:
      guard isGranted, ask.connects,
        let failure = SocketListener(inspection, ask).answer()
          .failure(ask, inspection.system)
      else { return nil }
      return ruling(failure.status, [failure.reason])
    case .contents:
      guard let contents, contents.refused > 0 || contents.isUnknown,
        isGranted || contents.granted > 0
      else { return nil }
      let status: AuthorizationStatus = contents.refused > 0 ? .limited : .notDetermined
      return ruling(status, contents.reasons(below: ask.path))
    case .granted: return isGranted ? ruling(.authorized) : nil
    case .limited:
      guard isEnoughForLess else { return nil }
      let reasons = diagnosis?.refusalsOfProcess(ask, decision, nil) ?? []
      return ruling(reasons.isEmpty ? .limited : .notDetermined, reasons)
    case .login:
      guard answer == .denied, let reason = diagnosis?.groupOfLogin(ask, decision) else {
        return nil
      }
      return ruling(.notDetermined, [reason])
    case .service:
      guard answer == .denied, diagnosis?.hidingSetting(ask, decision, probe?.shown) != nil else {
        return nil
      }
      return ruling(.restricted)
    case .refused: return ruling(answer)
    }
  }

  /// Whether the folder is encrypted without its key, so that its names are scrambled, its files do not
  /// open and none can be created, though the kernel opens the folder itself.
  private var isLocked: Bool {
    let facts = inspection.facts
    guard facts.inodes.contains(where: \.isLocked),
      ask.resource.kind == .directory || ask.need.contains(.write),
      let index = facts.target(of: ask.path)
    else { return false }
    return facts.inodes[index].isLocked
  }

  /// Whether the fewer permissions that make the resource useful are granted.
  private var isEnoughForLess: Bool {
    guard let lesser = ask.resource.lesserNeed, !isLocked,
      probe?.shown?.isInconclusive != true
    else { return false }
    let less = ResourceQuery(
      resource: ask.resource, need: lesser, isDirectory: ask.resource.kind == .directory)
    let decision = inspection.evaluator.decide(less)
    return Self.status(decision, inspection.probe(less, decision)) == .authorized
  }

  // MARK: - The answer

  /// Returns the status for a decision alone.
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
    // The bits granted access before the driver refused. No request can end another program's use,
    // so EBUSY is restricted too.
    case .driver: errno == .ENXIO || errno == .ENODEV ? .unavailable : .restricted
    case .capability, .link, .mount, .attribute, .idMapping, .deviceCgroup, .securityModule,
      .fileSystem, .call, .nothing, .unknown:
      .restricted
    }
  }

  /// Returns the status for a decision and the kernel's answer; the kernel takes precedence.
  static func status(_ decision: Decision, _ probe: Probe?) -> AuthorizationStatus {
    guard let probe else { return status(decision) }
    if probe.isLate { return .notDetermined }
    guard let errno = probe.errno else {
      if probe.isInconclusive { return status(decision) }
      return probe.isBusy ? .restricted : .authorized
    }
    if decision.errno == errno { return status(decision) }
    switch errno {
    case .EACCES, .EPERM, .EROFS:
      // The facts predict a refusal with another errno; their rule still gives the status.
      return decision.errno == nil ? .restricted : status(decision)
    case .ENOENT, .ENOTDIR, .ELOOP, .ENAMETOOLONG, .ENXIO, .ENODEV: return .unavailable
    case .EBUSY, .ETXTBSY, .ENOKEY, .ENOSYS: return .restricted
    default: return .notDetermined
    }
  }
}

extension Probe {
  /// The answer, if the kernel could be asked.
  var shown: Probe? { obstacle == nil ? self : nil }

  /// Whether a server did not answer in time.
  var isLate: Bool { obstacle != nil && method != .enter }
}
