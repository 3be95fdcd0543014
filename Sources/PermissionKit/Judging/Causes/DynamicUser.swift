/// A service with DynamicUser=, whose next start has another user, so that an ACL entry would be for
/// somebody else.
struct DynamicUser: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let subject = evidence.subject
    // The range of dynamic users, see https://systemd.io/UIDS-GIDS.
    guard (61184...65519).contains(subject.credentials.user.fileSystem), subject.source != .user,
      evidence.isRefusedByStoredBits, evidence.confinement.boundary == nil,
      let index = evidence.decision.inode
    else { return nil }
    for case (.service(let unit, let settings), _) in evidence.confinement.found
    where settings.contains(where: { $0.hasPrefix("DynamicUser=") }) {
      let gid = evidence.facts.inodes[index].gid
      var credentials = subject.credentials
      credentials.groups.append(gid)
      let after = AccessEvaluator(facts: evidence.facts, credentials: credentials)
        .decide(evidence.ask)
      guard after.isGranted else {
        var reasons = evidence.refusal
        reasons[0].ownAdvice =
          "give \(unit.name) a user of its own (DynamicUser=no and User=): a dynamic user has another uid at the next start"
        return Finding(status: evidence.answer, reasons: reasons, replaces: .all)
      }
      var remedy = Remedy.unit(unit, ["SupplementaryGroups=\(evidence.users.groupName(gid))"])
      remedy.outcome = .granted
      return Finding(remedies: [remedy], replaces: .remedies)
    }
    return nil
  }
}
