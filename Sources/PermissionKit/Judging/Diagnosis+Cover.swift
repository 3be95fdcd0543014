// What a sandbox mounts over a node or a folder, to keep its processes from it.
extension Diagnosis {
  /// The mount that hides a path, and the remedies.
  struct Cover {
    let reason: Reason
    let remedies: [Remedy]
  }

  /// Finds a mount that hides the inode that refuses, or an inode of the wrong kind.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - isOther: Whether the file is of another type than what was asked for.
  /// - Returns: The mount; nil if none covers it.
  func cover(_ ask: ResourceQuery, _ decision: Decision, isOther: Bool) -> Cover? {
    let facts = inspection.facts
    guard inspection.context.root == "/", let index = decision.inode else { return nil }
    let point = facts.mounts[facts.inodes[index].mount].point
    guard point != "/dev", point != "/", point == facts.path(of: index) else { return nil }
    let isHidden = isHidden(ask, decision, isOther)
    guard isHidden || !decision.isGranted else { return nil }
    return cover(at: point, ask.path, ask.resource.family, isHidden: isHidden)
  }

  /// Finds a mount that hides a path.
  ///
  /// - Parameters:
  ///   - point: The path itself, or a folder on it.
  ///   - path: The path that is not reached.
  ///   - family: The kind of device that it is; nil for other paths.
  ///   - isHidden: Whether any mount there does.
  /// - Returns: The mount; nil if there is none.
  func cover(
    at point: PathBytes, _ path: PathBytes, _ family: DeviceFamily?, isHidden: Bool
  ) -> Cover? {
    let file = MountTable.path(of: inspection.subject.process)
    guard let table = try? inspection.system.mountTable(file), let shown = table.shown(at: point)
    else { return nil }
    let evidence = ["mounted at \(point): \(shown.path) of \(shown.fileSystem)"]
    // systemd.exec(5): /run/systemd/inaccessible has a file of each type with mode 000.
    if let cover = coverOfUnit(path, point, family, evidence) { return cover }
    if shown.path.isBelow("/systemd/inaccessible") {
      return Cover(
        reason: Reason(
          .serviceSandbox, .proven,
          "systemd covers \(point) here, as InaccessiblePaths= of a unit does",
          evidence: evidence),
        remedies: [])
    }
    let maker =
      shown.path.isBelow("/firejail") ? "firejail" : isHidden ? mounter : nil
    guard let maker else { return nil }
    return Cover(
      reason: Reason(
        .sandbox, .proven, "\(maker) covers \(point) here, so \(path) cannot be reached",
        evidence: evidence),
      remedies: maker == "firejail" ? [.firejail(path, family)] : [])
  }

  /// Returns the mount of a unit's InaccessiblePaths= or ProtectHome=, or for devices its
  /// TemporaryFileSystem=; nil for other mounts.
  private func coverOfUnit(
    _ path: PathBytes, _ point: PathBytes, _ family: DeviceFamily?, _ mounted: [String]
  ) -> Cover? {
    for case (.service(let unit, let settings), let evidence) in confinement.found {
      for effect in UnitSettings.effects(settings, on: path)
      where effect.kind == .inaccessible || effect.kind == .empty && family != nil {
        guard effect.folders.contains(point) else { continue }
        return Cover(
          reason: hidden(path, by: effect, of: unit, .proven, evidence + mounted),
          remedies: [.unit(unit, effect.lines)])
      }
    }
    return nil
  }

  /// Whether a device is missing, or another one than its name says, on a mount of the sandbox.
  private func isHidden(_ ask: ResourceQuery, _ decision: Decision, _ isOther: Bool) -> Bool {
    guard let family = ask.resource.family, let index = decision.inode else { return false }
    if isOther || decision.rule == .missing { return true }
    guard let number = inspection.facts.inodes[index].device else { return false }
    return family.otherDevice(at: ask.path, number, below: "/", inspection.system) != nil
  }

  /// The program that made the mounts of the process, as far as the evidence shows.
  private var mounter: String {
    inspection.maker ?? confinement.found.first?.place.description ?? "another mount"
  }
}
