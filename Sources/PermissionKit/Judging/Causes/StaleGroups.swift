/// A process that began before its user came into a group.
///
/// The session is the cause; the bits that refuse are the evidence.
struct StaleGroups: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isRefusedByStoredBits, let (gid, moved) = Self.group(evidence) else {
      return nil
    }
    let (subject, decision) = (evidence.subject, evidence.decision)
    let group = evidence.users.groupName(gid)
    var reasons = evidence.refusal
    var reason = evidence.session.staleReason(gid)
    var remedies = [Remedy.newGroup(group, moved)]
    // No shell gives a group to a process that runs.
    if let process = subject.process {
      remedies = Self.unit(of: process, evidence.system).map { [.restart($0, moved)] } ?? []
      reason.ownAdvice =
        "start process \(process) again after a new login of \(subject.displayName), since a running process gets no groups"
    }
    if decision.step == .target, let first = reasons.first {
      reasons[0] = reason
      reasons[0].evidence += first.evidence
    } else {
      if let index = reasons.firstIndex(where: { $0.code == .parentSearch }),
        let folder = decision.inode
      {
        let process = subject.process.map { "process \($0)" } ?? "this process"
        reasons[index].message =
          "\(process) may not search \(evidence.facts.path(of: folder)): it runs without group \(group)"
      }
      reasons.insert(reason, at: 0)
    }
    return Finding(status: .denied, reasons: reasons, remedies: remedies, replaces: .all)
  }

  /// Returns the unit of the system that a process belongs to; nil for one of a login.
  private static func unit(of process: Int32, _ system: any System) -> String? {
    let paths = system.cgroups(of: process).map(\.path)
    guard let path = paths.first(where: { $0.lastComponent.description.hasSuffix(".service") }),
      !path.components.contains(where: { $0.hasPrefix("user@") })
    else { return nil }
    return path.lastComponent.description
  }

  // MARK: - Groups that the user has, and the session has not

  /// Returns the missing group that would change the decision, with the new decision; nil if none.
  private static func group(_ evidence: Evidence) -> (gid: UInt32, moved: Decision)? {
    guard couldGroupHelp(evidence) else { return nil }
    for gid in missing(evidence) {
      var credentials = evidence.subject.credentials
      credentials.groups.append(gid)
      let moved = AccessEvaluator(facts: evidence.facts, credentials: credentials)
        .decide(evidence.ask)
      // Behind a directory that this process may not search nothing is known.
      if moved.errno == nil || moved.inode != evidence.decision.inode { return (gid, moved) }
    }
    return nil
  }

  /// Returns the groups that the user has in the data base and the process does not have.
  private static func missing(_ evidence: Evidence) -> [UInt32] {
    let (subject, users) = (evidence.subject, evidence.users)
    // A user namespace may map these ids to other numbers.
    guard subject.source == .current || subject.source == .process,
      evidence.facts.overflow == nil, subject.credentials.userNamespace == nil,
      let record = try? users.user(subject.credentials.user.fileSystem),
      let known = try? users.groups(of: record)
    else { return [] }
    return known.filter { !subject.credentials.isMember(of: $0) }
  }

  /// Returns whether a group has the permissions, so that reading the data base can help.
  private static func couldGroupHelp(_ evidence: Evidence) -> Bool {
    let decision = evidence.decision
    guard let index = decision.inode, let rule = decision.rule.bits else { return false }
    let inode = evidence.facts.inodes[index]
    let asked: Permissions = decision.step == .walk ? .execute : evidence.ask.need
    let bits = inode.bits(3)
    switch rule {
    case .other(isMaskEmpty: false): return bits.isSuperset(of: asked)
    case .aclOther, .aclGroup(_, isMasked: false), .aclOwningGroup(isMasked: false):
      // With an ACL, the group bits of the mode are the mask.
      return inode.acl?.entries.contains {
        ($0.tag == .group || $0.tag == .owningGroup)
          && $0.permissions.intersection(bits).isSuperset(of: asked)
      } ?? false
    case .owner, .group, .other(isMaskEmpty: true), .aclUser, .aclGroup(_, isMasked: true),
      .aclOwningGroup(isMasked: true):
      return false
    }
  }
}
