/// Finds remedies other than permission bits: mounts, attributes, drivers, capabilities, links.
///
/// The evaluator simulates a remedy if it can; otherwise the outcome is `undetermined`.
struct LayerRemedies {
  private let inspection: Inspection
  private let ask: ResourceQuery
  private var facts: AccessFacts { inspection.facts }

  init(_ inspection: Inspection, _ ask: ResourceQuery) {
    self.inspection = inspection
    self.ask = ask
  }

  /// Returns the remedies for the layer that decided, and for each of the reasons.
  func remedies(_ decision: Decision, _ reasons: [Reason]) -> [Remedy] {
    var remedies: [Remedy] = []
    if let index = decision.inode, !decision.isGranted { remedies += simulated(decision, index) }
    for reason in reasons { remedies += standardRemedies(reason.code, decision) }
    return remedies
  }

  // MARK: - Simulated

  private func simulated(_ decision: Decision, _ index: Int) -> [Remedy] {
    var changed = facts
    let mount = facts.inodes[index].mount
    let point = facts.mounts[mount].point
    func remedy(_ form: Remedy.Form, _ command: [PathBytes], others: [String]) -> [Remedy] {
      let after = AccessEvaluator(facts: changed, credentials: inspection.subject.credentials)
        .decide(ask)
      var command = command
      // What is mounted here is not mounted there.
      if form == .remount, let process = inspection.processWithOwnMounts {
        command = ["nsenter", "-t", PathBytes("\(process)"), "-m"] + command
      }
      var remedy = Remedy(
        form, command, needsRoot: true, form == .remount ? .untilReboot : .permanent, others: others
      )
      remedy.outcome =
        after.isGranted ? .granted : after.errno == nil ? .undetermined : .refused
      return [remedy]
    }
    // A file system that can never be written stays read-only whatever is remounted.
    let canBeWritten = facts.mounts[mount].rules.isWritable
    func remounted(_ option: PathBytes, _ flag: MountFacts.Flags, others: String) -> [Remedy] {
      guard !point.isEmpty else { return [] }
      changed.mounts[mount].flags.remove(flag)
      return remedy(
        .remount, ["mount", "-o", PathBytes("remount,bind,\(option)"), point],
        others: ["\(others) below \(point)"])
    }
    switch decision.rule {
    case .readOnlyMount
    where inspection.maker == "bwrap" && !facts.mounts[mount].superblockIsReadOnly:
      return [.bubblewrap("--bind", ask.path)]
    case .readOnlyMount where !canBeWritten, .readOnlySuperblock where !canBeWritten:
      return []
    case .readOnlyMount where !facts.mounts[mount].superblockIsReadOnly:
      return remounted("rw", .readOnly, others: "everybody whose mode bits allow writing")
    case .readOnlyMount, .readOnlySuperblock:
      guard !point.isEmpty else { return [] }
      changed.mounts[mount].superblockIsReadOnly = false
      changed.mounts[mount].flags.remove(.readOnly)
      return remedy(
        .remount, ["mount", "-o", "remount,rw", point],
        others: ["everybody whose mode bits allow writing below \(point)"])
    case .noDeviceMount where inspection.maker == "bwrap":
      // Mounts of another user namespace keep their options.
      return [.bubblewrap("--dev-bind", ask.resource.family?.containerDevice ?? ask.path)]
    case .noDeviceMount:
      return remounted("dev", .noDevices, others: "everybody whose mode bits allow using a device")
    case .noExecuteMount:
      return remounted("exec", .noExecute, others: "everybody whose mode bits allow executing")
    default:
      guard let (form, command, others) = attribute(decision.rule, index, &changed) else {
        return []
      }
      return remedy(form, command, others: others)
    }
  }

  /// Returns the remedy that clears an attribute of the inode or of its subvolume; nil if that is
  /// not the cause.
  private func attribute(
    _ rule: Rule, _ index: Int, _ changed: inout AccessFacts
  ) -> (Remedy.Form, [PathBytes], others: [String])? {
    let place = facts.path(of: index)
    switch rule {
    case .readOnlySubvolume:
      guard let top = subvolume(of: index) else { return nil }
      for inode in changed.inodes.indices { changed.inodes[inode].subvolume?.isReadOnly = false }
      let others = ["everybody whose mode bits allow writing below \(top)"]
      return (.subvolume, ["btrfs", "property", "set", top, "ro", "false"], others)
    case .immutable where facts.inodes[index].isImmutable:
      changed.inodes[index].isImmutable = false
      return (.attribute, ["chattr", "-i", place], [])
    case .appendOnly:
      changed.inodes[index].isAppendOnly = false
      return (.attribute, ["chattr", "-a", place], [])
    default: return nil
    }
  }

  /// Returns the path of the top directory of a subvolume; nil if that is not on the path.
  private func subvolume(of index: Int) -> PathBytes? {
    // BTRFS_FIRST_FREE_OBJECTID of the kernel's btrfs_tree.h.
    var path = facts.path(of: index)
    // A command could take a relative path for an option.
    if !path.isAbsolute { path = PathBytes("./").appending(path) }
    while true {
      guard let status = try? inspection.system.status(of: path),
        status.fileSystem == facts.inodes[index].subvolume?.device
      else { return nil }
      if status.inode == 256 { return path }
      let parent = path.parent
      if parent == path { return nil }
      path = parent
    }
  }

  // MARK: - By reason code

  private func standardRemedies(_ code: Reason.Code, _ decision: Decision) -> [Remedy] {
    if code == .rootWithoutCapability {
      return [
        Remedy(
          .capability, ["docker", "run", "--cap-add=DAC_OVERRIDE", "IMAGE"],
          others: ["every process of root in the container"],
          line: "CapabilityBoundingSet=CAP_DAC_OVERRIDE   for a systemd service",
          note:
            "without this capability root is an ordinary user; do not add root to a group instead")
      ]
    }
    if code == .networkFS, decision.rule == .fuseOtherUser { return [.allowOther] }
    if code == .noDriver, let driver = ask.resource.family?.driver {
      return [
        Remedy(
          .driver, ["modprobe", PathBytes(driver.name)], needsRoot: true, .untilReboot,
          note: driver.note)
      ]
    }
    return []
  }
}

extension Inspection {
  /// A note that Landlock of another process cannot be seen, and nothing suggests it; nil for others.
  var noSignOfLandlock: String? {
    subject.process.flatMap { ProcessLayers(system, $0).noSignOfLandlock }
  }

  /// The sandbox that made the mounts of the process, found among its ancestors.
  var maker: String? {
    guard subject.source != .user, context.root == "/" else { return nil }
    let process = subject.process ?? system.getpid()
    return ["bwrap", "firejail"].first { system.hasAncestor($0, process) }
  }

  /// The process that is judged, if it has other mounts below the same root directory; nil for others.
  var processWithOwnMounts: Int32? {
    guard !isSaved, let process = subject.process,
      (try? system.sharesRoot(withProcess: process)) == true,
      (try? system.sharesPaths(withProcess: process)) == false
    else { return nil }
    return process
  }
}
