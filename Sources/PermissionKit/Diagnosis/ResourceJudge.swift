/// Judges an inspection: decides on the facts, asks the kernel, and explains.
package struct ResourceJudge {
  private let inspection: Inspection
  /// Report the walk as well, also where nothing is refused.
  private let explains: Bool
  /// The kernel contradicted the facts once already, and they were read again since.
  private let isSecond: Bool
  private let evaluator: AccessEvaluator
  private let finder: ReasonFinder

  private var facts: AccessFacts { inspection.facts }
  /// Asks about this machine; nil if the facts come from elsewhere.
  private var diagnosis: Diagnosis? { inspection.isSaved ? nil : Diagnosis(inspection) }

  /// Creates a judge.
  ///
  /// - Parameters:
  ///   - inspection: What is judged, and all that was read about it.
  ///   - explains: Report the walk as well, also where nothing is refused.
  package init(_ inspection: Inspection, explains: Bool = false) {
    self.init(inspection, explains: explains, isSecond: false)
  }

  private init(_ inspection: Inspection, explains: Bool, isSecond: Bool) {
    self.inspection = inspection
    self.explains = explains
    self.isSecond = isSecond
    evaluator = inspection.evaluator
    finder = ReasonFinder(inspection)
  }

  /// Returns a report on each target, in their order.
  package func reports() -> [AccessReport] {
    inspection.targets.map { target in
      var reports = reports(on: target.set.resources)
      for absence in target.set.absences {
        reports.append(diagnosis?.refine(absence: absence) ?? absence)
      }
      return AccessReport(
        target.name, reports, subject: inspection.subject, time: inspection.time)
    }
  }

  private func reports(on resources: [Resource]) -> [ResourceReport] {
    var reports: [ResourceReport] = []
    reports.reserveCapacity(resources.count)
    for index in resources.indices {
      let ask = inspection.ask(resources[index])
      reports.append(
        ResourceReport(
          path: ask.path, label: resources[index].label, device: resources[index].device,
          need: ask.need, status: .unavailable))
      judge(ask, &reports[index])
    }
    return reports
  }

  private func judge(_ ask: Ask, _ report: inout ResourceReport) {
    let decision = evaluator.decide(ask)
    if let kind = ask.resource.kind, let wrong = wrongKind(kind, ask.path, decision) {
      report.reasons = [wrong]
      return
    }
    let probe = inspection.probe(ask, decision)
    if isContradiction(decision, probe), let second = askedAgain(ask.resource) {
      report = second
      return
    }
    report.probe = probe
    report.status = ReasonFinder.status(decision, probe)
    let isTaken =
      report.status == .authorized && probe?.method != .open
      && diagnosis?.isTaken(ask, decision) == true
    if isTaken { report.status = .restricted }
    report.decision = described(ask, decision, isAuthorized: report.status == .authorized)
    if report.status != .authorized || !decision.isGranted || explains {
      explain(&report, ask, decision, isTaken: isTaken)
    }
  }

  /// Adds why it is not simply authorized, and what would help; or the walk, where that is wanted.
  private func explain(
    _ report: inout ResourceReport, _ ask: Ask, _ decision: Decision, isTaken: Bool
  ) {
    let probe = report.probe
    // Nothing on the way explains why the kernel refuses what the facts grant.
    let steps = decision.isGranted && !explains ? [] : evaluator.steps(ask)
    if explains { report.walk = WalkExplainer(finder).walk(steps, decision, ask.path) }
    if decision.rule == .missing { report.decision?.component = facts.missingPath(steps) }
    report.reasons = finder.reasons(ask, decision, steps: steps, probe: probe) { errno in
      Contradiction(inspection, ask, decision, probe ?? Probe(method: .none, errno: errno))
        .reason(errno)
    }
    if isTaken || probe?.isBusy == true || probe?.errno == .EBUSY,
      let busy = diagnosis?.busyReason(ask, decision, probe)
    {
      report.reasons = [busy]
    }
    if report.status != .authorized, inspection.context.need == nil,
      let lesser = ask.resource.lesserNeed, isEnough(ask.asking(for: lesser))
    {
      report.status = .limited
    }
    if report.status == .denied || report.status == .limited, !decision.isGranted {
      report.remedies = RemedyFinder(inspection).remedies(ask)
    }
    if report.status != .authorized { diagnosis?.refine(&report, ask, decision) }
  }

  /// Whether the kernel says otherwise than the facts: either may be older than a change.
  private func isContradiction(_ decision: Decision, _ probe: Probe?) -> Bool {
    guard let probe, !isSecond, probe.errno != decision.errno, !probe.isSilent(on: decision) else {
      return false
    }
    return decision.verdict != .undetermined
      && ![.EBUSY, .ENXIO, .ENODEV].contains(probe.errno)
  }

  /// Reads the facts and asks the kernel once more; nil where that cannot be done.
  private func askedAgain(_ resource: Resource) -> ResourceReport? {
    var context = inspection.context
    context.subject = inspection.subject
    let target = Inspection.Target(name: "", set: ResourceSet(resources: [resource]))
    let again = try? Inspection(context, users: inspection.users) { _ in [target] }
    return again.flatMap { again in
      ResourceJudge(again, explains: explains, isSecond: true).reports().first?.resources.first
    }
  }

  /// Why the inode is not what the accessor looks for; nil when it is, or is not reached.
  private func wrongKind(
    _ wanted: FileKind, _ path: PathBytes, _ decision: Decision
  ) -> Reason? {
    guard decision.step == .target, let inode = decision.inode, facts.inodes[inode].kind != wanted
    else { return nil }
    return Reason(
      .noDevice, .proven, "\(path) is not a \(wanted.noun)",
      evidence: [facts.inodes[inode].summary.modeText])
  }

  private func isEnough(_ ask: Ask) -> Bool {
    let ask = Ask(
      resource: ask.resource, need: ask.need, isDirectory: ask.resource.kind == .directory)
    let decision = evaluator.decide(ask)
    return ReasonFinder.status(decision, inspection.probe(ask, decision)) == .authorized
  }

  private func described(
    _ ask: Ask, _ decision: Decision, isAuthorized: Bool
  ) -> ResourceDecision {
    var basis = finder.basis(decision)
    if decision.isGranted, case .aclUser = decision.rule {
      basis = diagnosis?.basis(decision, basis) ?? basis
    }
    return ResourceDecision(
      verdict: decision.verdict, rule: decision.rule, step: decision.step,
      component: decision.inode.map { facts.path(of: $0, asked: ask.path) }, basis: basis,
      meaning: isAuthorized && (explains || inspection.context.wantsDetail)
        ? diagnosis?.meaning(ask, decision) : nil)
  }
}

extension AccessReport {
  /// Puts the reports on an accessor's resources together.
  fileprivate init(
    _ accessor: String, _ resources: [ResourceReport], subject: Subject, time: Int64
  ) {
    // Devices can stand in for one another, the resources of one device cannot.
    var devices: [String] = []
    var statuses: [AuthorizationStatus] = []
    var isRequestable = false
    devices.reserveCapacity(resources.count)
    statuses.reserveCapacity(resources.count)
    for index in resources.indices {
      let status = resources[index].status
      if let known = devices.lastIndex(of: resources[index].device) {
        statuses[known].worsen(to: status)
      } else {
        devices.append(resources[index].device)
        statuses.append(status)
      }
      // A mount or a flag of a container is for an administrator, not for a request.
      if status == .denied
        || status == .limited
          && resources[index].remedies.contains(where: \.isGrant)
      {
        isRequestable = true
      }
    }
    self.init(
      accessor: accessor, status: .any(of: statuses), isRequestable: isRequestable,
      resources: resources, subject: subject, time: time)
  }
}
