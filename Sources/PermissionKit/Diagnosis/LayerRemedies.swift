/// Changes that are none of bits: mounts, attributes, drivers, capabilities, links.
///
/// What the evaluator can simulate is simulated, as with bits; the rest says `undetermined`.
struct LayerRemedies {
  let subject: Subject
  let facts: AccessFacts
  let path: PathBytes
  let need: Permissions
  let isDirectory: Bool

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
    func remedy(_ kind: Remedy.Kind, _ command: [PathBytes], others: [String]) -> Remedy {
      let after = AccessEvaluator(facts: changed, credentials: subject.credentials)
        .decide(need, path, isDirectory: isDirectory)
      return Remedy(
        kind: kind, command: command, needsRoot: true,
        persistence: kind == .mount ? .untilReboot : .permanent, othersAffected: others,
        outcome: after.isGranted ? .granted : after.errno == nil ? .undetermined : .refused)
    }
    func remounted(_ option: PathBytes, _ flag: MountFacts.Flags, others: String) -> [Remedy] {
      guard !point.isEmpty else { return [] }
      changed.mounts[mount].flags.remove(flag)
      return [
        remedy(
          .mount, ["mount", "-o", PathBytes("remount,bind,\(option)"), point], others: [others])
      ]
    }
    switch decision.rule {
    case .readOnlyMount where !facts.mounts[mount].superblockIsReadOnly:
      return remounted("rw", .readOnly, others: "all whose bits let them write below \(point)")
    case .readOnlyMount, .readOnlySuperblock:
      guard !point.isEmpty else { return [] }
      changed.mounts[mount].superblockIsReadOnly = false
      changed.mounts[mount].flags.remove(.readOnly)
      return [
        remedy(
          .mount, ["mount", "-o", "remount,rw", point],
          others: ["all whose bits let them write below \(point)"])
      ]
    case .noDeviceMount:
      return remounted(
        "dev", .noDevices, others: "all whose bits let them use a node below \(point)")
    case .noExecuteMount:
      return remounted("exec", .noExecute, others: "all whose bits let them execute below \(point)")
    case .immutable where facts.inodes[index].isImmutable:
      changed.inodes[index].isImmutable = false
      return [remedy(.file, ["chattr", "-i", place], others: [])]
    case .appendOnly:
      changed.inodes[index].isAppendOnly = false
      return [remedy(.file, ["chattr", "-a", place], others: [])]
    default: return []
    }
  }

  // MARK: - By the cause

  private func usual(_ code: Reason.Code, _ decision: Decision) -> [Remedy] {
    func remedy(
      _ kind: Remedy.Kind, _ command: [PathBytes], root: Bool = true,
      _ persistence: Persistence = .permanent, line: String? = nil, note: String? = nil,
      others: [String] = []
    ) -> Remedy {
      var remedy = Remedy(
        kind: kind, command: command, needsRoot: root, persistence: persistence,
        othersAffected: others, outcome: .undetermined)
      remedy.line = line
      remedy.note = note
      return remedy
    }
    switch code {
    case .rootWithoutCapability:
      return [
        remedy(
          .container, ["docker", "run", "--cap-add=DAC_OVERRIDE", "IMAGE"], root: false,
          line: "CapabilityBoundingSet=CAP_DAC_OVERRIDE   where it is a service",
          note: "root without it owns only what is its own; a group would not be the way",
          others: ["all that runs there as root"])
      ]
    case .networkFS where decision.rule == .fuseOtherUser: return [Self.allowOther]
    case .noDriver:
      guard let major = decision.inode.flatMap({ facts.inodes[$0].device?.major }) else {
        return []
      }
      return major == 81
        ? [
          remedy(
            .driver, ["modprobe", "uvcvideo"], .untilReboot, note: "the driver of USB cameras")
        ]
        : major == 116 ? [remedy(.driver, ["modprobe", "snd-usb-audio"], .untilReboot)] : []
    default: return []
    }
  }

  /// A device that needs no hardware, for a CI service whose machines have none.
  static func testDevice(_ wanted: Wanted) -> Remedy {
    var remedy = Remedy(
      kind: .driver, command: ["modprobe", wanted == .camera ? "vivid" : "snd-aloop"],
      needsRoot: true, persistence: .untilReboot, othersAffected: [], outcome: .undetermined)
    remedy.note = "a test driver, where the runner's kernel has it; else --skip-unavailable"
    return remedy
  }

  /// What lets others into a FUSE mount.
  static var allowOther: Remedy {
    var remedy = Remedy(
      kind: .mount, command: [], needsRoot: true, persistence: .permanent,
      othersAffected: ["all whom the daemon lets in"], outcome: .undetermined)
    remedy.line = "user_allow_other   in /etc/fuse.conf, and -o allow_other at the mount"
    remedy.note = "with default_permissions too, or mode bits mean nothing"
    return remedy
  }

  /// The file systems without ACLs whose ids are fixed when they are mounted.
  static let mountedForOne: Set<String> = ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "hfsplus"]

  /// For those: mount them for the subject; nil for other file systems.
  func mountRemedy(_ decision: Decision) -> Remedy? {
    guard let index = decision.inode, case let mount = facts.mounts[facts.inodes[index].mount],
      Self.mountedForOne.contains(mount.fileSystem), !mount.point.isEmpty
    else { return nil }
    let (user, group) = (subject.credentials.user, subject.credentials.group)
    let options = "uid=\(user.fileSystem),gid=\(group.fileSystem),umask=077"
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
