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

  /// A change by which a layer no longer refuses, or lets modes be changed.
  private struct Lift {
    var form: Remedy.Form
    var command: [PathBytes]
    /// The command that puts it back.
    var back: [PathBytes]
    var others: [String] = []
    /// The facts without what refuses.
    var facts: AccessFacts
  }

  private func simulated(_ decision: Decision, _ index: Int) -> [Remedy] {
    let mount = facts.mounts[facts.inodes[index].mount]
    let rule = obstacle(decision, index)
    switch rule {
    case .readOnlyMount where inspection.maker == "bwrap" && !mount.superblockIsReadOnly:
      return [.bubblewrap("--bind", ask.path)]
    case .noDeviceMount where inspection.maker == "bwrap":
      // Mounts of another user namespace keep their options.
      return [.bubblewrap("--dev-bind", ask.resource.family?.containerDevice ?? ask.path)]
    default: return lift(rule, index).map { remedies($0, index) } ?? []
    }
  }

  /// Returns the lift, with the changes of permissions that are needed besides; empty if that is not enough.
  private func remedies(_ lift: Lift, _ index: Int) -> [Remedy] {
    let mount = facts.inodes[index].mount
    func typed(_ command: [PathBytes]) -> [PathBytes] {
      // What is mounted here is not mounted there.
      guard lift.form == .remount, let process = inspection.processWithOwnMounts else {
        return command
      }
      return ["nsenter", "-t", PathBytes("\(process)"), "-m"] + command
    }
    func remedy(_ command: [PathBytes], _ others: [String]) -> Remedy {
      let command = typed(command)
      let lasting =
        lift.form == .remount
        ? inspection.persistence(ofMount: mount) : inspection.persistence(of: index)
      var remedy = Remedy(lift.form, command, needsRoot: true, lasting, others: others)
      remedy.outcome = .granted
      return remedy
    }
    var first = remedy(lift.command, lift.others)
    first.undo = typed(lift.back)
    let after = decide(lift.facts)
    if after.errno == nil {
      if !after.isGranted { first.outcome = .undetermined }
      return [first]
    }
    // Mode or ACL refuses, too; without both steps, none is worth a word.
    let finder = RemedyFinder(inspection)
    let changes = finder.changes(ask, lift.facts)
    if changes.isEmpty { return [] }
    first.isFirstStep = true
    var restored = facts
    for change in changes { restored.inodes[change.inode] = change.after }
    restored.inodes[index].isImmutable = facts.inodes[index].isImmutable
    restored.inodes[index].isAppendOnly = facts.inodes[index].isAppendOnly
    restored.inodes[index].subvolume = facts.inodes[index].subvolume
    guard decide(restored).isGranted else { return [first] + finder.remedies(changes) }
    // It was only in the way of the change.
    first.othersAffected = []
    var last = remedy(lift.back, [])
    // It is in the way of the undo, too.
    last.undo = typed(lift.command)
    (first.persistence, last.persistence) = (.permanent, .permanent)
    last.isFirstStep = true
    return [first] + finder.remedies(changes) + [last]
  }

  private func decide(_ facts: AccessFacts) -> Decision {
    AccessEvaluator(facts: facts, credentials: inspection.subject.credentials).decide(ask)
  }

  /// Returns what lifts a rule; nil if nothing does.
  private func lift(_ rule: Rule, _ index: Int) -> Lift? {
    var changed = facts
    let mount = facts.inodes[index].mount
    let point = facts.mounts[mount].point
    // A file system that can never be written stays read-only whatever is remounted.
    let canBeWritten = facts.mounts[mount].rules.isWritable
    func remount(_ option: String, _ back: String, others: String) -> Lift? {
      guard !point.isEmpty else { return nil }
      return Lift(
        form: .remount, command: ["mount", "-o", PathBytes("remount,\(option)"), point],
        back: ["mount", "-o", PathBytes("remount,\(back)"), point],
        others: ["everybody whose mode bits allow \(others) below \(point)"], facts: changed)
    }
    switch rule {
    case .readOnlyMount, .readOnlySuperblock:
      guard canBeWritten else { return nil }
      changed.mounts[mount].flags.remove(.readOnly)
      if rule == .readOnlyMount, !facts.mounts[mount].superblockIsReadOnly {
        return remount("bind,rw", "bind,ro", others: "writing")
      }
      changed.mounts[mount].superblockIsReadOnly = false
      return remount("rw", "ro", others: "writing")
    case .noDeviceMount:
      changed.mounts[mount].flags.remove(.noDevices)
      return remount("bind,dev", "bind,nodev", others: "using a device")
    case .noExecuteMount:
      changed.mounts[mount].flags.remove(.noExecute)
      return remount("bind,exec", "bind,noexec", others: "executing")
    default: return attribute(rule, index)
    }
  }

  /// Returns the rule that refuses; where mode or ACL does, the one that lets nobody change them.
  private func obstacle(_ decision: Decision, _ index: Int) -> Rule {
    let (inode, mount) = (facts.inodes[index], facts.mounts[facts.inodes[index].mount])
    guard decision.rule.bits != nil else { return decision.rule }
    if inode.isImmutable { return .immutable }
    if inode.isAppendOnly { return .appendOnly }
    if inode.subvolume?.isReadOnly == true { return .readOnlySubvolume }
    // In a container, mounts are changed from outside.
    guard mount.isReadOnly, inspection.maker == nil,
      inspection.confinement.found.allSatisfy({ !$0.place.isContainer })
    else { return decision.rule }
    return mount.superblockIsReadOnly ? .readOnlySuperblock : .readOnlyMount
  }

  /// Returns what clears an attribute of the inode or of its subvolume; nil if that is not the cause.
  private func attribute(_ rule: Rule, _ index: Int) -> Lift? {
    var changed = facts
    let place = inspection.place(of: index)
    func attribute(_ letter: String) -> Lift {
      Lift(
        form: .attribute, command: ["chattr", PathBytes("-\(letter)"), place],
        back: ["chattr", PathBytes("+\(letter)"), place],
        others: ["everybody whose mode bits allow changing \(place)"], facts: changed)
    }
    switch rule {
    case .readOnlySubvolume:
      guard let top = subvolume(of: index) else { return nil }
      for inode in changed.inodes.indices { changed.inodes[inode].subvolume?.isReadOnly = false }
      func set(_ value: PathBytes) -> [PathBytes] {
        ["btrfs", "property", "set", top, "ro", value]
      }
      return Lift(
        form: .subvolume, command: set("false"), back: set("true"),
        others: ["everybody whose mode bits allow writing below \(top)"], facts: changed)
    case .immutable where facts.inodes[index].isImmutable:
      changed.inodes[index].isImmutable = false
      return attribute("i")
    case .appendOnly:
      changed.inodes[index].isAppendOnly = false
      return attribute("a")
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

  /// Returns the path by which a command of this process names an inode.
  ///
  /// For a process with another root or other mounts, its own path may lead elsewhere here; then it is the path below
  /// /proc/PID/root, see proc_pid_root(5).
  func place(of index: Int) -> PathBytes {
    let path = facts.path(of: index)
    guard !isSaved, context.root == "/", path.isAbsolute, let process = subject.process,
      (try? system.sharesRoot(withProcess: process)) != true
        || (try? system.sharesPaths(withProcess: process)) != true
    else { return path }
    let below = PathBytes(Array("/proc/\(process)/root".utf8) + path.bytes)
    if let here = try? system.status(of: path), let there = try? system.status(of: below),
      InodeIdentity(here) == InodeIdentity(there)
    {
      return path
    }
    return below
  }
}
