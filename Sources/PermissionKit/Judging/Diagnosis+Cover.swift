// What a sandbox mounts over a node or a folder, to keep its processes from it.
extension Diagnosis {
  /// Why a path is out of reach, and what gives it to the process.
  struct Cover {
    let reason: Reason
    let remedies: [Remedy]
  }

  /// Looks for a mount that covers what refuses, or what is not what it should be.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - isOther: Whether the file is of another type than what was asked for.
  /// - Returns: The mount; nil if none covers it.
  func cover(_ ask: Ask, _ decision: Decision, isOther: Bool) -> Cover? {
    let facts = inspection.facts
    guard inspection.context.root == "/", let index = decision.inode else { return nil }
    let point = facts.mounts[facts.inodes[index].mount].point
    guard point != "/dev", point != "/", point == facts.path(of: index) else { return nil }
    let isTakenAway = isTakenAway(ask, decision, isOther)
    guard isTakenAway || !decision.isGranted else { return nil }
    return cover(at: point, ask.path, isTakenAway: isTakenAway)
  }

  /// Looks for a mount at a place that keeps a path away.
  ///
  /// - Parameters:
  ///   - point: The path itself, or a folder on it.
  ///   - path: The path that is not reached.
  ///   - isTakenAway: Whether any mount there does.
  /// - Returns: The mount; nil if there is none.
  func cover(at point: PathBytes, _ path: PathBytes, isTakenAway: Bool) -> Cover? {
    let file = MountTable.path(of: inspection.subject.process)
    guard let table = try? inspection.system.mountTable(file), let shown = table.shown(at: point)
    else { return nil }
    let evidence = ["mounted at \(point): \(shown.path) of \(shown.fileSystem)"]
    // systemd.exec(5): /run/systemd/inaccessible has a file of each type with mode 000.
    if shown.path.isBelow("/systemd/inaccessible") { return coverOfUnit(path, point, evidence) }
    let maker =
      shown.path.isBelow("/firejail") ? "firejail" : isTakenAway ? whoMounted : nil
    guard let maker else { return nil }
    return Cover(
      reason: Reason(
        .sandbox, .proven, "\(maker) covers \(point) here, so \(path) cannot be reached",
        evidence: evidence),
      remedies: [])
  }

  /// The mount that a unit's InaccessiblePaths= or ProtectHome= makes.
  private func coverOfUnit(_ path: PathBytes, _ point: PathBytes, _ mounted: [String]) -> Cover {
    for case (.service(let unit, let settings), let evidence) in confinement.found {
      for effect in UnitSettings.effects(settings, on: path)
      where effect.kind == .inaccessible && effect.folders.contains(point) {
        return Cover(
          reason: hidden(path, by: effect, of: unit, .proven, evidence + mounted),
          remedies: [.unit(unit, "[Service] \(effect.lines)")])
      }
    }
    return Cover(
      reason: Reason(
        .serviceSandbox, .proven,
        "systemd covers \(point) here, as InaccessiblePaths= of a unit does",
        evidence: mounted),
      remedies: [])
  }

  /// Whether a device is not what its name says, or is missing, where something is mounted.
  private func isTakenAway(_ ask: Ask, _ decision: Decision, _ isOther: Bool) -> Bool {
    guard let family = ask.resource.family, let index = decision.inode else { return false }
    if isOther || decision.rule == .missing { return true }
    guard let number = inspection.facts.inodes[index].device else { return false }
    return family.otherDevice(at: ask.path, number, below: "/", inspection.system) != nil
  }

  /// Whoever made the mounts of the process, as far as it shows.
  private var whoMounted: String {
    let process = inspection.subject.process ?? inspection.system.getpid()
    for program in ["bwrap", "firejail"] {
      if inspection.system.hasAncestor(program, process) { return program }
    }
    return confinement.found.first?.place.description ?? "another mount"
  }
}
