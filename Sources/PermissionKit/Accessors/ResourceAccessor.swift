/// An accessor for device nodes, files and directories.
///
/// A subclass returns them in `resources(for:)`. This class does the rest: it reads the facts,
/// decides, asks the kernel if possible, and finds the reasons.
open class ResourceAccessor: PermissionAccessor {
  /// The subject, the system, the root directory and the options of the check.
  public let context: AccessContext
  /// How to request missing access.
  public var grants = GrantOptions()
  /// Whether files of the subject, such as user-dirs.dirs(5), name the resources; devices are never
  /// named so.
  package var followsSubject = true
  /// Additional lines for people in each plan of a request.
  package var planNotes: [String] = []
  /// The journal's id of the latest request's grants; nil if it made none, or the helper made them.
  package private(set) var made: String?
  /// The answer of permcheck-helper to the latest request; nil if it was not asked.
  package private(set) var answer: HelperAnswer?
  /// The inspection of the latest check; nil if it failed.
  package private(set) var inspection: Inspection?
  /// The subject's open grants, read before the facts of the latest check of a request.
  ///
  /// Access that ends after the facts were read still has its grant here.
  private var ledgerBefore = GrantLedger()
  /// The resources of the latest look, before the journal was locked.
  private var foundBefore: ResourceSet?

  /// Creates an accessor.
  ///
  /// - Parameters:
  ///   - name: The name of the accessor.
  ///   - context: The subject, the system and the options of the check.
  ///   - analytics: The log that receives the events.
  public init(name: String, context: AccessContext, analytics: AnalyticsLog = .shared) {
    self.context = context
    super.init(name: name, analytics: analytics)
  }

  /// Returns the nodes, files and directories that the accessor needs.
  ///
  /// - Parameter subject: The user or process to judge for.
  /// - Returns: The resources to judge, and reports on those that are missing.
  open func resources(for subject: Subject) -> ResourceSet { ResourceSet() }

  /// Returns the folders and files that `resources(for:)` reads, so that they can be watched.
  ///
  /// - Parameter subject: The user or process to judge for.
  /// - Returns: Absolute paths; they need not exist.
  open func sources(for subject: Subject) -> [PathBytes] { [] }

  open override func checkAccess() -> AccessReport {
    inspection = nil
    do throws(PermissionError) {
      let inspection = try inspect()
      self.inspection = inspection
      if var report = ResourceJudge(inspection).reports().first {
        report.requestability = requestability(report)
        return report
      }
    } catch {
      var failure = error
      failure.advice = nil
      var reason = Reason(.unreadableFacts, .proven, failure.description)
      reason.ownAdvice = error.advice
      let resource = ResourceReport(
        path: context.path ?? context.root, label: name, device: name, need: [],
        status: .notDetermined, reasons: [reason])
      return AccessReport(
        accessor: name, status: .notDetermined, resources: [resource],
        subject: try? Inspection.subject(context))
    }
    return AccessReport(
      accessor: name, status: .notDetermined, subject: inspection?.subject,
      time: inspection?.time)
  }

  /// Returns who can make the changes of the report, with these options.
  private func requestability(_ report: AccessReport) -> Requestability {
    guard report.requestability.isPossible else { return report.requestability }
    guard grants.strategy.isCarriedOut else {
      return .never("the strategy \(grants.strategy.name) changes nothing")
    }
    let others = report.remedies.filter(\.isGrant).flatMap(\.othersAffected)
    if let first = others.first, !grants.allowsOthers {
      return .never("every change that gives access also gives it to others: \(first)")
    }
    let isOpen = report.requestability == .now || grants.elevation != nil
    return isOpen ? .now : .onlyByRoot
  }

  package override func requestability(
    of planned: Result<GrantPlan?, PermissionError>
  ) -> Requestability? {
    switch planned {
    case .success(let plan?):
      guard grants.strategy.isCarriedOut else { return nil }
      return Requestability(needsRoot: plan.needsRoot, hasWayToRoot: grants.elevation != nil)
    case .success(nil): return .never("no change of permissions gives access")
    case .failure(let error): return .never(error.description)
    }
  }

  private func inspect() throws(PermissionError) -> Inspection {
    try Inspection(context) { (subject) throws(PermissionError) -> [Inspection.Target] in
      if isPreparing { ledgerBefore = ledger(for: subject.credentials.user.fileSystem) }
      var set = resources(for: subject)
      foundBefore = set
      if set.resources.isEmpty, set.absences.isEmpty {
        set.absences = [
          ResourceSet.absence(
            context.path ?? context.root, label: name, device: name, status: .unavailable,
            Reason(.noDevice, .proven, "there is no \(name)"))
        ]
      }
      return [Inspection.Target(name: name, set: set)]
    }
  }

