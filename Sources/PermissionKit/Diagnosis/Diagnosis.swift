/// Looks beyond a verdict for what a person has to know: the layer, the login, the holder, the wall.
///
/// Asks the system only where something is refused, contradictory or missing, or where detail is
/// wanted; see DESIGN "Layers above it".
struct Diagnosis {
  let context: AccessContext
  let users: UserDatabase
  let subject: Subject
  let facts: AccessFacts

  private var system: any System { context.system }
  private var session: Session {
    Session(
      system: system, root: context.root, users: users, subject: subject, facts: facts)
  }

  // MARK: - What was granted

  /// The words for what a grant rests on, where the seat gave it; nil leaves them as they are.
  func basis(_ decision: Decision, _ basis: String) -> String? {
    guard !context.isOffline, session.isSeatGrant(decision) else { return nil }
    return "seat \(basis)"
  }

  /// What that means elsewhere, where such detail is wanted.
  func meaning(_ decision: Decision) -> String? {
    context.isOffline ? nil : session.meaning(decision)
  }

  // MARK: - What was refused

  /// Adds to a report on something refused all that can be learned of why, and what to do.
  func refine(
    _ report: inout ResourceReport, _ decision: Decision, isDirectory: Bool
  ) {
    guard !context.isOffline else { return }
    if isRefusedByBits(decision), report.probe?.errno == decision.errno || report.probe == nil {
      refineRefusal(&report, decision, isDirectory: isDirectory)
    }
    if report.reasons.contains(where: { Self.layers.contains($0.code) }) {
      confine(&report, isDirectory: isDirectory, isMissing: false)
      addProfileRemedy(&report)
    }
    if decision.rule == .missing, decision.step != .create,
      report.reasons.first?.code == .noDevice, Self.isOfDevices(report.path, root: context.root)
    {
      confine(&report, isDirectory: false, isMissing: true)
    }
    if report.reasons.contains(where: { $0.code == .usernsUnmapped }) {
      confineGroups(&report)
    }
    if decision.rule == .unreadable { nameMount(&report, decision) }
    report.remedies += LayerRemedies(
      subject: subject, facts: facts, path: report.path, need: report.need,
      isDirectory: isDirectory
    ).remedies(decision, report.reasons)
  }

  private static let layers: Set<Reason.Code> = [.deviceCgroup, .landlockOrLSM, .seccomp]

  private func isRefusedByBits(_ decision: Decision) -> Bool {
    decision.errno == .EACCES && ReasonFinder.status(decision) == .denied
  }

  /// Asks of a refusal by bits whether the login is the cause rather than the bits.
  private func refineRefusal(
    _ report: inout ResourceReport, _ decision: Decision, isDirectory: Bool
  ) {
    if let remedy = LayerRemedies(
      subject: subject, facts: facts, path: report.path, need: report.need,
      isDirectory: isDirectory
    ).mountRemedy(decision) {
      report.remedies = [remedy]
      return
    }
    if let (gid, moved) = session.staleGroup(
      decision, report.path, report.need, isDirectory: isDirectory)
    {
      let reason = session.staleReason(gid)
      // The login is the cause; which bits refuse is what it was seen by.
      if decision.step == .target, let first = report.reasons.first {
        report.reasons[0] = reason
        report.reasons[0].evidence += first.evidence
      } else {
        report.reasons.insert(reason, at: 0)
      }
      report.remedies = [session.newGroupRemedy(gid, moved)]
      return
    }
    addGroupFlag(&report, decision)
    if let reason = session.seatReason(decision) {
      report.reasons.append(reason)
      if !report.remedies.isEmpty, let index = decision.inode {
        let group = users.groupName(facts.inodes[index].gid)
        report.remedies[0].note =
          "not usermod -aG \(group): its members have the device while another user sits at the seat; and not chmod 666, which gives it to everybody"
      }
    }
  }

  /// In a container the number of the node's group counts, which is the machine's, not the image's.
  private func addGroupFlag(_ report: inout ResourceReport, _ decision: Decision) {
    guard report.reasons.first?.code == .notInGroup, subject.credentials.user.fileSystem != 0,
      Self.isOfDevices(report.path, root: context.root), let index = decision.inode
    else { return }
    for (place, _) in Confinement(context).found {
      let command: [PathBytes]
      switch place {
      case .docker:
        command = ["docker", "run", PathBytes("--group-add=\(facts.inodes[index].gid)"), "IMAGE"]
      case .podman: command = ["podman", "run", "--group-add=keep-groups", "IMAGE"]
      default: continue
      }
      report.remedies.append(
        Remedy(
          kind: .container, command: command, needsRoot: false, persistence: .permanent,
          othersAffected: ["all that runs in the container"], outcome: .undetermined))
    }
  }

  // MARK: - Places

  /// Names the walls around this process, and the flags and files that make doors.
  private func confine(
    _ report: inout ResourceReport, isDirectory: Bool, isMissing: Bool
  ) {
    guard let wanted = Wanted(report.path, isDirectory: isDirectory) else { return }
    let (reasons, remedies) = Confinement(context).reasons(
      wanted, report.path, isMissing: isMissing)
    report.reasons += reasons
    report.remedies += remedies
  }

  /// A rootless container drops the groups of the user on the way in, unless told to keep them.
  private func confineGroups(_ report: inout ResourceReport) {
    for (place, evidence) in Confinement(context).found {
      guard case .podman(true) = place else { continue }
      report.reasons.append(
        Reason(
          .container, .suspected,
          "this is \(place.description): the groups of the user are dropped on the way in",
          evidence: evidence))
      report.remedies.append(
        Remedy(
          kind: .container, command: ["podman", "run", "--group-add=keep-groups", "IMAGE"],
          needsRoot: false, persistence: .permanent, othersAffected: [], outcome: .undetermined))
    }
  }

