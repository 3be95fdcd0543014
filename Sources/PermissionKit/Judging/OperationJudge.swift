/// Judges whether a subject may do more to a path than open it: delete, rename, chmod and others.
///
/// The operation is never tried, because it would then be done.
package struct OperationJudge {
  private let inspection: Inspection
  private let operation: NamedOperation
  private let finder: ReasonFinder

  /// Returns the question whether an operation is allowed.
  package static func may(_ operation: NamedOperation) -> OtherQuestion {
    OtherQuestion { reader, index in
      // Of a directory that is removed or replaced it matters whether it is empty.
      let replaced = operation.target.flatMap { reader.read($0, followsLast: false) }
      for inode in [index, replaced] {
        if let inode, [.delete, .rmdir, .rename].contains(operation.name) {
          reader.readEmptiness(inode)
        }
      }
      if operation.name == .link { reader.readSysctls() }
    } reports: {
      OperationJudge($0, operation).reports
    }
  }

  private init(_ inspection: Inspection, _ operation: NamedOperation) {
    self.inspection = inspection
    self.operation = operation
    finder = ReasonFinder(inspection)
  }

  private var reports: [AccessReport] {
    inspection.targets.map { target in
      let resources = target.set.resources.map(report) + target.set.absences
      var status = resources.first?.status ?? .unavailable
      for resource in resources { status.worsen(to: resource.status) }
      var report = AccessReport(
        accessor: target.name, status: status, resources: resources, subject: inspection.subject,
        time: inspection.time)
      if inspection.context.root != "/" { report.root = inspection.context.root }
      return report
    }
  }

  private func report(_ resource: Resource) -> ResourceReport {
    let call = OperationQuestion(operation.call(at: resource.path, inspection.facts))
    var ask = ResourceQuery(
      resource: resource, need: [], isDirectory: false, isSocket: operation.name == .connect)
    ask.operation = call
    let (decision, steps) = inspection.evaluator.explain(.operation(call), path: ask.path)
    var report = ResourceReport(
      path: ask.path, label: resource.label, device: resource.device, need: decision.asked,
      status: StatusRules.status(decision))
    report.operation = operation
    report.decision = ResourceDecision(
      verdict: decision.verdict, rule: decision.rule, step: decision.step,
      component: decision.inode.map { inspection.facts.path(of: $0) },
      basis: finder.basis(decision), meaning: nil)
    let walks = WalkExplainer(finder).walks(steps, decision, ask.path, operation.target)
    (report.walk, report.targetWalk) = (walks[0], walks.count > 1 ? walks[1] : [])
    if decision.rule == .missing {
      report.decision?.component = inspection.facts.missingPath(steps)
    }
    if let errno = decision.errno { explain(&report, ask, decision, errno, steps) }
    if decision.verdict == .undetermined {
      var reason = finder.undetermined(decision, ask, nil)
      if decision.rule == .fileSystemRules {
        reason.ownAdvice = "only doing it as \(finder.name) shows whether it is allowed"
      }
      report.reasons = [reason]
    }
    if decision.isGranted { addPossibleRefusals(&report, ask, decision) }
    return report
  }

  private func explain(
    _ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision, _ errno: Errno,
    _ steps: [WalkStep]
  ) {
    report.reasons = [
      finder.refusal(operation, ask, decision, errno, steps: steps)
    ]
    if decision.rule == .notEmpty, operation.name != .rename {
      report.reasons[0].ownAdvice = "delete what is in it first"
    }
    if decision.rule == .needsChown || decision.rule == .needsMknod {
      report.reasons[0].ownAdvice = "let root do it"
    }
    report.remedies = RemedyFinder(inspection).remedies(ask)
    if !report.remedies.isEmpty {
      report.status = .denied
    } else if decision.rule.bits != nil {
      report.reasons[0].ownAdvice = ResourceJudge(inspection).whyNoChange(decision)
    }
    guard !inspection.isSaved else { return }
    Diagnosis(inspection).refine(&report, ask, decision)
  }

  /// Adds the layers that may refuse what mode and ACL grant, and that cannot be inspected.
  private func addPossibleRefusals(
    _ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision
  ) {
    guard !inspection.isSaved else { return }
    let diagnosis = Diagnosis(inspection)
    if diagnosis.isBusy(ask), let busy = diagnosis.busyReason(ask, decision, nil) {
      (report.status, report.reasons) = (.restricted, [busy])
      return
    }
    var possibleRefusals = diagnosis.refusalsOfProcess(ask, decision, nil)
    if inspection.subject.source == .current,
      let doubt = diagnosis.confined("only doing it shows whether it may")
    {
      possibleRefusals.append(doubt)
    }
    if !possibleRefusals.isEmpty {
      (report.status, report.reasons) = (.notDetermined, possibleRefusals)
    }
  }
}