  /// Carries out the plan of `grants.strategy` if `grants.consent` agrees.
  ///
  /// - Parameter report: The report of the check before the request.
  /// - Returns: The same report, with the outcome of the request.
  /// - Throws: If a change cannot be made or undone.
  open override func requestAccess(
    _ report: AccessReport
  ) throws(PermissionError) -> AccessReport {
    var report = report
    report.requestOutcome = try carryOut()
    return report
  }

  /// Adds a grant, because the access depends on one that may end earlier.
  package override func keepAccess() throws(PermissionError) -> RequestOutcome? { try carryOut() }

  /// Whether the subject has grants that may end before those that `grants` asks for, or a group that has access by a
  /// grant of another user.
  package override var endsTooEarly: Bool {
    guard grants.strategy.isCarriedOut, let ids = inspection?.subject.credentials else {
      return false
    }
    let uid = ids.user.fileSystem
    return ledgerBefore.grants(of: uid).contains(where: mayEndEarlier)
      || ledgerBefore.entries.contains { entry in
        entry.uid != uid && entry.owningGroup.map { ids.isMember(of: $0.after.gid) } == true
      }
  }

  /// Returns whether a grant may end before those that `grants` asks for.
  private func mayEndEarlier(_ grant: Grant) -> Bool {
    switch grant.stage {
    case .active, .intended, .applied: !grant.lifetime.outlasts(grants.lifetime)
    case .undoing: true
    case .released, .missing, .ended, .deleted, .undone: false
    }
  }

  /// The open grants of this process's journal, and those that root made for the subject.
  ///
  /// - Returns: The grants; empty if the journal cannot be read.
  private func ledger(for uid: UInt32, _ known: GrantLedger? = nil) -> GrantLedger {
    let journal = try? GrantJournal.standard(context.system)
    var ledger = known ?? grants.journaled ?? (try? journal?.ledger()) ?? GrantLedger()
    ledger.add(rootLedger(journal, for: uid))
    return ledger
  }

  /// Returns root's grants to the subject; empty if the journal of this process is root's.
  private func rootLedger(_ journal: GrantJournal?, for uid: UInt32) -> GrantLedger {
    let isRoots = journal?.path == GrantJournal.root(context.system).path
    return isRoots ? GrantLedger() : GrantMirror(context.system).ledger(of: uid)
  }

  private func carryOut() throws(PermissionError) -> RequestOutcome {
    (made, answer) = (nil, nil)
    guard grants.strategy.isCarriedOut, let plan = try agreedPlan() else { return .nothingToChange }
    // No question where nothing could be done.
    if plan.needsRoot, grants.elevation == nil { return .needsRoot }
    if let obstacle = grants.despite.map({ plan.obstacles(despite: $0) })?.first {
      throw PermissionError(
        .changeFailed, obstacle.message, path: obstacle.path,
        advice: (obstacle.instead.map { "give \($0), or " } ?? "")
          + "accept that \(obstacle.program) refuses it (despite)")
    }
    guard let consent = grants.consent, try consent(plan) else { return .declined }
    try beginChange()
    if plan.needsRoot, let elevation = grants.elevation {
      answer = try elevation.request(
        ElevatedRequest(
          accessor: name, strategy: grants.strategy.name, need: context.need,
          lifetime: grants.lifetime))
      context.system.forget()
      return .askedRoot
    }
    let outcome = try GrantJournal.standard(context.system).carryOut {
      (journaled) throws(PermissionError) -> [Grant] in
      // The journal is locked now; the new plan must not exceed the one that was agreed to.
      guard var fresh = try grantPlan(journaled) else { return [] }
      guard fresh.isCovered(by: [plan]) else { throw .planChanged }
      if let copied = try fresh.copiedUp(context.system) {
        guard let again = try grantPlan(journaled), again.isCovered(by: [copied]) else {
          throw .planChanged
        }
        fresh = again
      }
      return fresh.grants(lasting: grants.lifetime)
    }
    made = outcome.grants.first?.request
    return outcome.grants.isEmpty ? .nothingToChange : .granted
  }

  /// The plan of the request that is carried out.
  ///
  /// A new plan is made if `prepare()` made none, or if another accessor of the batch may have made
  /// changes since.
  private func agreedPlan() throws(PermissionError) -> GrantPlan? {
    guard requestLock == nil, let prepared else { return try grantPlan() }
    return try prepared.planned.get()
  }

