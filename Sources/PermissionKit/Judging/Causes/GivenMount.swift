/// A read-only mount of a container or sandbox, which only a new start of it changes.
struct GivenMount: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.decision.rule == .readOnlyMount, UnitSetting.mayHide(evidence),
      evidence.inspection.processWithOwnMounts == nil, !evidence.inspection.mayRemount,
      let place = evidence.confinement.found.map(\.place).last(where: evidence.confinement.isGiven)
    else { return nil }
    return Finding(
      remedies: Confinement.given(place, evidence.ask.path, Self.hostPath(evidence)),
      replaces: .remedies)
  }

  /// Returns where the folder of a question is on the machine, if a container shows that folder.
  private static func hostPath(_ evidence: Evidence) -> HostSide.Path? {
    let (facts, path) = (evidence.facts, evidence.ask.path)
    guard let index = evidence.decision.inode, evidence.isAtRoot else { return nil }
    let mount = facts.mounts[facts.inodes[index].mount]
    // What is asked for may be below what is mounted; what was given is the mount point.
    let isWhole = path == mount.point || path.isBelow(mount.point)
    return evidence.host.path(of: isWhole ? path : mount.point, on: mount)
  }
}
