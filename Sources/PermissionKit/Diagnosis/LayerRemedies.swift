/// Changes that are none of bits: mounts, attributes, drivers, capabilities, links.
///
/// What the evaluator can simulate is simulated, as with bits; the rest says `undetermined`.
struct LayerRemedies {
  private let inspection: Inspection
  private let ask: Ask
  private var facts: AccessFacts { inspection.facts }

  init(_ inspection: Inspection, _ ask: Ask) {
    self.inspection = inspection
    self.ask = ask
  }

  /// Returns what would help against the layer that decided, or against one of the reasons.
  func remedies(_ decision: Decision, _ reasons: [Reason]) -> [Remedy] {
    var remedies: [Remedy] = []
    if let index = decision.inode, !decision.isGranted { remedies += simulated(decision, index) }
    for reason in reasons { remedies += usual(reason.code, decision) }
    return remedies
  }

  // MARK: - Simulated

  private func simulated(_ decision: Decision, _ index: Int) -> [Remedy] {
    var changed = facts
    let mount = facts.inodes[index].mount
    let point = facts.mounts[mount].point
    let place = facts.path(of: index)
    func remedy(_ kind: Remedy.Kind, _ command: [PathBytes], others: [String]) -> [Remedy] {
      let after = AccessEvaluator(facts: changed, credentials: inspection.subject.credentials)
        .decide(ask)
      var remedy = Remedy(
        kind, command, needsRoot: true, kind == .mount ? .untilReboot : .permanent, others: others)
      remedy.outcome =
        after.isGranted ? .granted : after.errno == nil ? .undetermined : .refused
      return [remedy]
    }
    func remounted(_ option: PathBytes, _ flag: MountFacts.Flags, others: String) -> [Remedy] {
      guard !point.isEmpty else { return [] }
      changed.mounts[mount].flags.remove(flag)
      return remedy(
        .mount, ["mount", "-o", PathBytes("remount,bind,\(option)"), point],
        others: ["\(others) below \(point)"])
    }
    let rule = decision.rule
    if rule == .readOnlyMount, !facts.mounts[mount].superblockIsReadOnly {
      return remounted("rw", .readOnly, others: "all whose bits let them write")
    }
    if rule == .readOnlyMount || rule == .readOnlySuperblock {
      guard !point.isEmpty else { return [] }
      changed.mounts[mount].superblockIsReadOnly = false
      changed.mounts[mount].flags.remove(.readOnly)
      return remedy(
        .mount, ["mount", "-o", "remount,rw", point],
        others: ["all whose bits let them write below \(point)"])
    }
    if rule == .noDeviceMount {
      return remounted("dev", .noDevices, others: "all whose bits let them use a node")
    }
    if rule == .noExecuteMount {
      return remounted("exec", .noExecute, others: "all whose bits let them execute")
    }
    if rule == .immutable, facts.inodes[index].isImmutable {
      changed.inodes[index].isImmutable = false
      return remedy(.file, ["chattr", "-i", place], others: [])
    }
    if rule == .appendOnly {
      changed.inodes[index].isAppendOnly = false
      return remedy(.file, ["chattr", "-a", place], others: [])
    }
    return []
  }

  // MARK: - By the cause

  private func usual(_ code: Reason.Code, _ decision: Decision) -> [Remedy] {
    if code == .rootWithoutCapability {
      return [
        Remedy(
          .container, ["docker", "run", "--cap-add=DAC_OVERRIDE", "IMAGE"],
          others: ["all that runs there as root"],
          line: "CapabilityBoundingSet=CAP_DAC_OVERRIDE   where it is a service",
          note: "root without it owns only what is its own; a group would not be the way")
      ]
    }
    if code == .networkFS, decision.rule == .fuseOtherUser { return [Self.allowOther] }
    if code == .noDriver, let driver = ask.resource.family?.driver {
      return [
        Remedy(
          .driver, ["modprobe", PathBytes(driver.name)], needsRoot: true, .untilReboot,
          note: driver.note)
      ]
    }
    return []
  }

  /// Returns a remedy for a CI service whose machines have no devices: a driver without hardware.
  static func testDevice(_ driver: String) -> Remedy {
    Remedy(
      .driver, ["modprobe", PathBytes(driver)], needsRoot: true, .untilReboot,
      note: "a test driver, where the runner's kernel has it; else --skip-unavailable")
  }

  /// What lets others into a FUSE mount.
  static var allowOther: Remedy {
    Remedy(
      .mount, [], needsRoot: true, others: ["all whom the daemon lets in"],
      line: "user_allow_other   in /etc/fuse.conf, and -o allow_other at the mount",
      note: "with default_permissions too, or mode bits mean nothing")
  }

  /// The file systems without ACLs whose ids are fixed when they are mounted.
  static let mountedForOne: Set<String> = ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "hfsplus"]

  /// For those: mount them for the subject; nil for other file systems.
  func mountRemedy(_ decision: Decision) -> Remedy? {
    guard let index = decision.inode, case let mount = facts.mounts[facts.inodes[index].mount],
      Self.mountedForOne.contains(mount.fileSystem), !mount.point.isEmpty
    else { return nil }
    let credentials = inspection.subject.credentials
    let options =
      "uid=\(credentials.user.fileSystem),gid=\(credentials.group.fileSystem),umask=077"
    var remedy = Remedy(
      kind: .mount, command: ["umount", mount.point], needsRoot: true, persistence: .permanent,
      othersAffected: [], outcome: .granted)
    remedy.line =
      "\(options)   among the options of \(mount.point) in /etc/fstab, and mount it again"
    remedy.note =
      "\(mount.fileSystem) has no owners and no ACLs: chmod and setfacl do nothing there"
    return remedy
  }
}