  private func addProfileRemedy(_ report: inout ResourceReport) {
    guard report.reasons.contains(where: { $0.code == .landlockOrLSM }) else { return }
    let modules = SecurityModules(system)
    if let profile = modules.profile {
      var remedy = Remedy(
        kind: .sandbox, command: ["aa-logprof"], needsRoot: true, persistence: .permanent,
        othersAffected: ["all that \(profile) confines"], outcome: .undetermined)
      remedy.line = "\(report.path) rw,   in the AppArmor profile \(profile)"
      report.remedies.append(remedy)
    } else if modules.isContainerContext {
      report.remedies.append(
        Remedy(
          kind: .sandbox, command: ["setsebool", "-P", "container_use_devices", "1"],
          needsRoot: true, persistence: .permanent, othersAffected: ["every container"],
          outcome: .undetermined))
    }
  }

  /// A mount point that not even statx(2) is allowed: FUSE of another user, or a server that
  /// refuses, see fuse_allow_current_process() in fs/fuse/dir.c.
  private func nameMount(_ report: inout ResourceReport, _ decision: Decision) {
    guard let index = decision.inode,
      let bytes = try? system.contents(
        of: PathBytes("/proc/\(subject.process.map(String.init) ?? "self")/mountinfo"),
        limit: 1 << 26)
    else { return }
    let folder = facts.path(of: index)
    let closed = facts.inodes[index].entries.filter {
      if case .unreadable(.EACCES) = $0.found { true } else { false }
    }.map { folder.appending($0.name) }
    let mounts = MountTable(mountinfo: bytes).mounts
    guard let mount = mounts.last(where: { closed.contains($0.point) }) else { return }
    let options = mount.superblockOptions.split(separator: ",")
    let message: String
    if mount.fileSystem.hasPrefix("fuse"), !options.contains("allow_other") {
      let owner = options.first { $0.hasPrefix("user_id=") }.flatMap { UInt32($0.dropFirst(8)) }
      message =
        "\(mount.point) is a FUSE mount of \(owner.map { users.userName($0) } ?? "another user") without allow_other: nobody else may look into it, not even root"
      report.remedies.append(LayerRemedies.allowOther)
    } else if ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs"].contains(mount.fileSystem) {
      let squash =
        subject.credentials.user.fileSystem == 0
        ? "; it may take root for nobody (root squash)" : ""
      message = "the server of \(mount.point) (\(mount.fileSystem)) refuses it\(squash)"
    } else if mount.fileSystem == "autofs" {
      message = "\(mount.point) is an automount, and mounting it is refused"
    } else {
      return
    }
    report.reasons = [
      Reason(
        .networkFS, .proven, message,
        evidence: ["\(mount.fileSystem) \(mount.superblockOptions)"]
          + report.reasons.flatMap(\.evidence))
    ]
  }

  private static func isOfDevices(_ path: PathBytes, root: PathBytes) -> Bool {
    path.hasPrefix(root.appending("dev/").description)
  }

  /// Says of what was looked for in vain whether a wall hides it.
  func refine(absence report: ResourceReport) -> ResourceReport {
    guard !context.isOffline, report.status == .unavailable,
      let code = report.reasons.first?.code, code == .noDevice || code == .noCaptureNode
    else { return report }
    var report = report
    let confinement = Confinement(context)
    if let wanted = Wanted(report.path, isDirectory: false) {
      let (reasons, remedies) = confinement.reasons(wanted, report.path, isMissing: true)
      report.reasons += reasons
      report.remedies += remedies
    }
    if confinement.runner != nil, let wanted = Wanted(report.path, isDirectory: false) {
      report.remedies.append(LayerRemedies.testDevice(wanted))
    }
    if let runner = confinement.runner {
      report.reasons[0].evidence.append(
        "this is \(runner): hosted runners have no devices; --skip-unavailable makes that no failure"
      )
    }
    return report
  }

  // MARK: - Devices in use

  /// Says who holds the device, where it is in use.
  func busyReason(_ decision: Decision, _ probe: Probe?, _ path: PathBytes) -> Reason? {
    guard !context.isOffline, let index = decision.inode,
      let device = facts.inodes[index].device, facts.inodes[index].kind == .characterDevice
    else { return nil }
    var evidence: [String] = []
    if let probe {
      let answer = probe.errno?.description ?? "granted"
      evidence.append("\(probe.method.rawValue): \(answer)")
      if probe.isBusy { evidence.append("VIDIOC_REQBUFS: EBUSY, somebody captures") }
    }
    if probe?.method != .open {
      let owners = DeviceHolders.substreams(system, device).compactMap { $0 }
      evidence += owners.map { "/proc/asound: owner_pid \($0)" }
    }
    var holders = DeviceHolders(system, users)
    holders.find(device)
    return holders.reason(path, evidence: evidence)
  }

  /// Whether every substream of a PCM is taken, for where the device is not to be opened.
  func isTaken(_ decision: Decision) -> Bool {
    guard !context.isOffline, context.root == "/", decision.isGranted, let index = decision.inode,
      let device = facts.inodes[index].device, device.major == 116
    else { return false }
    let substreams = DeviceHolders.substreams(system, device)
    return !substreams.isEmpty && substreams.allSatisfy { $0 != nil }
  }
}
