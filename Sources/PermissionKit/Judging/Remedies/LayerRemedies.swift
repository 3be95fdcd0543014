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
    /// The inode that was refused, and the rule.
    var index = 0
    var rule = Rule.immutable
  }

  /// One of the steps that together give access.
  private enum Step {
    case lift(Lift)
    case changes([InodeChange])
  }

  private func simulated(_ decision: Decision, _ index: Int) -> [Remedy] {
    let mount = facts.mounts[facts.inodes[index].mount]
    switch obstacle(facts, decision, index) {
    case .readOnlyMount where inspection.maker == "bwrap" && !mount.superblockIsReadOnly:
      return [.bubblewrap("--bind", ask.path)]
    case .noDeviceMount where inspection.maker == "bwrap":
      // Mounts of another user namespace keep their options.
      return [.bubblewrap("--dev-bind", ask.resource.family?.containerDevice ?? ask.path)]
    default:
      var steps: [Step] = []
      let (end, after) = repair(&steps)
      guard after.errno == nil,
        steps.contains(where: { if case .lift = $0 { true } else { false } })
      else { return [] }
      return remedies(steps, end, isKnown: after.isGranted)
    }
  }

  /// Adds steps until nothing refuses any more, or until nothing helps.
  ///
  /// - Returns: The facts after the steps, and their decision.
  private func repair(_ steps: inout [Step]) -> (AccessFacts, Decision) {
    var (facts, decision) = (facts, decide(facts))
    // Each round takes away one obstacle; there are not so many kinds.
    for _ in 0..<8 {
      guard decision.errno != nil, let index = decision.inode else { break }
      let rule = obstacle(facts, decision, index)
      if var lift = lift(facts, rule, index) {
        (lift.index, lift.rule) = (index, rule)
        facts = lift.facts
        steps.append(.lift(lift))
      } else if decision.rule.bits != nil {
        var least = LeastChange(facts: facts, credentials: inspection.subject.credentials)
        least.inspection = inspection
        let after = least.approach(ask)
        if least.changes.isEmpty { break }
        steps.append(.changes(least.changes))
        (facts, decision) = (least.facts, after)
        // What lets nobody change the mode is an obstacle of its own.
        if after.rule.bits != nil, let inode = after.inode,
          obstacle(facts, after, inode) == after.rule
        {
          break
        }
        continue
      } else {
        break
      }
      decision = decide(facts)
    }
    return (facts, decision)
  }

  /// Returns the steps as commands; what was only in the way of a change is put back at the end.
  private func remedies(_ steps: [Step], _ end: AccessFacts, isKnown: Bool) -> [Remedy] {
    func typed(_ lift: Lift, _ command: [PathBytes]) -> [PathBytes] {
      // What is mounted here is not mounted there.
      guard lift.form == .remount, let process = inspection.processWithOwnMounts else {
        return command
      }
      return ["nsenter", "-t", PathBytes("\(process)"), "-m"] + command
    }
    func remedy(_ lift: Lift, _ command: [PathBytes], undo: [PathBytes]) -> Remedy {
      let lasting =
        lift.form == .remount
        ? inspection.persistence(ofMount: facts.inodes[lift.index].mount)
        : inspection.persistence(of: lift.index)
      var remedy = Remedy(lift.form, typed(lift, command), needsRoot: true, lasting)
      remedy.outcome = isKnown ? .granted : .undetermined
      remedy.undo = typed(lift, undo)
      return remedy
    }
    var (commands, backs): ([Remedy], [Remedy]) = ([], [])
    var end = end
    for step in steps {
      switch step {
      case .changes(let changes): commands += RemedyFinder(inspection).remedies(changes)
      case .lift(let lift):
        var first = remedy(lift, lift.command, undo: lift.back)
        first.isFirstStep = steps.count > 1
        let restored = restoring(lift, end)
        if isKnown, steps.count > 1, decide(restored).isGranted {
          // It was only in the way of a change, and is in the way of the undo, too.
          var last = remedy(lift, lift.back, undo: lift.command)
          (first.persistence, last.persistence, last.isFirstStep) = (.permanent, .permanent, true)
          backs.insert(last, at: 0)
          end = restored
        } else {
          first.othersAffected = lift.others
        }
        commands.append(first)
      }
    }
    return commands + backs
  }

  /// Returns facts with what a lift took away.
  private func restoring(_ lift: Lift, _ end: AccessFacts) -> AccessFacts {
    var restored = end
    let mount = facts.inodes[lift.index].mount
    switch lift.rule {
    case .readOnlyMount, .readOnlySuperblock:
      restored.mounts[mount].superblockIsReadOnly = facts.mounts[mount].superblockIsReadOnly
      if facts.mounts[mount].flags.contains(.readOnly) {
        restored.mounts[mount].flags.insert(.readOnly)
      }
    case .noDeviceMount: restored.mounts[mount].flags.insert(.noDevices)
    case .noExecuteMount: restored.mounts[mount].flags.insert(.noExecute)
    case .readOnlySubvolume:
      for inode in restored.inodes.indices {
        restored.inodes[inode].subvolume = facts.inodes[inode].subvolume
      }
    case .immutable: restored.inodes[lift.index].isImmutable = true
    default: restored.inodes[lift.index].isAppendOnly = true
    }
    return restored
  }

  private func decide(_ facts: AccessFacts) -> Decision {
    AccessEvaluator(facts: facts, credentials: inspection.subject.credentials).decide(ask)
  }

  /// Returns what would still refuse after the changes of mode and ACL that are possible, for people; nil if there are none,
  /// or if nothing more is known.
  func laterRefusal() -> String? {
    var steps: [Step] = []
    let (end, after) = repair(&steps)
    guard !steps.isEmpty, let errno = after.errno, let index = after.inode else { return nil }
    let place = end.path(of: index)
    return
      "no change of permissions is enough: \(place) would refuse it then (\(errno), \(RuleWords(after.rule.description).refusal))"
  }

  /// Returns what lifts a rule; nil if nothing does.
  private func lift(_ facts: AccessFacts, _ rule: Rule, _ index: Int) -> Lift? {
    var changed = facts
    let mount = facts.inodes[index].mount
    let point = facts.mounts[mount].point
    // A file system that can never be written stays read-only whatever is remounted.
    let canBeWritten = facts.mounts[mount].rules.isWritable
    func remount(_ option: String, _ back: String, others: String) -> Lift? {
      guard !point.isEmpty else { return nil }
      // Else mount(8) takes all options from fstab(5), and others go.
      let kept: [PathBytes] = inspection.isInFstab(point) ? ["--options-source=mtab"] : []
      return Lift(
        form: .remount, command: ["mount"] + kept + ["-o", PathBytes("remount,\(option)"), point],
        back: ["mount"] + kept + ["-o", PathBytes("remount,\(back)"), point],
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
    default: return attribute(facts, rule, index)
    }
  }

  /// Returns the rule that refuses; where mode or ACL does, the one that lets nobody change them.
  private func obstacle(_ facts: AccessFacts, _ decision: Decision, _ index: Int) -> Rule {
    let (inode, mount) = (facts.inodes[index], facts.mounts[facts.inodes[index].mount])
    guard decision.rule.bits != nil || decision.rule == .immutable || decision.rule == .appendOnly
    else { return decision.rule }
    // In a container, mounts are mostly changed from outside. On a read-only one no attribute is changed.
    if mount.isReadOnly, inspection.maker == nil,
      inspection.mayRemount
        || inspection.confinement.found.allSatisfy({ !$0.place.isContainer })
    {
      return mount.superblockIsReadOnly ? .readOnlySuperblock : .readOnlyMount
    }
    if inode.subvolume?.isReadOnly == true { return .readOnlySubvolume }
    if inode.isImmutable { return .immutable }
    return inode.isAppendOnly ? .appendOnly : decision.rule
  }

  /// Returns what clears an attribute of the inode or of its subvolume; nil if that is not the cause.
  private func attribute(_ facts: AccessFacts, _ rule: Rule, _ index: Int) -> Lift? {
    var changed = facts
    let place = inspection.operand(index)
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

  /// Whether root here may change mounts, as in a container that was given CAP_SYS_ADMIN: mounts that come from outside of
  /// a user namespace keep their options in it.
  var mayRemount: Bool {
    guard !isSaved, facts.overflow == nil, maker == nil else { return false }
    return system.lookAtStatus(ofProcess: nil).value?.bounding?.contains(.sysAdmin) == true
  }

  /// Whether /etc/fstab has a line about a mount point.
  func isInFstab(_ point: PathBytes) -> Bool {
    guard !isSaved, let bytes = try? system.contents(of: "/etc/fstab", limit: 1 << 20) else {
      return false
    }
    return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
      let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      return fields.count > 1 && fields[1].elementsEqual(point.bytes)
    }
  }

  /// The process that is judged, if it has other mounts below the same root directory; nil for others.
  var processWithOwnMounts: Int32? {
    guard !isSaved, let process = subject.process,
      (try? system.sharesRoot(withProcess: process)) == true,
      (try? system.sharesPaths(withProcess: process)) == false
    else { return nil }
    return process
  }

  /// Returns the path of an inode as an argument: a command could take a relative one for an option.
  func operand(_ index: Int) -> PathBytes {
    let path = place(of: index)
    let isSafe = path.isAbsolute || path.bytes.starts(with: Array("../".utf8))
    return isSafe ? path : PathBytes("./").appending(path)
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
