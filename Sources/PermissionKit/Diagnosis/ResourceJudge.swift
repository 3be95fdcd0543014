/// Judges resources: decides on the facts, asks the kernel, and explains.
final class ResourceJudge {
  let context: AccessContext
  let users: UserDatabase
  let subject: Subject
  let facts: AccessFacts
  /// Report the walk as well, also where nothing is refused.
  let explains: Bool
  private let evaluator: AccessEvaluator
  private let finder: ReasonFinder
  private let method: Probe.Method
  /// The kernel contradicted the facts once already, and they were read again since.
  private var isSecond = false

  init(
    context: AccessContext, users: UserDatabase, subject: Subject, facts: AccessFacts,
    explains: Bool = false
  ) {
    self.context = context
    self.users = users
    self.subject = subject
    self.facts = facts
    self.explains = explains
    method = context.probesAsSelf
    evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    finder = ReasonFinder(users: users, subject: subject, facts: facts)
  }

  private var diagnosis: Diagnosis {
    Diagnosis(context: context, users: users, subject: subject, facts: facts)
  }

  /// A report on each, in their order.
  func reports(on resources: [Resource]) -> [ResourceReport] {
    var reports: [ResourceReport] = []
    reports.reserveCapacity(resources.count)
    for index in resources.indices {
      reports.append(
        ResourceReport(
          path: resources[index].path, label: resources[index].label,
          device: resources[index].device, need: context.need ?? resources[index].need,
          status: .unavailable))
      judge(resources, index, &reports[index])
    }
    return reports
  }

  private func judge(
    _ resources: [Resource], _ index: Int, _ report: inout ResourceReport
  ) {
    let isDirectory = (resources[index].kind ?? facts.kind(of: report.path)) == .directory
    let decision = evaluator.decide(report.need, report.path, isDirectory: isDirectory)
    if let kind = resources[index].kind, let wrong = wrongKind(kind, report.path, decision) {
      report.reasons = [wrong]
      return
    }
    let probe = ask(report.path, report.need, decision, isDirectory: isDirectory)
    if isContradiction(decision, probe), let second = askedAgain(resources[index]) {
      report = second
      return
    }
    report.probe = probe
    report.status = ReasonFinder.status(decision, probe)
    let isTaken =
      report.status == .authorized && probe?.method != .open && diagnosis.isTaken(decision)
    if isTaken { report.status = .restricted }
    report.decision = described(
      decision, report.path, isAuthorized: report.status == .authorized)
    if report.status != .authorized || !decision.isGranted || explains {
      explain(
        &report, resources[index], decision, isDirectory: isDirectory, isTaken: isTaken)
    }
  }

  private func ask(
    _ path: PathBytes, _ need: Permissions, _ decision: Decision, isDirectory: Bool
  ) -> Probe? {
    let isVideo = decision.inode.map {
      facts.inodes[$0].kind == .characterDevice && facts.inodes[$0].device?.major == 81
    }
    return Probe.ask(
      context.system, path, need, isDirectory: isDirectory,
      isVideo: isVideo == true && decision.step == .target && need != .execute,
      method: method)
  }

  /// Adds why it is not simply authorized, and what would help; or the walk, where that is wanted.
  private func explain(
    _ report: inout ResourceReport, _ resource: Resource, _ decision: Decision,
    isDirectory: Bool, isTaken: Bool
  ) {
    let (need, probe) = (report.need, report.probe)
    // Nothing on the way explains why the kernel refuses what the facts grant.
    let steps =
      decision.isGranted && !explains
      ? [] : evaluator.explain(need, resource.path, isDirectory: isDirectory)
    if explains { report.walk = WalkExplainer(finder).walk(steps, decision, resource.path) }
    if decision.rule == .missing { report.decision?.component = facts.missingPath(steps) }
    report.reasons = finder.reasons(
      decision, steps: steps, probe: probe, path: resource.path, need: need
    ) { errno in
      Contradiction(
        system: context.system, facts: facts, decision: decision,
        probe: probe ?? Probe(method: .none, errno: errno), path: resource.path, need: need,
        isDirectory: isDirectory
      ).reason(errno)
    }
    if isTaken || probe?.isBusy == true || probe?.errno == .EBUSY,
      let busy = diagnosis.busyReason(decision, probe, resource.path)
    {
      report.reasons = [busy]
    }
    if report.status != .authorized, context.need == nil, let lesser = resource.lesserNeed,
      isEnough(lesser, resource)
    {
      report.status = .limited
    }
    if report.status == .denied || report.status == .limited, !decision.isGranted {
      report.remedies = RemedyFinder(users: users, subject: subject, facts: facts)
        .remedies(path: resource.path, need: need, isDirectory: isDirectory)
    }
    if report.status != .authorized {
      diagnosis.refine(&report, decision, isDirectory: isDirectory)
    }
  }

