/// A mount over a node or a folder, by which a sandbox or a service keeps its processes from it.
struct Cover: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let (facts, decision) = (evidence.facts, evidence.decision)
    guard evidence.isHere, evidence.isAtRoot, let index = decision.inode else { return nil }
    let point = facts.mounts[facts.inodes[index].mount].point
    guard point != "/dev", point != "/", point == facts.path(of: index) else { return nil }
    let isHidden = Self.isHidden(evidence)
    // Of an operation, a name that is there already or a mount point is no matter of the cover.
    guard
      isHidden || !decision.isGranted && (evidence.ask.named == nil || decision.rule.bits != nil)
    else { return nil }
    return Self.find(
      at: point, evidence.ask.path, evidence.ask.resource.family, isHidden: isHidden,
      evidence.inspection)
  }

  /// Whether a device is missing, or another one than its name says, on a mount of the sandbox.
  private static func isHidden(_ evidence: Evidence) -> Bool {
    let (path, decision) = (evidence.ask.path, evidence.decision)
    guard let family = evidence.ask.resource.family, let index = decision.inode else {
      return false
    }
    if evidence.otherKind != nil || decision.rule == .missing { return true }
    guard let number = evidence.facts.inodes[index].device else { return false }
    return family.otherDevice(at: path, number, below: "/", evidence.system) != nil
  }

  /// Finds a mount that hides a path.
  ///
  /// - Parameters:
  ///   - point: The path itself, or a folder on it.
  ///   - path: The path that is not reached.
  ///   - family: The kind of device that it is; nil for other paths.
  ///   - isHidden: Whether any mount there does.
  ///   - inspection: The subject, whose mounts are read.
  /// - Returns: The mount; nil if there is none.
  static func find(
    at point: PathBytes, _ path: PathBytes, _ family: DeviceFamily?, isHidden: Bool,
    _ inspection: Inspection
  ) -> Finding? {
    let file = MountTable.path(of: inspection.subject.process)
    guard let table = try? inspection.system.mountTable(file), let shown = table.shown(at: point)
    else { return nil }
    let known = ["mounted at \(point): \(shown.path) of \(shown.fileSystem)"]
    func finding(_ reason: Reason, _ remedies: [Remedy] = []) -> Finding {
      Finding(status: .restricted, reasons: [reason], remedies: remedies, replaces: .all)
    }
    // systemd.exec(5): /run/systemd/inaccessible has a file of each type with mode 000.
    for case (.service(let unit, let settings), let found) in inspection.confinement.found {
      for effect in UnitSettings.effects(settings, on: path)
      where effect.kind == .inaccessible || effect.kind == .empty && family != nil {
        guard effect.folders.contains(point) else { continue }
        return finding(
          UnitSetting.reason(path, effect, unit, .proven, found + known),
          [.unit(unit, effect.lines)])
      }
    }
    if shown.path.isBelow("/systemd/inaccessible") {
      return finding(
        Reason(
          .serviceSandbox, .proven,
          "systemd covers \(point) here, as InaccessiblePaths= of a unit does", evidence: known))
    }
    let isOfFirejail = shown.path.isBelow("/firejail")
    guard isOfFirejail || isHidden else { return nil }
    // The program that made the mounts of the process, as far as the evidence shows.
    let maker =
      isOfFirejail
      ? "firejail"
      : inspection.maker ?? inspection.confinement.found.first?.place.description
        ?? "another mount"
    return finding(
      Reason(
        .sandbox, .proven, "\(maker) covers \(point) here, so \(path) cannot be reached",
        evidence: known),
      maker == "firejail" ? [.firejail(path, family)] : [])
  }
}
