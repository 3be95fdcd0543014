/// Judges one resource: decides on the facts, asks the kernel, and explains.
struct ResourceJudge {
  let context: AccessContext
  let users: UserDatabase
  let subject: Subject
  let facts: AccessFacts
  /// Report the walk as well, also where nothing is refused.
  let explains: Bool
  private let evaluator: AccessEvaluator
  private let finder: ReasonFinder
  private let diagnosis: Diagnosis
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
    evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    finder = ReasonFinder(users: users, subject: subject, facts: facts)
    diagnosis = Diagnosis(context: context, users: users, subject: subject, facts: facts)
  }

  func report(_ resource: Resource) -> ResourceReport {
    let isDirectory = (resource.kind ?? facts.kind(of: resource.path)) == .directory
    let need = context.need ?? resource.need
    let decision = evaluator.decide(need, resource.path, isDirectory: isDirectory)

    var report = ResourceReport(
      path: resource.path, label: resource.label, device: resource.device, need: need,
      status: .notDetermined)
    if let wrong = wrongKind(resource, decision) {
      report.status = .unavailable
      report.reasons = [wrong]
      return report
    }
    let probe = ask(resource.path, need, decision, isDirectory: isDirectory)
    if let second = askedAgain(resource, decision, probe) { return second }
    report.probe = probe
    report.status = ReasonFinder.status(decision, probe)
    report.decision = described(decision)
    let isTaken =
      report.status == .authorized && probe?.method != .open && diagnosis.isTaken(decision)
    if isTaken { report.status = .restricted }
    if report.status == .authorized, explains || context.wantsDetail {
      report.decision?.meaning = diagnosis.meaning(decision)
    }
    guard report.status != .authorized || !decision.isGranted || explains else { return report }

    let steps = evaluator.explain(need, resource.path, isDirectory: isDirectory)
    if explains { report.walk = WalkExplainer(finder).walk(steps, decision, resource.path) }
    report.decision?.component = component(decision, steps)
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
    return report
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
      method: context.probesAsSelf)
  }

  /// Reads the facts and asks the kernel once more where the two contradict each other, for either
  /// may be older than a change; nil where they agree, or did not the second time either.
  private func askedAgain(
    _ resource: Resource, _ decision: Decision, _ probe: Probe?
  ) -> ResourceReport? {
    guard let probe, !isSecond, probe.errno != decision.errno, decision.verdict != .undetermined,
      ![.EBUSY, .ENXIO, .ENODEV].contains(probe.errno),
      var reader = try? FactsReader(context.system)
    else { return nil }
    reader.read(resource.path)
    var judge = ResourceJudge(
      context: context, users: users, subject: subject, facts: reader.finish(), explains: explains)
    judge.isSecond = true
    return judge.report(resource)
  }

  /// Why the inode is not what the accessor looks for; nil when it is, or is not reached.
  private func wrongKind(_ resource: Resource, _ decision: Decision) -> Reason? {
    guard decision.step == .target, let inode = decision.inode, let wanted = resource.kind,
      facts.inodes[inode].kind != wanted
    else { return nil }
    let names: [InodeFacts.Kind: String] = [
      .directory: "directory", .characterDevice: "character device",
    ]
    return Reason(
      .noDevice, .proven,
      "\(resource.path) is not a \(names[wanted] ?? wanted.rawValue)",
      evidence: [facts.inodes[inode].modeText])
  }

  private func isEnough(_ need: Permissions, _ resource: Resource) -> Bool {
    let isDirectory = resource.kind == .directory
    let decision = evaluator.decide(need, resource.path, isDirectory: isDirectory)
    let probe = ask(resource.path, need, decision, isDirectory: isDirectory)
    return ReasonFinder.status(decision, probe) == .authorized
  }

  private func described(_ decision: Decision) -> ResourceDecision {
    var basis = finder.basis(decision)
    if decision.isGranted, case .aclUser = decision.rule {
      basis = diagnosis.basis(decision, basis) ?? basis
    }
    return ResourceDecision(
      verdict: decision.verdict, rule: decision.rule, step: decision.step,
      component: decision.inode.map { facts.path(of: $0) }, basis: basis)
  }

  private func component(_ decision: Decision, _ steps: [WalkStep]) -> PathBytes? {
    if decision.rule == .missing { return facts.missingPath(steps) }
    return decision.inode.map { facts.path(of: $0) }
  }
}

extension AccessFacts {
  /// The file type of what `path` names, whoever asks; nil when the facts do not reach it.
  func kind(of path: PathBytes) -> InodeFacts.Kind? {
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
