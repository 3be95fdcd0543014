/// Judges an inspection: decides on the facts, asks the kernel, and finds the reasons.
package struct ResourceJudge {
  let inspection: Inspection
  /// Whether reports contain the walk, even if access is granted.
  private let explains: Bool
  /// Whether the facts were read again because the kernel contradicted them.
  private let isRetry: Bool
  private let evaluator: AccessEvaluator
  private let finder: ReasonFinder

  private var facts: AccessFacts { inspection.facts }
  /// Examines this machine; nil if the facts were saved earlier or elsewhere.
  private var diagnosis: Diagnosis? { inspection.isSaved ? nil : Diagnosis(inspection) }

  /// Creates a judge.
  ///
  /// - Parameters:
  ///   - inspection: The subject, the resources and the facts.
  ///   - explains: Whether reports contain the walk, even if access is granted.
  package init(_ inspection: Inspection, explains: Bool = false) {
    self.init(inspection, explains: explains, isRetry: false)
  }

  private init(_ inspection: Inspection, explains: Bool, isRetry: Bool) {
    self.inspection = inspection
    self.explains = explains
    self.isRetry = isRetry
    evaluator = inspection.evaluator
    finder = ReasonFinder(inspection)
  }

  /// Returns one report for each target, in their order.
  package func reports() -> [AccessReport] {
    inspection.targets.map { target in
      var report = self.report(target)
      if inspection.context.root != "/" { report.root = inspection.context.root }
      return report
    }
  }

  private func report(_ target: Inspection.Target) -> AccessReport {
    let route = route(to: target)
    if route == .server { return serverReport(target) }
    var reports = reports(on: target.set.resources)
    for absence in target.set.absences {
      reports.append(diagnosis?.refine(absence: absence) ?? absence)
    }
    var report = AccessReport(
      target.name, reports, subject: inspection.subject, time: inspection.time)
    if report.status != .authorized { report.requestability = requestability(reports) }
    addServer(to: &report, target, route)
    return report
  }

  /// Returns who can make the changes that give the refused access: the changes are known, or root
  /// could find them.
  private func requestability(_ reports: [ResourceReport]) -> Requestability {
    var isPossible = false
    var needsRoot = false
    for index in reports.indices where [.denied, .limited].contains(reports[index].status) {
      for remedy in reports[index].remedies where remedy.isGrant {
        isPossible = true
        if remedy.needsRoot { needsRoot = true }
      }
      if reports[index].isHidden { (isPossible, needsRoot) = (true, true) }
      if reports[index].contents?.isCut == true { isPossible = true }
    }
    if isPossible {
      let isRoot = !needsRoot || !inspection.isSaved && inspection.system.isRoot
      return isRoot ? .now : .onlyByRoot
    }
    let refused = reports.firstIndex { $0.status != .authorized && !$0.reasons.isEmpty }
    return .never(
      refused.map { reports[$0].reasons[0].message } ?? "no change of permissions helps")
  }

  // MARK: - Servers

  /// The kind of device that a server may offer instead of the nodes of a target; nil if the target
  /// is a single node.
  private func offeredFamily(_ target: Inspection.Target) -> DeviceFamily? {
    guard inspection.context.path == nil, target.name != "path" else { return nil }
    let family = target.set.resources.first?.family ?? target.set.absences.first?.family
    return family?.mediaClass == nil ? nil : family
  }

  /// The route to a target that the status is about.
  private func route(to target: Inspection.Target) -> AudioRoute {
    offeredFamily(target)?.busyTest == .soundSubstreams ? inspection.context.through : .alsa
  }

  private func serverReport(_ target: Inspection.Target) -> AccessReport {
    let resources = offeredFamily(target).map { family in
      let route = ServerRoute(inspection, family)
      return [route.report() ?? route.absence]
    }
    return AccessReport(
      target.name, resources ?? [], subject: inspection.subject, time: inspection.time)
  }

  /// Adds what a server offers, if the nodes give no access or the caller wants to know.
  private func addServer(
    to report: inout AccessReport, _ target: Inspection.Target, _ route: AudioRoute
  ) {
    guard !report.status.isAccess(),
      let family = offeredFamily(target), let server = ServerRoute(inspection, family).report()
    else { return }
    guard route == .any else {
      report.alternatives = [server]
      return
    }
    switch server.status {
    case .authorized:
      report.status = .authorized
      report.requestability = .notNeeded
      report.alternatives = report.resources
      report.resources = [server]
    case .notDetermined:
      report.status = .notDetermined
      report.resources.append(server)
    case .limited, .denied, .restricted, .unavailable: report.resources.append(server)
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

  private func judge(_ ask: ResourceQuery, _ report: inout ResourceReport) {
    let decision = evaluator.decide(ask)
    let otherKind =
      decision.step == .target
      ? decision.inode.flatMap { inspection.otherKind(ask.resource, $0) } : nil
    // What is of another type is not opened.
    let probe = otherKind == nil ? inspection.probe(ask, decision) : nil
    if otherKind == nil, isContradiction(decision, probe),
      let second = judgedAgain(ask.resource)
    {
      report = second
      return
    }
    report.contents = otherKind == nil ? contents(ask, decision, probe) : nil
    report.isFolder = ask.isDirectory
    let ruling = StatusRules(
      inspection: inspection, ask: ask, decision: decision, probe: probe, otherKind: otherKind,
      contents: report.contents, diagnosis: diagnosis
    ).ruling()
    report.status = ruling.status
    if ruling.status == .unavailable, ruling.rule != .otherKind,
      decision.rule != .missing || isPlaceOfDevice(ask.resource)
    {
      report.family = ask.resource.family
    }
    if ruling.rule == .otherKind {
      report.reasons = ruling.reasons
      return
    }
    report.probe = probe?.shown
    report.decision = resourceDecision(ask, decision, isAuthorized: report.status == .authorized)
    if report.status.isAccess() {
      report.aside =
        decision.inode.flatMap { inspection.unknownDevice(ask.resource, $0) }
        ?? diagnosis?.noSignOfLandlock
    }
    if report.status != .authorized || !decision.isGranted || explains {
      explain(&report, ask, decision, ruling)
    }
    switch ruling.rule {
    case .covered: (report.reasons, report.remedies) = (ruling.reasons, ruling.remedies)
    case .possiblyRefused, .notListening, .contents, .login: report.reasons = ruling.reasons
    case .locked where report.reasons.isEmpty:
      report.reasons = [finder.locked(ask.path, ["STATX_ATTR_ENCRYPTED"])]
    case .otherKind, .locked, .busy, .granted, .limited, .service, .refused: break
    }
    if ruling.rule == .contents { report.remedies = remedies(ask, report.contents) }
    if let probe, probe.isLate, let obstacle = probe.obstacle {
      report.reasons = [Reason(.notAnswering, .proven, obstacle)]
    }
  }

  /// Whether the path is one that a device of the family would have: `/dev/video9`,
  /// `/dev/v4l/by-id/usb-…`.
  private func isPlaceOfDevice(_ resource: Resource) -> Bool {
    guard let family = resource.family else { return false }
    let root = inspection.context.root
    // The links that udev makes, see /usr/lib/udev/rules.d/60-*.rules.
    return family.isPlace(resource.path, below: root)
      || resource.path.isBelow(root.appending("dev"))
        && resource.path.components.contains { $0.hasPrefix("by-") }
  }

  /// Adds the reasons and remedies, and the walk if the caller wants it.
  private func explain(
    _ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision,
    _ ruling: StatusRules.Ruling
  ) {
    let probe = report.probe
    // If the facts grant access, no step of the walk explains a refusal.
    let steps = decision.isGranted && !explains ? [] : evaluator.steps(ask)
    if explains { report.walk = WalkExplainer(finder).walk(steps, decision, ask.path) }
    if decision.rule == .missing { report.decision?.component = facts.missingPath(steps) }
    report.reasons = finder.reasons(ask, decision, steps: steps, probe: probe) { errno in
      if probe?.method == .enter, let reason = diagnosis?.refusedInside(ask, errno, probe) {
        return reason
      }
      return Contradiction(
        inspection, ask, decision, probe ?? Probe(method: .none, errno: errno)
      ).reason(errno)
    }
    if ruling.rule == .busy || probe?.isBusy == true
      || [.EBUSY, .ETXTBSY].contains(probe?.errno),
      let busy = diagnosis?.busyReason(ask, decision, probe)
    {
      report.reasons = [busy]
    }
    if ruling.rule == .limited { report.reasons += ruling.reasons }
    report.isChangeable = isChangeable(decision)
    if report.status == .denied || report.status == .limited, !decision.isGranted {
      report.remedies = RemedyFinder(inspection).remedies(ask)
      if report.remedies.isEmpty, !report.reasons.isEmpty {
        report.reasons[0].ownAdvice = report.reasons[0].ownAdvice ?? whyNoChange(decision)
      }
    }
    if report.status != .authorized { diagnosis?.refine(&report, ask, decision) }
  }

  /// Returns why no change of the refusing mode or ACL helps; nil if there is no special obstacle.
  func whyNoChange(_ decision: Decision) -> String? {
    guard let index = decision.inode, decision.rule.bits != nil else { return nil }
    let (inode, path) = (facts.inodes[index], facts.path(of: index))
    let mount = facts.mounts[inode.mount]
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
    return decision.step == .walk && inspection.method != .none
      ? "ask as root, who sees what is below \(path)" : nil
  }

  /// Returns whether a change of the refusing mode or ACL would be stored and would take effect.
  private func isChangeable(_ decision: Decision) -> Bool {
    guard let index = decision.inode else { return true }
    return facts.keepsChanges(of: index)
  }

  /// Returns whether the kernel contradicts the facts, perhaps because something changed meanwhile.
  private func isContradiction(_ decision: Decision, _ probe: Probe?) -> Bool {
    guard let probe, !isRetry, probe.obstacle == nil, probe.errno != decision.errno,
      !probe.isInconclusive
    else {
      return false
    }
    return decision.verdict != .undetermined
      && ![.EBUSY, .ETXTBSY, .ENXIO, .ENODEV].contains(probe.errno)
  }

  /// Reads the facts and asks the kernel once more; nil if the facts cannot be read.
  private func judgedAgain(_ resource: Resource) -> ResourceReport? {
    var context = inspection.context
    context.subject = inspection.subject
    context.system = context.system.uncached()
    let target = Inspection.Target(name: "", set: ResourceSet(resources: [resource]))
    let again = try? Inspection(context, users: inspection.users) { _ in [target] }
    return again.flatMap { again in
      ResourceJudge(again, explains: explains, isRetry: true).reports().first?.resources.first
    }
  }

  private func resourceDecision(
    _ ask: ResourceQuery, _ decision: Decision, isAuthorized: Bool
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
  /// Creates the report on an accessor from the reports on its resources.
  fileprivate init(
    _ accessor: String, _ resources: [ResourceReport], subject: Subject, time: Int64
  ) {
    // One usable device is enough, but a device needs all of its resources.
    var devices: [String] = []
    var statuses: [AuthorizationStatus] = []
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
    }
    self.init(
      accessor: accessor, status: .any(of: statuses), resources: resources, subject: subject,
      time: time)
  }
}