  /// Whether the kernel says otherwise than the facts: either may be older than a change.
  private func isContradiction(_ decision: Decision, _ probe: Probe?) -> Bool {
    guard let probe, !isSecond, probe.errno != decision.errno else { return false }
    return decision.verdict != .undetermined
      && ![.EBUSY, .ENXIO, .ENODEV].contains(probe.errno)
  }

  /// Reads the facts and asks the kernel once more; nil where that cannot be done.
  private func askedAgain(_ resource: Resource) -> ResourceReport? {
    guard let facts = try? FactsReader.facts(of: [resource.path], context.system) else {
      return nil
    }
    let judge = ResourceJudge(
      context: context, users: users, subject: subject, facts: facts, explains: explains)
    judge.isSecond = true
    return judge.reports(on: [resource])[0]
  }

  /// Why the inode is not what the accessor looks for; nil when it is, or is not reached.
  private func wrongKind(
    _ wanted: FileKind, _ path: PathBytes, _ decision: Decision
  ) -> Reason? {
    guard decision.step == .target, let inode = decision.inode, facts.inodes[inode].kind != wanted
    else { return nil }
    let names: [FileKind: String] = [
      .directory: "directory", .characterDevice: "character device",
    ]
    return Reason(
      .noDevice, .proven,
      "\(path) is not a \(names[wanted] ?? wanted.rawValue)",
      evidence: [facts.inodes[inode].modeText])
  }

  private func isEnough(_ need: Permissions, _ resource: Resource) -> Bool {
    let isDirectory = resource.kind == .directory
    let decision = evaluator.decide(need, resource.path, isDirectory: isDirectory)
    let probe = ask(resource.path, need, decision, isDirectory: isDirectory)
    return ReasonFinder.status(decision, probe) == .authorized
  }

  private func described(
    _ decision: Decision, _ path: PathBytes, isAuthorized: Bool
  ) -> ResourceDecision {
    var basis = finder.basis(decision)
    if decision.isGranted, case .aclUser = decision.rule {
      basis = diagnosis.basis(decision, basis) ?? basis
    }
    return ResourceDecision(
      verdict: decision.verdict, rule: decision.rule, step: decision.step,
      component: decision.inode.map { facts.path(of: $0, asked: path) }, basis: basis,
      meaning: isAuthorized && (explains || context.wantsDetail)
        ? diagnosis.meaning(decision) : nil)
  }
}

extension AccessFacts {
  /// The file type of what `path` names, whoever asks; nil when the facts do not reach it.
  func kind(of path: PathBytes) -> FileKind? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: self, credentials: anybody)
      .decide(.open(.path), path: path)
    return decision.isGranted ? decision.inode.map { inodes[$0].kind } : nil
  }
}

extension AccessEvaluator {
  /// The steps of the question that decides in `decide(_:_:isDirectory:)`.
  func explain(_ need: Permissions, _ path: PathBytes, isDirectory: Bool) -> [WalkStep] {
    let whole = decide(need, path, isDirectory: isDirectory)
    let opened = explain(
      isDirectory ? .open([.readOnly, .directory]) : .open(OpenFlags(need)), path: path)
    let asked = explain(.faccessat2(need, followsLink: true), path: path)
    // A directory's open asks for reading alone.
    let first = isDirectory ? asked : opened
    return first.decision == whole ? first.steps : isDirectory ? opened.steps : asked.steps
  }
}
