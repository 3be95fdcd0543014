/// Judges an inspection: makes the evidence about each resource, and folds what the causes find in it.
package struct ResourceJudge {
  let inspection: Inspection
  /// Whether reports contain the walk, even if access is granted.
  private let explains: Bool
  /// Whether the facts were read again because the kernel contradicted them.
  private let isRetry: Bool

  private var facts: AccessFacts { inspection.facts }

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
  }

  /// Returns one report for each target, in their order.
  package func reports() -> [AccessReport] {
    inspection.targets.map { target in
      var report = self.report(target)
      if inspection.context.root != "/" { report.root = inspection.context.root }
      report.notSeen = notSeen(by: report, of: target)
      return report
    }
  }

  /// Returns what the looks of this command could not see, and the facts that leave a resource open.
  private func notSeen(by report: AccessReport, of target: Inspection.Target) -> [Unseen] {
    var all = inspection.isSaved ? [] : inspection.system.unseen
    let isOpen = report.resources.contains { resource in
      resource.reasons.contains { $0.code == .unreadableFacts }
    }
    guard isOpen else { return all }
    for resource in target.set.resources {
      let ask = inspection.ask(resource)
      let decision = inspection.evaluator.decide(ask)
      guard decision.rule == .unreadable else { continue }
      if let error = facts.startError, !ask.path.isAbsolute {
        let process = inspection.subject.process.map { PathBytes("/proc/\($0)/cwd") }
        all.append(Unseen(process ?? ".", error))
      }
      guard let index = decision.inode else { continue }
      for unseen in facts.unseen(at: index, onTheWayTo: ask.path) where !all.contains(unseen) {
        all.append(unseen)
      }
    }
    return all
  }

  private func report(_ target: Inspection.Target) -> AccessReport {
    let absences = target.set.absences.map(judge(absence:))
    switch inspection.context.question {
    case .permissions:
      return route(to: target) == .server
        ? report(on: serverOnly(target), of: target)
        : report(target, target.set.resources.map(judge) + absences)
    case .operation: return report(onEach: target.set.resources.map(judge) + absences, of: target)
    case .newFiles(let creator):
      let files = target.set.resources.flatMap { judge(NewFiles(inspection, creator, $0)) }
      return report(onEach: absences + files, of: target)
    }
  }

  /// Returns the report on devices of which one is enough; a device needs all of its resources.
  private func report(
    on resources: [ResourceReport], of target: Inspection.Target,
    _ status: AuthorizationStatus? = nil
  ) -> AccessReport {
    AccessReport(
      accessor: target.name, status: status ?? .any(ofDevices: resources), resources: resources,
      subject: inspection.subject, time: inspection.time)
  }

  /// Returns the report on resources that are all wanted.
  private func report(
    onEach resources: [ResourceReport], of target: Inspection.Target
  ) -> AccessReport {
    report(on: resources, of: target, .worst(resources.map(\.status)))
  }

  /// Returns the report on devices, with what a server offers, if the nodes give no access.
  private func report(
    _ target: Inspection.Target, _ resources: [ResourceReport]
  ) -> AccessReport {
    var report = report(on: resources, of: target)
    if report.status != .authorized { report.requestability = requestability(resources) }
    guard !report.status.isAccess(), let family = offeredFamily(target) else { return report }
    let offer = ServerRoute(inspection, family)
    let isAny = route(to: target) == .any
    // Only another user can ask his server; facts of another machine or root say nothing about one.
    let isForOthers =
      isAny && !inspection.isSaved && inspection.context.root == "/" && !offer.isOwn
    guard let server = offer.report() ?? (isForOthers ? offer.absence : nil) else { return report }
    guard isAny else {
      report.alternatives = [server]
      return report
    }
    if server.status == .authorized {
      var offered = self.report(on: [server], of: target)
      offered.alternatives = resources
      return offered
    }
    // A server that may offer one leaves it open.
    let isOpen = server.status == .notDetermined
    var both = self.report(
      on: resources + [server], of: target, isOpen ? server.status : report.status)
    both.requestability = report.requestability
    return both
  }

  /// Returns who can make the changes that give the refused access: the changes are known, or root
  /// could find them.
  private func requestability(_ reports: [ResourceReport]) -> Requestability {
    var isPossible = false
    var needsRoot = false
    for index in reports.indices where [.denied, .limited].contains(reports[index].status) {
      for remedy in reports[index].grants {
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

  private func serverOnly(_ target: Inspection.Target) -> [ResourceReport] {
    guard let family = offeredFamily(target) else { return [] }
    let route = ServerRoute(inspection, family)
    return [route.report() ?? route.absence]
  }

  // MARK: - Resources

  private func judge(_ resource: Resource) -> ResourceReport {
    let ask = inspection.ask(resource)
    let evidence = Evidence(inspection, ask, explains: explains || ask.named != nil)
    if !isRetry, evidence.isContradiction, let second = judgedAgain(resource) {
      return second
    }
    return report(on: evidence)
  }

  private func report(on evidence: Evidence) -> ResourceReport {
    let (ask, resource) = (evidence.ask, evidence.ask.resource)
    let verdict = Verdict(Causes.all, evidence)
    var report = ResourceReport(resource, verdict, need: ask.need)
    report.remedies = typed(report.remedies)
    report.contents = evidence.contents
    report.isFolder = ask.isDirectory
    // A cover is told with all that is known of the path.
    let isOther = evidence.otherKind != nil && verdict.status == .unavailable
    if ask.named == nil, verdict.status == .unavailable, !isOther,
      evidence.decision.rule != .missing || isPlaceOfDevice(resource)
    {
      report.family = resource.family
    }
    if !isOther { describe(&report, evidence) }
    return report
  }

  private func judge(_ new: NewFiles) -> [ResourceReport] {
    guard let folder = new.folder else {
      var resource = new.resource
      resource.lesserNeed = nil
      // What is not there at all is not another kind of file.
      if facts.target(of: resource.path) != nil { resource.kind = .directory }
      return [report(on: Evidence(inspection, inspection.ask(resource), explains: true))]
    }
    if let obstacle = new.obstacle(in: folder) {
      return [ResourceReport(new.resource, Verdict(obstacle), need: new.need)]
    }
    return new.evidence(in: folder).map(report(on:))
  }

  private func judge(absence report: ResourceReport) -> ResourceReport {
    let verdict = Verdict(Absence(inspection: inspection, report: report).finding())
    var judged = report
    (judged.reasons, judged.remedies) = (verdict.reasons, typed(verdict.remedies))
    judged.status = verdict.status
    if verdict.status != report.status { judged.family = nil }
    return judged
  }

  /// Returns remedies as the person who asks here types them.
  private func typed(_ remedies: [Remedy]) -> [Remedy] {
    guard remedies.contains(where: \.needsRoot), !inspection.isSaved, inspection.context.root == "/"
    else { return remedies }
    let way = inspection.system.rootWay
    return remedies.map { remedy in
      var remedy = remedy
      remedy.rootWay = way
      return remedy
    }
  }

  /// Adds how the decision was made.
  private func describe(_ report: inout ResourceReport, _ evidence: Evidence) {
    let (ask, decision, facts) = (evidence.ask, evidence.decision, evidence.facts)
    report.probe = evidence.probe?.shown
    let meaning = Meaning(evidence)
    let wantsMeaning =
      report.status == .authorized && ask.named == nil
      && (explains || inspection.context.wantsDetail)
    report.decision = ResourceDecision(
      verdict: decision.verdict, rule: decision.rule, step: decision.step,
      component: decision.inode.map { facts.path(of: $0, asked: ask.path) },
      basis: meaning.basis, meaning: wantsMeaning ? meaning.text : nil)
    if decision.rule == .missing {
      report.decision?.component = facts.missingPath(evidence.steps)
    }
    if report.status != .authorized {
      report.isChangeable = decision.inode.map { facts.keepsChanges(of: $0) } ?? true
    }
    if let future = evidence.future {
      report.future = future.report(inspection.users)
      report.path = future.folder
      if decision.step == .target { report.decision?.component = future.folder }
      if report.reasons.first?.code == .unknownUmask { report.decision?.verdict = .undetermined }
    }
    if evidence.explains {
      let walks = WalkExplainer(ReasonFinder(evidence.inspection))
        .walks(evidence.steps, decision, ask.path, ask.named?.target)
      (report.walk, report.targetWalk) = (walks[0], walks.count > 1 ? walks[1] : [])
      report.targetPath = ask.named?.target ?? evidence.steps.next?.path
    }
    if report.status.isAccess() { report.caveat = Caveat(evidence).text }
    if let operation = ask.named {
      report.operation = operation
      report.need = decision.asked
    } else if report.status.isAccess() {
      report.aside =
        decision.inode.flatMap { OtherKind.doubt(inspection, ask.resource, $0) }
        ?? (evidence.isHere ? inspection.noSignOfLandlock : nil)
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

  /// Reads the facts and asks the kernel once more; nil if the facts cannot be read.
  private func judgedAgain(_ resource: Resource) -> ResourceReport? {
    var context = inspection.context
    context.subject = inspection.subject
    context.system = context.system.uncached()
    let target = Inspection.Target(name: "", set: ResourceSet(resources: [resource]))
    let again = try? Inspection(context, users: inspection.users) { _ in [target] }
    return again.map { ResourceJudge($0, explains: explains, isRetry: true).judge(resource) }
  }
}

extension ResourceReport {
  /// Creates the report on a resource.
  fileprivate init(_ resource: Resource, _ verdict: Verdict, need: Permissions) {
    self.init(
      path: resource.path, label: resource.label, device: resource.device, need: need,
      status: verdict.status, reasons: verdict.reasons, remedies: verdict.remedies)
  }
}

extension AuthorizationStatus {
  /// Returns the status of devices, each of which needs all of its resources.
  fileprivate static func any(ofDevices resources: [ResourceReport]) -> AuthorizationStatus {
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
    return .any(of: statuses)
  }
}
