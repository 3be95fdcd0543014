// Folders that a service, a container or a sandbox hides or protects.
extension Diagnosis {
  /// Names the place around the process that keeps it from a path, with what to change there.
  func refineFolder(_ report: inout ResourceReport, _ ask: Ask, _ decision: Decision) {
    guard ask.path.isAbsolute, ask.resource.family == nil,
      decision.errno != nil || report.probe?.errno != nil
    else { return }
    for (place, evidence) in confinement.found {
      if case .service(let unit, let settings) = place {
        nameSettings(&report, ask, decision, unit: unit, settings, evidence)
      } else if case .mount(.readOnly) = decision.rule.layer, confinement.isGiven(place) {
        // The mount is that of the place: only a new start changes it.
        report.remedies = Confinement.given(place, ask.path)
      }
    }
  }

  private func nameSettings(
    _ report: inout ResourceReport, _ ask: Ask, _ decision: Decision, unit: String,
    _ settings: [String], _ evidence: [String]
  ) {
    let facts = inspection.facts
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    for effect in UnitSettings.effects(settings, on: ask.path) {
      let isAtFolder = mount.map { mount in effect.folders.contains(mount.point) } ?? false
      let isIt =
        switch effect.kind {
        case .inaccessible: isAtFolder && decision.rule.isOfBits
        case .empty: isAtFolder && (decision.rule == .missing || decision.errno == .EROFS)
        case .readOnly: decision.errno == .EROFS
        }
      // A refusal that mode and ACL do not explain may come from it, too.
      let mayBe = decision.isGranted && report.probe?.errno != nil
      guard isIt || mayBe else { continue }
      let how =
        switch effect.kind {
        case .inaccessible: "hides"
        case .empty: "covers"
        case .readOnly: "protects"
        }
      let reason = Reason(
        .serviceSandbox, isIt ? .proven : .suspected,
        "the service \(unit) \(how) \(ask.path): its unit sets \(effect.setting)",
        evidence: evidence + report.reasons.flatMap(\.evidence))
      if report.status == .denied { report.status = .restricted }
      if isIt, decision.rule != .missing {
        report.reasons = [reason]
      } else {
        report.reasons.append(reason)
      }
      report.remedies = [
        Remedy(
          .service, ["systemctl", "edit", PathBytes(unit)], needsRoot: true,
          line: "[Service] \(effect.lines)",
          note: "applies to this service alone; then run systemctl restart \(unit)")
      ]
      return
    }
  }
}
