// Folders that a service, a container or a sandbox hides or protects.
extension Diagnosis {
  /// A setting of the unit around the process that keeps it from a path.
  struct HidingSetting {
    let unit: String
    let effect: UnitSettings.Effect
    /// Whether the refusal is its doing for certain.
    let isProven: Bool
    let evidence: [String]
  }

  /// Returns the setting of a service that keeps the process from a path; nil if none does.
  func hidingSetting(_ ask: Ask, _ decision: Decision, _ probe: Probe?) -> HidingSetting? {
    guard mayBeHidden(ask, decision, probe) else { return nil }
    let facts = inspection.facts
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    // A refusal that mode and ACL do not explain may come from it, too.
    let mayBe = decision.isGranted && probe?.errno != nil
    for case (.service(let unit, let settings), let evidence) in confinement.found {
      for effect in UnitSettings.effects(settings, on: ask.path) {
        let isAtFolder = mount.map { mount in effect.folders.contains(mount.point) } ?? false
        let isIt =
          switch effect.kind {
          case .inaccessible: isAtFolder && decision.rule.bits != nil
          case .empty: isAtFolder && (decision.rule == .missing || decision.errno == .EROFS)
          case .readOnly: decision.errno == .EROFS
          }
        guard isIt || mayBe else { continue }
        return HidingSetting(unit: unit, effect: effect, isProven: isIt, evidence: evidence)
      }
    }
    return nil
  }

  private func mayBeHidden(_ ask: Ask, _ decision: Decision, _ probe: Probe?) -> Bool {
    ask.path.isAbsolute && ask.resource.family == nil
      && (decision.errno != nil || probe?.errno != nil)
  }

  /// Names the place around the process that keeps it from a path, with what to change there.
  func refineFolder(_ report: inout ResourceReport, _ ask: Ask, _ decision: Decision) {
    guard mayBeHidden(ask, decision, report.probe) else { return }
    if decision.rule == .readOnlyMount, inspection.processWithOwnMounts == nil {
      for (place, _) in confinement.found where confinement.isGiven(place) {
        // The mount is that of the place: only a new start changes it.
        report.remedies = Confinement.given(place, ask.path)
      }
    }
    if let setting = hidingSetting(ask, decision, report.probe) {
      let reason = Reason(
        .serviceSandbox, setting.isProven ? .proven : .suspected,
        "the service \(setting.unit) \(setting.effect.kind.verb) \(ask.path): its unit sets \(setting.effect.setting)",
        evidence: setting.evidence + report.reasons.flatMap(\.evidence))
      if setting.isProven, decision.rule != .missing {
        report.reasons = [reason]
      } else {
        report.reasons.append(reason)
      }
      report.remedies = [.unit(setting.unit, "[Service] \(setting.effect.lines)")]
    }
  }
}

extension UnitSettings.Effect.Kind {
  /// What the setting does to a folder, for people.
  fileprivate var verb: String {
    switch self {
    case .inaccessible: "hides"
    case .empty: "covers"
    case .readOnly: "protects"
    }
  }
}
