/// A folder that is encrypted without its key: it opens, but nothing in it can be used.
///
/// A change of mode or ACL does not help where they refuse as well.
struct LockedFolder: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let decision = evidence.decision
    let isRefused = decision.rule.bits != nil && decision.step == .target
    if evidence.isGranted, let errno = evidence.keyError {
      let path = evidence.ask.path
      return Finding(
        status: .notDetermined,
        reasons: [
          Reason(
            .unreadableFacts, .proven,
            "mode and ACL grant \(path), which is encrypted, and this process cannot read whether its key is there (\(errno))",
            evidence: ["STATX_ATTR_ENCRYPTED"])
        ])
    }
    guard evidence.isGranted || isRefused, evidence.isLocked else { return nil }
    let reason = ReasonFinder(evidence.inspection)
      .locked(evidence.ask.path, ["STATX_ATTR_ENCRYPTED"])
    return Finding(
      status: .restricted, reasons: [reason] + evidence.refusal, replaces: .all)
  }
}
