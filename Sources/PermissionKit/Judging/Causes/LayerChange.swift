/// The change of a mount, an attribute, a driver or a capability that gives access.
struct LayerChange: Cause {
  func find(in evidence: Evidence) -> Finding? {
    // Where another layer refuses before, this change alone gives no access.
    let errno = evidence.probe?.shown?.errno
    let isLater = evidence.decision.errno != nil && errno != nil && errno != evidence.decision.errno
    guard evidence.isHere, !evidence.isGranted, !isLater else { return nil }
    let remedies = LayerRemedies(evidence.inspection, evidence.ask)
      .remedies(evidence.decision, evidence.refusal)
    return remedies.isEmpty ? nil : Finding(remedies: remedies)
  }
}
