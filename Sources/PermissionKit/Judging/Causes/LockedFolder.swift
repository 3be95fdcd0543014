/// A folder that opens, but is encrypted without its key, so that nothing in it can be used.
struct LockedFolder: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isGranted, evidence.isLocked else { return nil }
    let reason = ReasonFinder(evidence.inspection)
      .locked(evidence.ask.path, ["STATX_ATTR_ENCRYPTED"])
    return Finding(status: .restricted, reasons: [reason], replaces: .all)
  }
}
