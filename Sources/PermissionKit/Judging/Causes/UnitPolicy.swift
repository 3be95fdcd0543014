/// The device policies of the units around a process, each with the line that it needs.
struct UnitPolicy: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let policies = evidence.refusingPolicies
    guard !policies.isEmpty else { return nil }
    let resource = evidence.ask.resource
    return Finding(
      reasons: policies.map { policy in
        var reason = Reason(
          .sandbox, .suspected,
          "\(policy.unit.name) allows only some devices (\(policy.settings.joined(separator: ", ")))",
          evidence: ["unit \(policy.unit.name)"] + policy.settings)
        reason.ownWhose = .service
        return reason
      },
      remedies: policies.map {
        .device($0.unit, resource.family?.deviceAllow ?? resource.path.description)
      })
  }

  /// Returns the lines that the units around a service need before its own line takes effect.
  static func outer(
    _ family: DeviceFamily, _ remedies: [Remedy], _ inspection: Inspection
  ) -> [Remedy] {
    guard let driver = family.deviceAllow, remedies.contains(where: { $0.form == .unitSettings })
    else { return [] }
    return DevicePolicy.policies(inspection.subject.process, inspection.system)
      .filter { $0.unit.section == "Slice" && !$0.allows(driver: driver) }
      .map { .device($0.unit, driver) }
  }
}