  /// Returns the plan from the facts of the latest check; reads them again if no plan follows from them.
  package override func plannedChanges() throws(PermissionError) -> GrantPlan? {
    guard let inspection, !grants.isRecursive else { return try grantPlan() }
    let wanted = inspection.targets.flatMap(\.set.resources).map { resource in
      context.need.map(resource.needing) ?? resource
    }
    do throws(PermissionError) {
      return try plan(inspection, wanted, ledgerBefore)
    } catch {
      guard error.errno == .EAGAIN else { throw error }
      return try grantPlan()
    }
  }

  /// Reads the facts, and returns the changes that would give access by the strategy in `grants`.
  ///
  /// - Parameter journaled: The open grants of the journal, if it is locked.
  /// - Returns: The plan; nil if there is nothing to change, or no change helps.
  /// - Throws: If there is an obstacle that a person must resolve.
  package final func grantPlan(
    _ journaled: GrantLedger? = nil
  ) throws(PermissionError) -> GrantPlan? {
    // Another request may change the same inodes during the reads; then the facts are inconsistent.
    for _ in 0..<15 {
      do throws(PermissionError) {
        return try planOnce(journaled)
      } catch {
        guard error.errno == .EAGAIN else { throw error }
      }
    }
    return try planOnce(journaled)
  }

  /// Returns whether files of an ordinary user name the resources that root would change.
  ///
  /// False for devices, and for a path that the caller names.
  private func isChosenByAnother(
    _ subject: Subject, _ resources: [Resource]
  ) throws(PermissionError) -> Bool {
    do throws(Errno) {
      return try context.system.credentials().isRoot && context.path == nil
        && followsSubject && subject.credentials.user.fileSystem != 0
        && resources.contains { $0.family == nil }
    } catch {
      throw PermissionError(
        .system, "the credentials of this process cannot be read", call: "getgroups", errno: error)
    }
  }

  private func planOnce(_ journaled: GrantLedger?) throws(PermissionError) -> GrantPlan? {
    var contents: [FolderContents.Found] = []
    var warnings: [String] = []
    var ledger = GrantLedger()
    let inspection = try Inspection(context) {
      (subject) throws(PermissionError) -> [Inspection.Target] in
      ledger = self.ledger(for: subject.credentials.user.fileSystem, journaled)
      // Who has the lock of the journal reads nothing that a user may keep waiting.
      var set = journaled == nil ? resources(for: subject) : foundBefore ?? resources(for: subject)
      foundBefore = set
      if let need = context.need { set.resources = set.resources.map { $0.needing(need) } }
      if grants.isRecursive {
        for resource in set.resources
        where (resource.kind ?? (try? context.system.kind(of: resource.path))) == .directory {
          let listing = try FolderContents(system: context.system).resources(below: resource)
          contents += listing.found
          warnings += listing.warning.map { [$0] } ?? []
        }
        set.resources += contents.map(\.resource)
      }
      return [Inspection.Target(name: name, set: set)]
    }
    let wanted = inspection.targets.flatMap(\.set.resources)
    var plan = try plan(inspection, wanted, ledger, contents)
    if plan == nil, let warning = warnings.first { throw PermissionError(.changeFailed, warning) }
    plan?.warnings += warnings
    return plan
  }

  /// Returns the plan for facts that were read.
  ///
  /// - Throws: EAGAIN if the facts are outdated; otherwise an obstacle that a person must resolve.
  private func plan(
    _ inspection: Inspection, _ wanted: [Resource], _ ledger: GrantLedger,
    _ contents: [FolderContents.Found] = []
  ) throws(PermissionError) -> GrantPlan? {
    if wanted.isEmpty { return nil }
    let wanted = grants.isConfinedToDevices ? try servable(wanted, inspection.facts) : wanted
    for resource in wanted {
      if let index = inspection.facts.target(of: resource.path),
        let reason = OtherKind.reason(inspection, resource, index)
      {
        throw PermissionError(.changeFailed, reason.message, path: resource.path)
      }
    }
    // The owner of a folder may replace a file in it by a link out of it, or by a hard link to
    // somebody else's file.
    let entries = contents.isEmpty ? [] : inspection.facts.inodes.flatMap(\.entries)
    if entries.contains(where: { $0.found == .unreadable(.EMFILE) }) { throw .tooManyFiles }
    for found in contents {
      let inode = inspection.facts.inode(at: found.resource.path)
      guard let inode, inspection.identities[inode] == found.identity else {
        throw PermissionError(
          .changeFailed, "\(found.resource.path) changed while it was read",
          path: found.resource.path, errno: .EAGAIN, advice: "try again")
      }
    }
    var plan = try grants.strategy.plan(
      GrantRequest(
        accessor: name, inspection: inspection,
        asks: wanted.map { inspection.ask($0, need: $0.need) },
        allowsOthers: grants.allowsOthers, isRecursive: grants.isRecursive,
        ownedOnly: try isChosenByAnother(inspection.subject, wanted),
        journaled: ledger,
        lifetime: grants.lifetime))
    if plan?.needsRoot == true { plan?.setWay(context.system.rootWay) }
    plan?.warnings += planNotes
    plan?.purpose = grants.purpose
    plan?.path = context.path
    plan?.expires = grants.lifetime.expires
    plan?.end = grants.lifetime.words { Timestamp.local($0, context.system) }
    if grants.isConfinedToDevices, let plan,
      let step = plan.steps.first(where: { !$0.isOfDevice(context.system) })
    {
      throw PermissionError(
        .changeFailed,
        "\(step.place) is not a device of \(name), so this request does not change it",
        advice: "ask an administrator to make the request as root")
    }
    return plan
  }
}

