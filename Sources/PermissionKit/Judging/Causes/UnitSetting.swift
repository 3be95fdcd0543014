/// A setting of the unit around the process that hides or protects a folder.
struct UnitSetting: Cause {
  /// The setting, and whether it certainly causes the refusal.
  struct Hiding {
    let unit: SystemdUnit
    let effect: UnitSettings.Effect
    let isProven: Bool
    let evidence: [String]
  }

  func find(in evidence: Evidence) -> Finding? {
    guard let setting = evidence.hidingSetting else { return nil }
    let reason = Self.reason(
      evidence.ask.path, setting.effect, setting.unit, setting.isProven ? .proven : .suspected,
      setting.evidence + evidence.refusal.flatMap(\.evidence))
    let isWhole = setting.isProven && evidence.decision.rule != .missing
    return Finding(
      status: evidence.answer == .denied ? .restricted : evidence.answer, reasons: [reason],
      remedies: [.unit(setting.unit, setting.effect.lines)],
      replaces: isWhole ? .all : .remedies)
  }

  /// Returns the setting of a service that hides or protects the path; nil if none does.
  static func hiding(_ evidence: Evidence) -> Hiding? {
    guard mayHide(evidence) else { return nil }
    let (facts, decision) = (evidence.facts, evidence.decision)
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    // A refusal that mode and ACL do not explain may come from it, too.
    let mayBe = decision.isGranted && evidence.probe?.shown?.errno != nil
    for case (.service(let unit, let settings), let found) in evidence.confinement.found {
      for effect in UnitSettings.effects(settings, on: evidence.ask.path) {
        let isAtFolder = mount.map { mount in effect.folders.contains(mount.point) } ?? false
        let isCause =
          switch effect.kind {
          case .inaccessible: isAtFolder && decision.rule.bits != nil
          case .empty: isAtFolder && (decision.rule == .missing || decision.errno == .EROFS)
          case .readOnly: decision.errno == .EROFS
          }
        guard isCause || mayBe else { continue }
        return Hiding(unit: unit, effect: effect, isProven: isCause, evidence: found)
      }
    }
    return nil
  }

  /// Whether a service, a container or a sandbox may hide or protect the path.
  static func mayHide(_ evidence: Evidence) -> Bool {
    evidence.isHere && evidence.ask.path.isAbsolute && evidence.ask.resource.family == nil
      && (evidence.decision.errno != nil || evidence.probe?.shown?.errno != nil)
  }

  /// Returns the reason for a setting of a service that hides or protects a path.
  static func reason(
    _ path: PathBytes, _ effect: UnitSettings.Effect, _ unit: SystemdUnit,
    _ certainty: Reason.Certainty, _ evidence: [String]
  ) -> Reason {
    let verb =
      switch effect.kind {
      case .inaccessible: "hides"
      case .empty: "covers"
      case .readOnly: "protects"
      }
    return Reason(
      .serviceSandbox, certainty,
      "the service \(unit.name) \(verb) \(path): its unit sets \(effect.setting)",
      evidence: evidence)
  }
}
