/// The containers and sandboxes around the process, where a layer refuses or something is missing: with
/// the flags and files to change.
struct Surroundings: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere else { return nil }
    let (ask, decision) = (evidence.ask, evidence.decision)
    if evidence.isRefusedByLayer {
      // A unit that is the cause is told on its own.
      guard evidence.refusingPolicies.isEmpty, UnitFilter().find(in: evidence) == nil,
        let resource = ask.isDirectory ? .folder : Self.devices(ask)
      else { return nil }
      return Self.finding(evidence, resource, isMissing: false)
    }
    guard decision.rule == .missing, decision.step != .create,
      evidence.refusal.first?.code == .noDevice,
      let resource = Self.devices(ask) ?? (ask.resource.kind == .directory ? .folder : nil)
    else { return nil }
    return Self.finding(evidence, resource, isMissing: true)
  }

  private static func devices(_ ask: ResourceQuery) -> ConfinedResource? {
    ask.resource.family.map { .devices($0) }
  }

  private static func finding(
    _ evidence: Evidence, _ resource: ConfinedResource, isMissing: Bool
  ) -> Finding? {
    let (reasons, remedies) = evidence.inspection.surroundings(
      resource, evidence.ask.path, isMissing: isMissing)
    return reasons.isEmpty ? nil : Finding(reasons: reasons, remedies: remedies)
  }
}

extension Inspection {
  /// Returns a reason for each container and sandbox around the process, and what changes them.
  func surroundings(
    _ resource: ConfinedResource, _ path: PathBytes, isMissing: Bool
  ) -> ([Reason], [Remedy]) {
    var (reasons, remedies) = confinement.reasons(resource, path, isMissing: isMissing)
    if case .devices(let family) = resource { remedies += UnitPolicy.outer(family, remedies, self) }
    return (reasons, remedies)
  }
}
