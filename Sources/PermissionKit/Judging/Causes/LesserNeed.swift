/// Fewer permissions than were asked for, with which the resource is of use: a folder that can be read.
struct LesserNeed: Cause {
  func find(in evidence: Evidence) -> Finding? {
    if evidence.grantsLess { return Finding(status: .limited) }
    // Then mode and ACL are not all that refuses, and a change of them does not give access.
    guard evidence.isHere, evidence.answer == .denied,
      let (ask, decision, probe) = evidence.lesser, decision.isGranted,
      let probe = probe?.shown, let errno = probe.errno, errno == .EACCES || errno == .EPERM
    else { return nil }
    let reason = Contradiction(evidence.inspection, ask, decision, probe).reason(errno)
    return Finding(
      status: .restricted, reasons: [reason] + evidence.refusal, replaces: .all)
  }
}