extension ResourceAccessor {
  /// Returns the resources without those that ordinary users must not get.
  ///
  /// - Throws: If nothing is left.
  private func servable(
    _ resources: [Resource], _ facts: AccessFacts
  ) throws(PermissionError) -> [Resource] {
    let terminals = Terminals(context.system)
    var objection: (path: PathBytes, text: String)?
    let left = resources.filter { resource in
      guard let index = facts.target(of: resource.path), let number = facts.inodes[index].device
      else { return true }
      let inode = facts.inodes[index]
      let text =
        grants.withheld.contains { $0.contains(number) }
        ? "ports of the mainboard are granted only if root declares them in /etc/permcheck/accessors.d"
        : terminals.reasonNotToGive(number, uid: inode.uid, gid: inode.gid)
      if let text { objection = (resource.path, text) }
      return text == nil
    }
    guard left.isEmpty, let objection else { return left }
    throw PermissionError(
      .notAllowed, "\(objection.path) is not given: \(objection.text)", path: objection.path,
      advice: "ask an administrator to make the request as root")
  }
}

extension ResourceAccessor {
  /// Revokes what requests of this accessor gave the subject: for `context.path` alone, if it is
  /// set.
  ///
  /// - Returns: Whether something was taken back.
  /// - Throws: If a grant cannot be undone, or one is not found.
  @discardableResult
  public final func revokeAccess() throws(PermissionError) -> Bool {
    let subject = try Inspection.subject(context)
    let journal = try GrantJournal.standard(context.system).sweeping
    let outcome = try journal.undo(of: subject.credentials.user.fileSystem) {
      $0.isNamed(name, context.path)
    }
    if let missing = outcome.missing.first {
      throw PermissionError(
        .changeFailed,
        outcome.open[missing.id]?.note
          ?? "the file of the grant on \(missing.place) was not found, so the access may still be there",
        advice: "try again when its file is there")
    }
    return !outcome.grants.isEmpty
  }
}

extension ResourceAccessor {
  /// Returns the resources of a device accessor, from the search of the catalogue.
  ///
  /// - Parameters:
  ///   - find: The search of the catalogue.
  ///   - family: The kind of device to search for.
  ///   - noneHint: The places that were searched, as evidence if no device is found.
  /// - Returns: The nodes to judge, and reports on missing nodes.
  package func deviceResources(
    _ find: () -> DeviceCatalog.Findings, of family: DeviceFamily, noneHint: String
  ) -> ResourceSet {
    let need: Permissions = [.read, .write]
    if let path = context.path {
      let label = path.lastComponent.description
      var resource = Resource(
        path: path, label: label, device: label, need: need, kind: .characterDevice,
        family: family)
      resource.isNamed = true
      guard let control = DeviceCatalog.control(ofPCM: path, below: context.root, context.system),
        family.busyTest == .soundSubstreams
      else { return ResourceSet(resources: [resource]) }
      let second = Resource(
        path: control, label: label, device: label, need: need, kind: .characterDevice,
        family: family)
      return ResourceSet(resources: [resource, second])
    }
    let findings = find()
    var set = ResourceSet()
    for device in findings.devices {
      if device.hasNode {
        set.resources += device.nodes.map {
          Resource(
            path: $0, label: device.label, device: device.name, need: need, kind: .characterDevice,
            family: family)
        }
      } else {
        set.absences.append(
          ResourceSet.absence(
            device.nodes[0], label: device.label, device: device.name, status: .unavailable,
            family: family,
            Reason(
              .noCaptureNode, .proven,
              "the kernel knows \(device.label), but its device node \(device.nodes[0]) does not exist here",
              evidence: [device.evidence])))
      }
    }
    if let (path, errno) = findings.unreadable.first, findings.devices.isEmpty {
      set.absences.append(
        ResourceSet.absence(
          path, label: family.noun, device: "unreadable", status: .notDetermined,
          family: family,
          Reason(
            .unreadableFacts, .proven,
            "\(path) cannot be listed, so devices may be missing from this report",
            evidence: ["open: \(errno)"])))
    }
    set.absences += findings.unseen.map { notSeen($0, family) }
    if set.resources.isEmpty, set.absences.isEmpty {
      set.absences = [nothing(findings, family, noneHint: noneHint)]
    }
    return set
  }

