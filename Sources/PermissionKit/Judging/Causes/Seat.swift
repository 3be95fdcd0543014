/// A device of a seat, which only the user who is logged in there gets.
struct Seat: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isRefusedByStoredBits else { return nil }
    let reason = evidence.seatReason
    let rule = Self.rule(evidence)
    guard reason != nil || rule != nil else { return nil }
    return Finding(reasons: reason.map { [$0] } ?? [], remedies: rule.map { [$0] } ?? [])
  }

  /// Returns the note on a change that gives such a device to one user; nil for other devices.
  static func note(_ evidence: Evidence) -> String? {
    guard evidence.seatReason != nil, let index = evidence.decision.inode else { return nil }
    let group = evidence.users.groupName(evidence.facts.inodes[index].gid)
    return
      "avoid usermod -aG \(group): members keep access while someone else is logged in at the screen; avoid chmod 666, which gives access to everybody"
  }

  /// Returns a udev rule that gives a device to the active user of its seat, if the subject is that
  /// user.
  private static func rule(_ evidence: Evidence) -> Remedy? {
    let (decision, system) = (evidence.decision, evidence.system)
    let uid = evidence.subject.credentials.user.fileSystem
    guard evidence.isAtRoot, decision.step == .target, let family = evidence.ask.resource.family,
      let device = evidence.device(decision.inode), let index = decision.inode, uid != 0,
      Seats(system).isAt(uid, withoutGiving: device)
    else { return nil }
    let node = evidence.facts.path(of: index)
    let name = node.lastComponent.description
    guard name.isPlainName, node.isBelow("/dev") else { return nil }
    return .seatRule(UdevMatch(device, named: name, subsystem: family.subsystem, system), node)
  }
}
