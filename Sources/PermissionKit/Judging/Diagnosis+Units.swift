// What the units around a process refuse.
extension Diagnosis {
  /// Adds the units whose device policy refuses a device, each with the line that it needs.
  ///
  /// - Returns: Whether there are such units, and no container is around the process.
  func isOfUnitsPolicy(_ report: inout ResourceReport, _ ask: ResourceQuery) -> Bool {
    guard report.reasons.contains(where: { $0.code == .deviceCgroup }), confinement.boundary == nil,
      inspection.context.root == "/", let device = device(inspection.facts.target(of: ask.path))
    else { return false }
    let refusing = DevicePolicy.policies(inspection.subject.process, inspection.system)
      .filter { !$0.allows(device, inspection.system) }
    for policy in refusing {
      report.reasons.append(
        Reason(
          .sandbox, .suspected,
          "\(policy.unit.name) allows only some devices (\(policy.settings.joined(separator: ", ")))",
          evidence: ["unit \(policy.unit.name)"] + policy.settings))
      report.remedies.append(
        .device(policy.unit, ask.resource.family?.deviceAllow ?? ask.path.description))
    }
    return !refusing.isEmpty
  }

  /// Returns the lines that the units around a service need before its own line takes effect.
  func outerPolicies(_ family: DeviceFamily, _ remedies: [Remedy]) -> [Remedy] {
    guard let driver = family.deviceAllow, remedies.contains(where: { $0.form == .unitSettings })
    else { return [] }
    return DevicePolicy.policies(inspection.subject.process, inspection.system)
      .filter { $0.unit.section == "Slice" && !$0.allows(driver: driver) }
      .map { .device($0.unit, driver) }
  }

  /// Adds the unit's filter of system calls, if that refuses.
  ///
  /// - Returns: Whether the unit has one, and no container is around the process.
  func isOfUnitsFilter(_ report: inout ResourceReport) -> Bool {
    guard report.reasons.contains(where: { $0.code == .seccomp }), confinement.boundary == nil
    else { return false }
    for case (.service(let unit, let settings), let evidence) in confinement.found {
      let filters = settings.filter { $0.hasPrefix("SystemCallFilter=") }
      guard !filters.isEmpty else { continue }
      report.reasons.append(
        Reason(
          .sandbox, .suspected,
          "\(unit.name) has a filter of system calls (\(filters.joined(separator: ", ")))",
          evidence: evidence))
      // Adds to a list of allowed calls, and takes out of one of refused calls.
      report.remedies.append(.unit(unit, ["SystemCallFilter=openat openat2 ioctl"]))
      return true
    }
    return false
  }

  /// Replaces a user's ACL entry for a service with DynamicUser=, whose next start has another
  /// user.
  func giveGroupToDynamicUser(
    _ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision
  ) {
    // The range of dynamic users, see https://systemd.io/UIDS-GIDS.
    guard (61184...65519).contains(inspection.subject.credentials.user.fileSystem),
      inspection.subject.source != .user, confinement.boundary == nil, let index = decision.inode
    else { return }
    for case (.service(let unit, let settings), _) in confinement.found
    where settings.contains(where: { $0.hasPrefix("DynamicUser=") }) {
      let gid = inspection.facts.inodes[index].gid
      var credentials = inspection.subject.credentials
      credentials.groups.append(gid)
      let after = AccessEvaluator(facts: inspection.facts, credentials: credentials).decide(ask)
      report.remedies = []
      guard after.isGranted else {
        report.reasons[0].ownAdvice =
          "give \(unit.name) a user of its own (DynamicUser=no and User=): a dynamic user has another uid at the next start"
        return
      }
      var remedy = Remedy.unit(unit, ["SupplementaryGroups=\(inspection.users.groupName(gid))"])
      remedy.outcome = .granted
      report.remedies = [remedy]
      return
    }
  }
}
