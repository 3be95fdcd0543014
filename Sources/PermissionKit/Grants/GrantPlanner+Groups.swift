extension GrantPlanner {
  /// Returns a plan that adds the user to groups; nil if access is not missing.
  ///
  /// - Parameter strategy: The name of the strategy.
  /// - Returns: The plan, which takes effect at the next login.
  /// - Throws: If no group gives access, or the user is already a member.
  func groupPlan(strategy: String) throws(PermissionError) -> GrantPlan? {
    guard let name = request.subject.name, request.uid != 0,
      (try? system.getpwnam(name))?.uid == request.uid
    else {
      throw refusal("\(request.subject.displayName) cannot be added to a group")
    }
    var steps: [GrantPlan.Step] = []
    var credentials = request.subject.credentials
    for ask in request.asks {
      func isGranted(_ credentials: Credentials) -> Bool {
        AccessEvaluator(facts: facts, credentials: credentials).decide(ask).isGranted
      }
      if isGranted(credentials) { continue }
      let inodes = facts.inodes.filter { $0.kind != .symbolicLink }
      let named = inodes.flatMap { $0.acl?.entries.filter { $0.tag == .group }.map(\.id) ?? [] }
      let gids = Set(inodes.map(\.gid) + named).subtracting([0]).sorted()
      let found = gids.first { gid in
        var more = credentials
        more.groups.append(gid)
        return isGranted(more)
      }
      guard let gid = found, let group = try? system.getgrgid(gid) else {
        throw refusal(
          "no group gives \(name) access to \(ask.path)", path: ask.path,
          advice: "choose another strategy")
      }
      credentials.groups.append(gid)
      let grant = GroupGrant(user: name, group: group)
      if try grant.progress(system) == .after {
        throw refusal(
          "\(name) is already in group \(group), but this login does not have the group",
          advice: "log out and in again")
      }
      steps.append(
        GrantPlan.Step(
          .group(grant), place: "group \(group)",
          needsRoot: !own.isRoot))
    }
    guard !steps.isEmpty else { return nil }
    let groups = steps.map(\.place).joined(separator: " and ")
    var warnings = [
      "\(name) gets everything that \(groups) may use, in every login",
      "\(name) can keep the group after the end of the grant, by a set-group-ID file or a running process",
    ]
    if groups.has("group audio") {
      warnings.append(
        "members of audio can record while somebody else is at the seat, and can block the sound devices"
      )
    }
    return GrantPlan(
      accessor: request.accessor, subject: request.subject, strategy: strategy, steps: steps,
      outcome: .granted, needsNewLogin: true, warnings: warnings)
  }
}
