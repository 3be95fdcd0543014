/// The change of a mount, an attribute, a driver or a capability that gives access.
struct LayerChange: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, !evidence.isGranted else { return nil }
    let remedies = LayerRemedies(evidence.inspection, evidence.ask)
      .remedies(evidence.decision, evidence.refusal)
    return remedies.isEmpty ? nil : Finding(remedies: remedies)
  }
}