  /// Returns the folders that the catalogue searches; empty if the context names one node.
  package func deviceSources(_ folders: [PathBytes]) -> [PathBytes] {
    context.path == nil ? folders.map(context.root.appending) : []
  }

  /// Returns the report on a node of which a file would show whether it is a device of the family.
  private func notSeen(_ unseen: Unseen, _ family: DeviceFamily) -> ResourceReport {
    ResourceSet.absence(
      unseen.path, label: family.noun, device: unseen.path.description, status: .notDetermined,
      family: family,
      Reason(
        .unreadableFacts, .proven,
        "\(unseen) cannot be read, so a \(family.noun) may be missing from this report"))
  }

  private func nothing(
    _ findings: DeviceCatalog.Findings, _ family: DeviceFamily, noneHint: String
  ) -> ResourceReport {
    let nodes = findings.others.map { String($0.prefix { $0 != ":" }) }
    let reason =
      findings.others.isEmpty
      ? Reason(.noDevice, .proven, "there is no \(family.noun)", evidence: [noneHint])
      : Reason(
        .noCaptureNode, .proven,
        "there \(nodes.count == 1 ? "is a device node" : "are device nodes") (\(nodes.joined(separator: ", "))), but none \(family.busyTest == .none ? "is a \(family.noun)" : "captures")",
        evidence: findings.others)
    return ResourceSet.absence(
      context.root.appending(family.folder), label: family.noun, device: family.noun,
      status: .unavailable, family: family, reason)
  }
}

extension ResourceAccessor {
  /// Returns a folder of user-dirs.dirs(5), or the folder at `context.path`.
  ///
  /// - Parameters:
  ///   - key: The key of the folder: `PICTURES`.
  ///   - label: The name of the folder, for people and in reports.
  ///   - subject: The user whose folder is meant.
  ///   - need: The permissions that `authorized` requires.
  /// - Returns: The folder, or a report on why there is none.
  package func userFolder(
    _ key: String, label: String, for subject: Subject, need: Permissions = .all
  ) -> ResourceSet {
    if let path = context.path {
      return ResourceSet(resources: [folder(path, label: label, need: need)])
    }
    let places = UserFolder(key, context.system, root: context.root)
    let home = subject.home ?? "/"
    func absence(
      _ status: AuthorizationStatus, _ reason: Reason, _ remedies: [Remedy] = []
    ) -> ResourceSet {
      var report = ResourceSet.absence(home, label: label, device: label, status: status, reason)
      report.remedies = remedies
      return ResourceSet(absences: [report])
    }
    switch places.locate(for: subject) {
    case .folder(let path, _):
      return ResourceSet(resources: [folder(path, label: label, need: need)])
    case .notConfigured(let evidence):
      return absence(
        .unavailable,
        Reason(
          .notConfigured, .proven,
          "no \(places.noun) is configured, because the setting names the home directory itself",
          evidence: [evidence]),
        [
          Remedy(
            .userFolder,
            ["xdg-user-dirs-update", "--set", PathBytes(key), home.appending(places.name)])
        ])
    case .unknown(let reason): return absence(.notDetermined, reason)
    }
  }

  /// Returns the files that `userFolder` reads.
  package func userFolderSources(_ key: String, for subject: Subject) -> [PathBytes] {
    guard context.path == nil else { return [] }
    let file = UserFolder(key, context.system, root: context.root).file(for: subject)
    return file.map { [$0] } ?? []
  }

  /// Returns a folder; if everything is needed, permission to list and read makes it `limited`.
  package func folder(_ path: PathBytes, label: String, need: Permissions = .all) -> Resource {
    Resource(
      path: path, label: path.lastComponent.description, device: label, need: need,
      lesserNeed: need == .all ? [.read, .execute] : nil, kind: .directory)
  }
}
