/// A folder in which names can be made, and none removed: FS_APPEND_FL, see may_delete() in fs/namei.c.
struct AppendOnlyFolder: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let ask = evidence.ask
    guard evidence.isGranted, evidence.future == nil, ask.createsInside,
      let index = evidence.facts.target(of: ask.path), evidence.facts.inodes[index].isAppendOnly
    else { return nil }
    let reason = Reason(
      .appendOnly, .proven,
      "names can be made in \(ask.path), and none can be removed or changed, since it is append-only (chattr +a)",
      evidence: [ReasonFinder(evidence.inspection).modeAndOwners(index)])
    return Finding(status: .limited, reasons: [reason])
  }
}
