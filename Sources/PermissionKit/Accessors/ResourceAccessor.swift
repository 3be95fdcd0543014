/// An accessor whose permission comes down to nodes and directories of the file system.
///
/// A subclass says which (`resources(for:)`); everything else is the same for all: read the facts,
/// decide, ask the kernel where that is possible, explain.
open class ResourceAccessor: PermissionAccessor {
  /// The subject, the system and the root that the accessor judges by.
  public let context: AccessContext
  /// The facts that the newest check was made on; nil where there was nothing to judge.
  private(set) var facts: AccessFacts?

  /// Names an accessor that judges within a context.
  public init(name: String, context: AccessContext, analytics: AnalyticsLog = .shared) {
    self.context = context
    super.init(name: name, analytics: analytics)
  }

  /// What the accessor needs on behalf of `subject`, and what it looked for and did not find.
  open func resources(for subject: Subject) -> ResourceSet { ResourceSet() }

  /// Where else an answer to `resources(for:)` comes from: the folders that are listed and the files
  /// that are read, so that a change there can be watched for.
  open func sources(for subject: Subject) -> [PathBytes] { [] }

  open override func checkAccess() -> AccessReport {
    facts = nil
    let users = UserDatabase(context.system, root: context.root)
    let subject: Subject
    do throws(PermissionError) {
      subject = if let given = context.subject { given } else { try users.currentSubject() }
    } catch {
      return undetermined(error.description)
    }
    let set = resources(for: subject)
    var reports: [ResourceReport] = []
    if !set.resources.isEmpty {
      do throws(Errno) {
        let facts = try FactsReader.facts(
          of: set.resources.map(\.path), context.system, process: subject.process,
          isSubject: subject.source == .current)
        self.facts = facts
        let judge = ResourceJudge(context: context, users: users, subject: subject, facts: facts)
        reports = judge.reports(on: set.resources)
      } catch {
        return undetermined("the root directory cannot be looked at (\(error))")
      }
    }
    if !set.absences.isEmpty {
      let diagnosis = Diagnosis(
        context: context, users: users, subject: subject, facts: AccessFacts())
      reports += set.absences.map(diagnosis.refine(absence:))
    }
    return Self.report(name, reports)
  }

  open override func requestAccess(
    _ report: AccessReport
  ) throws(PermissionError) -> AccessReport {
    guard context.grants.strategy.isCarriedOut, let plan = try grantPlan(),
      try context.grants.consent(plan)
    else { return report }
    if plan.needsRoot {
      guard let elevation = context.grants.elevation else {
        throw PermissionError(
          .changeFailed, "access to \(name) is for root to give", advice: "ask by sudo or pkexec")
      }
      try elevation.run(elevatedArguments, context.system)
    } else {
      _ = try GrantJournal.standard(context.system).carryOut(lifetime: context.grants.lifetime) {
        () throws(PermissionError) -> GrantPlan? in
        // Nobody else can plan now; what was agreed to must still be what is to be done.
        guard let fresh = try grantPlan() else { return nil }
        guard fresh.isWithin([plan]) else {
          throw PermissionError(
            .changeFailed, "what is to be changed has changed since it was agreed to",
            advice: "ask again")
        }
        return fresh
      }
    }
    return report
  }

  private var elevatedArguments: [PathBytes] {
    var arguments: [PathBytes] = [
      "request", "--elevated", "--yes", "--quiet", "--log", "none", "--strategy",
      PathBytes(context.grants.strategy.name),
    ]
    if let need = context.need { arguments += ["--need", PathBytes(need.letters)] }
    if let expires = context.grants.lifetime.expires {
      let seconds = max(1, (expires - context.system.realtime()) / 1_000_000)
      arguments += ["--for", PathBytes("\(seconds)s")]
    }
    if let process = context.grants.lifetime.process {
      arguments += ["--while", PathBytes("\(process.pid)")]
    }
    return arguments + [PathBytes(name)]
  }

  /// What would have to be changed for access, by the context's strategy.
  ///
  /// - Returns: The plan; nil when there is nothing to change, or nothing that would help.
  /// - Throws: Where something stands in the way that a person should know of.
  public final func grantPlan() throws(PermissionError) -> GrantPlan? {
    // Another request may be changing the same inodes: what is seen then is of no one moment.
    for _ in 0..<15 {
      do throws(PermissionError) {
        return try planOnce()
      } catch {
        guard error.errno == .EAGAIN else { throw error }
      }
    }
    return try planOnce()
  }

  private func planOnce() throws(PermissionError) -> GrantPlan? {
    let users = UserDatabase(context.system, root: context.root)
    let subject = if let given = context.subject { given } else { try users.currentSubject() }
    let options = context.grants
    var resources = resources(for: subject).resources
    for index in resources.indices { resources[index].need = context.need ?? resources[index].need }
    var contents: [FolderContents.Found] = []
    if options.isRecursive {
      for resource in resources where resource.kind == .directory {
        contents += try FolderContents(system: context.system).resources(below: resource)
      }
      resources += contents.map(\.resource)
    }
    if resources.isEmpty { return nil }
    let facts: AccessFacts
    let identities: [InodeIdentity]
    do throws(Errno) {
      var reader = try FactsReader(
        context.system, process: subject.process, isSubject: subject.source == .current)
      for resource in resources { reader.read(resource.path) }
      identities = reader.identities
      facts = reader.facts
    } catch {
      throw PermissionError(
        .system, "the root directory cannot be looked at", call: "open", errno: error)
    }
    // What lies in a folder may be its owner's to swap: for a link out of it, or a name of somebody
    // else's file.
    for found in contents {
      let inode = facts.inode(at: found.resource.path)
      guard let inode, identities[inode] == found.identity else {
        throw PermissionError(
          .changeFailed, "\(found.resource.path) changed while it was looked at",
          path: found.resource.path, errno: .EAGAIN, advice: "ask again")
      }
    }
    let plan = try options.strategy.plan(
      GrantRequest(
        accessor: name, subject: subject, resources: resources, facts: facts,
        system: context.system, allowsOthers: options.allowsOthers,
        isRecursive: options.isRecursive, users: users, identities: identities))
    if options.isConfinedToDevices, let plan, let step = plan.steps.first(where: { !$0.isOfDevice })
    {
      throw PermissionError(
        .changeFailed, "\(step.place) is no device of \(name), so it is not changed on request",
        advice: "have an administrator name it in person")
    }
    return plan
  }

  /// Puts the reports on an accessor's resources together.
  static func report(_ name: String, _ resources: [ResourceReport]) -> AccessReport {
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
    return AccessReport(
      accessor: name, status: .any(of: statuses), isRequestable: isRequestable,
      resources: resources)
  }

  private func undetermined(_ message: String) -> AccessReport {
    AccessReport(
      accessor: name, status: .notDetermined,
      resources: [
        ResourceReport(
          path: context.path ?? context.root, label: name, device: name, need: [],
          status: .notDetermined, reasons: [Reason(.unreadableFacts, .proven, message)])
      ])
  }
}
