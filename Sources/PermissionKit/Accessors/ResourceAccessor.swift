/// An accessor whose permission comes down to nodes and directories of the file system.
///
/// A subclass says which (`resources(for:)`); everything else is the same for all: read the facts,
/// decide, ask the kernel where that is possible, explain.
open class ResourceAccessor: PermissionAccessor {
  /// What is judged: the subject, the system and the root.
  public let context: AccessContext
  /// How missing access is asked for.
  public var grants = GrantOptions()
  /// What the newest check was made on; nil where nothing could be looked at.
  private(set) var inspection: Inspection?

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
    inspection = nil
    do throws(PermissionError) {
      let inspection = try inspect()
      self.inspection = inspection
      if let report = ResourceJudge(inspection).reports().first { return report }
    } catch {
      let reason = Reason(.unreadableFacts, .proven, error.description)
      let resource = ResourceReport(
        path: context.path ?? context.root, label: name, device: name, need: [],
        status: .notDetermined, reasons: [reason])
      return AccessReport(accessor: name, status: .notDetermined, resources: [resource])
    }
    return AccessReport(accessor: name, status: .notDetermined)
  }

  private func inspect() throws(PermissionError) -> Inspection {
    try Inspection(context) { (subject) throws(PermissionError) -> [Inspection.Target] in
      [Inspection.Target(name: name, set: resources(for: subject))]
    }
  }

  /// Carries out the plan of `grants.strategy`, if somebody agrees.
  ///
  /// - Returns: The same report, with what the request came to.
  open override func requestAccess(
    _ report: AccessReport
  ) throws(PermissionError) -> AccessReport {
    var report = report
    report.requestOutcome = try carryOut()
    return report
  }

  private func carryOut() throws(PermissionError) -> RequestOutcome {
    guard grants.strategy.isCarriedOut, let plan = try grantPlan() else { return .nothingToChange }
    guard try grants.consent(plan) else { return .declined }
    if plan.needsRoot {
      guard let elevation = grants.elevation else {
        throw PermissionError(
          .changeFailed, "only root may give access to \(name)", advice: "use sudo or pkexec")
      }
      try elevation.request(
        ElevatedRequest(
          accessor: name, strategy: grants.strategy.name, need: context.need,
          lifetime: grants.lifetime))
      return .grantedByRoot
    }
    _ = try GrantJournal.standard(context.system).carryOut(lifetime: grants.lifetime) {
      () throws(PermissionError) -> GrantPlan? in
      // Nobody else can plan now; what was agreed to must still be what is to be done.
      guard let fresh = try grantPlan() else { return nil }
      guard fresh.isCovered(by: [plan]) else { throw .planChanged }
      return fresh
    }
    return .granted
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
    var contents: [FolderContents.Found] = []
    let inspection = try Inspection(context) {
      (subject) throws(PermissionError) -> [Inspection.Target] in
      var set = resources(for: subject)
      if let need = context.need {
        for index in set.resources.indices { set.resources[index].need = need }
      }
      if grants.isRecursive {
        for resource in set.resources where resource.kind == .directory {
          contents += try FolderContents(system: context.system).resources(below: resource)
        }
        set.resources += contents.map(\.resource)
      }
      return [Inspection.Target(name: name, set: set)]
    }
    let wanted = inspection.targets.flatMap(\.set.resources)
    if wanted.isEmpty { return nil }
    // What lies in a folder may be its owner's to swap: for a link out of it, or a name of somebody
    // else's file.
    for found in contents {
      let inode = inspection.facts.inode(at: found.resource.path)
      guard let inode, inspection.identities[inode] == found.identity else {
        throw PermissionError(
          .changeFailed, "\(found.resource.path) changed while it was read",
          path: found.resource.path, errno: .EAGAIN, advice: "try again")
      }
    }
    let plan = try grants.strategy.plan(
      GrantRequest(
        accessor: name, inspection: inspection,
        asks: wanted.map { inspection.ask($0, need: $0.need) },
        allowsOthers: grants.allowsOthers, isRecursive: grants.isRecursive))
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

extension PermissionError {
  /// The plan is not the one that somebody agreed to.
  package static var planChanged: PermissionError {
    PermissionError(
      .changeFailed, "the plan has changed since it was agreed to",
      advice: "try again")
  }
}
