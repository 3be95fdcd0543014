/// Finds the cause of a refusal beyond the permission bits: security layers, stale groups, the process
/// that uses a device, the sandbox.
///
/// Makes system calls only if access is refused, contradictory or missing, or if the caller wants
/// detail; see "Layers above the bits" in Documentation/design.md.
struct Diagnosis {
  let inspection: Inspection

  init(_ inspection: Inspection) { self.inspection = inspection }

  private var context: AccessContext { inspection.context }
  private var users: UserDatabase { inspection.users }
  private var subject: Subject { inspection.subject }
  private var facts: AccessFacts { inspection.facts }
  private var system: any System { inspection.system }
  private var session: Session { Session(inspection) }
  var confinement: Confinement {
    system.scanned(subject.process) {
      Confinement(system, root: context.root, of: subject)
    }
  }

  // MARK: - What was granted

  /// Returns the text for the entry that grants access if the seat set it; nil otherwise.
  func basis(_ decision: Decision, _ basis: String) -> String? {
    session.isSeatGrant(decision) ? "seat \(basis)" : nil
  }

  /// Returns where and how long the access holds, and which privileges executing the file gives.
  func meaning(_ ask: ResourceQuery, _ decision: Decision) -> String? {
    var meaning = session.meaning(decision, confinement)
    if ask.isSocket {
      let connect =
        ask.connects
        ? "connect(2) is allowed, and a program listens"
        : "connect(2) is allowed; whether a program listens there was not tried"
      meaning = meaning.map { "\($0); \(connect)" } ?? connect
    }
    guard let privileges = executionPrivileges(ask, decision) else { return meaning }
    return meaning.map { "\($0); \(privileges)" } ?? privileges
  }

  /// Returns the bits and capabilities of a program that can give a process more privileges.
  ///
  /// - Returns: Nil if there are none, or if execve(2) ignores them because of MS_NOSUID.
  private func executionPrivileges(_ ask: ResourceQuery, _ decision: Decision) -> String? {
    guard ask.need.contains(.execute), let index = decision.inode,
      facts.inodes[index].kind == .regular
    else { return nil }
    let inode = facts.inodes[index]
    var file: Descriptor?
    // The same path may be another file for another process.
    if inspection.subject.process == nil {
      file = try? system.openat(.currentDirectory, ask.path, .path, mode: 0)
    }
    defer { if let file { system.close(file) } }
    if let file, let mount = try? system.fstatfs(file), mount.ignoresSetUID { return nil }
    if inode.mode & 0o4000 != 0 {
      return "the program is set-user-ID \(users.userName(inode.uid))"
    }
    if inode.mode & 0o2000 != 0 {
      return "the program is set-group-ID \(users.groupName(inode.gid))"
    }
    guard let file, let capabilities = try? system.cap_get_file(file) else { return nil }
    return "the program has the file capabilities \(capabilities)"
  }

  // MARK: - What was refused

  /// Adds reasons and remedies beyond the permission bits to the report on a refused resource.
  func refine(_ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision) {
    if isRefusedByBits(decision), report.probe?.errno == decision.errno || report.probe == nil {
      refineRefusal(&report, ask, decision)
    }
    let isOfLayer = report.reasons.contains { Self.layers.contains($0.code) }
    if isOfLayer {
      if !isOfUnitsPolicy(&report, ask), !isOfUnitsFilter(&report),
        let resource = confinedResource(ask)
      {
        confine(&report, resource, ask.path, isMissing: false)
      }
      addProfileRemedy(&report)
    }
    if decision.rule == .missing, decision.step != .create,
      report.reasons.first?.code == .noDevice
    {
      if let family = ask.resource.family {
        confine(&report, .devices(family), ask.path, isMissing: true)
      } else if ask.resource.kind == .directory {
        confine(&report, .folder, ask.path, isMissing: true)
      }
    }
    if report.reasons.contains(where: { $0.code == .usernsUnmapped }) {
      confineGroups(&report, ask, decision)
    }
    if decision.rule == .unreadable { nameMount(&report, decision) }
    report.remedies += LayerRemedies(inspection, ask).remedies(decision, report.reasons)
    // What stands in for the mount's own remedy goes last.
    refineFolder(&report, ask, decision)
  }

  private func confinedResource(_ ask: ResourceQuery) -> ConfinedResource? {
    ask.isDirectory ? .folder : ask.resource.family.map { .devices($0) }
  }

  private static let layers: [Reason.Code] = [.deviceCgroup, .landlockOrLSM, .seccomp]

  private func isRefusedByBits(_ decision: Decision) -> Bool {
    decision.errno == .EACCES && StatusRules.status(decision) == .denied
  }

  /// Returns the unit of the system that a process belongs to; nil for one of a login.
  private func unit(of process: Int32) -> String? {
    let paths = system.cgroups(of: process).map(\.path)
    guard let path = paths.first(where: { $0.lastComponent.description.hasSuffix(".service") }),
      !path.components.contains(where: { $0.hasPrefix("user@") })
    else { return nil }
    return path.lastComponent.description
  }

  /// Checks whether a refusal by the bits is caused by the session: stale groups or an inactive seat.
  private func refineRefusal(
    _ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision
  ) {
    if let remedy = LayerRemedies(inspection, ask).mountRemedy(decision) {
      report.remedies = [remedy]
      return
    }
    if let (gid, moved) = inspection.staleGroup(ask, decision) {
      let reason = session.staleReason(gid)
      // The session is the cause; the bits that refuse are the evidence.
      if decision.step == .target, let first = report.reasons.first {
        report.reasons[0] = reason
        report.reasons[0].evidence += first.evidence
      } else {
        if let index = report.reasons.firstIndex(where: { $0.code == .parentSearch }),
          let folder = decision.inode
        {
          let process = subject.process.map { "process \($0)" } ?? "this process"
          report.reasons[index].message =
            "\(process) may not search \(facts.path(of: folder)): it runs without group \(users.groupName(gid))"
        }
        report.reasons.insert(reason, at: 0)
      }
      report.remedies = [.newGroup(users.groupName(gid), moved)]
      // No shell gives a group to a process that runs.
      if let process = subject.process {
        report.remedies = unit(of: process).map { [.restart($0, moved)] } ?? []
        report.reasons[0].ownAdvice =
          "start process \(process) again after a new login of \(subject.displayName), since a running process gets no groups"
      }
      return
    }
    addOutside(&report, ask, decision)
    giveGroupToDynamicUser(&report, ask, decision)
    addSeatRule(&report, ask, decision)
    addUdev(&report, ask, decision)
    if let reason = session.seatReason(decision) {
      report.reasons.append(reason)
      if !report.remedies.isEmpty, let index = decision.inode {
        let group = users.groupName(facts.inodes[index].gid)
        report.remedies[0].note =
          "avoid usermod -aG \(group): members keep access while someone else is logged in at the screen; avoid chmod 666, which gives access to everybody"
      }
    }
  }

  /// Adds a udev rule that gives a device to the active user of its seat, if the subject is that
  /// user.
  private func addSeatRule(
    _ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision
  ) {
    guard context.root == "/", decision.step == .target, let family = ask.resource.family,
      let device = device(decision.inode), let index = decision.inode,
      subject.credentials.user.fileSystem != 0,
      Seats(system).isAt(subject.credentials.user.fileSystem, withoutGiving: device)
    else { return }
    let node = facts.path(of: index)
    let name = node.lastComponent.description
    guard name.isPlainName, node.isBelow("/dev") else { return }
    let match = UdevMatch(device, named: name, subsystem: family.subsystem, system)
    report.remedies.append(.seatRule(match, node))
  }

  // MARK: - Places

  /// Adds the sandboxes and containers around this process, with the flags and files to change.
  func confine(
    _ report: inout ResourceReport, _ resource: ConfinedResource, _ path: PathBytes, isMissing: Bool
  ) {
    let (reasons, remedies) = confinement.reasons(resource, path, isMissing: isMissing)
    report.reasons += reasons
    report.remedies += remedies
    if case .devices(let family) = resource { report.remedies += outerPolicies(family, remedies) }
  }

  private func addProfileRemedy(_ report: inout ResourceReport) {
    guard report.reasons.contains(where: { $0.code == .landlockOrLSM }) else { return }
    if let remedy = Remedy.policy(SecurityModules(system), report.path) {
      report.remedies.append(remedy)
    }
  }

  /// Names the mount point that refuses even statx(2): another user's FUSE mount, or a server.
  ///
  /// See fuse_allow_current_process() in fs/fuse/dir.c.
  private func nameMount(_ report: inout ResourceReport, _ decision: Decision) {
    guard let index = decision.inode,
      let table = try? system.mountTable(MountTable.path(of: subject.process))
    else { return }
    let folder = facts.path(of: index)
    let closed = facts.inodes[index].entries.filter {
      if case .unreadable(.EACCES) = $0.found { true } else { false }
    }.map { folder.appending($0.name) }
    guard let mount = table.mounts.last(where: { closed.contains($0.point) }) else { return }
    let options = mount.superblockOptions.parts(by: ",")
    let message: String
    if mount.fileSystem.hasPrefix("fuse"), !options.contains("allow_other") {
      let owner = options.first { $0.hasPrefix("user_id=") }.flatMap { UInt32($0.dropFirst(8)) }
      message =
        "\(mount.point) is a FUSE mount of \(owner.map { users.userName($0) } ?? "another user") without allow_other, so no other user may enter it, not even root"
      report.remedies.append(.allowOther)
    } else if case .server = mount.rules.authority {
      var reason = ReasonFinder(inspection).serverRefusal(
        mount.point, mount.fileSystem, isServer: true, "",
        ["\(mount.fileSystem) \(mount.superblockOptions)"])
      reason.evidence += report.reasons.flatMap(\.evidence)
      report.reasons = [reason]
      return
    } else if mount.fileSystem == "autofs" {
      message = "\(mount.point) is an automount point, and the mount is refused"
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

  /// Returns a report on missing devices, with the sandboxes that may hide them.
  func refine(absence report: ResourceReport) -> ResourceReport {
    guard report.status == .unavailable, let code = report.reasons.first?.code,
      code == .noDevice || code == .noCaptureNode
    else { return report }
    var report = report
    let folder = report.path.parent
    if folder.isBelow("/dev"),
      let cover = cover(at: folder, report.path, report.family, isHidden: true)
    {
      (report.status, report.family) = (.restricted, nil)
      (report.reasons, report.remedies) = ([cover.reason], cover.remedies)
      return report
    }
    let confinement = confinement
    if let family = report.family {
      let node = family.hasNode(named: report.path.lastComponent) ? report.path : family.exampleNode
      confine(&report, .devices(family), node, isMissing: true)
      if confinement.runner != nil, let driver = family.testDriver {
        report.remedies.append(.testDevice(driver))
      }
    }
    if let runner = confinement.runner {
      report.reasons[0].evidence.append(
        "this is \(runner): hosted runners have no devices; a check there can skip what is unavailable"
      )
    }
    return report
  }
}

extension Diagnosis {
  /// Returns why it is unknown whether this confined process has what faccessat2(2) grants it.
  ///
  /// faccessat2(2) asks only for the permission bits. Landlock, AppArmor and filters of system calls
  /// decide when a file is opened or created, see hook_file_open() and hook_path_mknod() in
  /// security/landlock/fs.c.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - probe: The kernel's answer.
  /// - Returns: The reason; nil if nothing confines the process, or the very operation was tried.
  func refusalOfConfined(
    _ ask: ResourceQuery, _ decision: Decision, _ probe: Probe?
  ) -> Reason? {
    guard let probe, let index = decision.inode, let missing = missingProof(ask, probe, index)
    else { return nil }
    return confined(missing)
  }

  /// Returns what may refuse this process the access that mode and ACL grant.
  ///
  /// - Parameter missing: Why it was not tried.
  /// - Returns: The reason; nil if nothing confines the process.
  func confined(_ missing: String) -> Reason? {
    guard let status = inspection.system.status(ofProcess: nil) else { return nil }
    let modules = SecurityModules(inspection.system)
    let filters = status.seccomp == 2
    // Of no_new_privs alone nothing follows where the domains can be counted.
    let domains = filters || !modules.mayBeLandlock ? nil : inspection.system.landlockLayers()
    let confinement: String
    if let profile = modules.profileOfPaths {
      confinement = "AppArmor profile \(profile)"
    } else if let domains, domains > 0 {
      confinement = "Landlock, \(domains) domain\(domains == 1 ? "" : "s")"
    } else if status.noNewPrivileges,
      filters || modules.context != nil || modules.mayBeLandlock && domains == nil
    {
      confinement = "no_new_privs"
    } else {
      return nil
    }
    return Reason(
      .landlockOrLSM, .suspected, "this process is confined (\(confinement)), and \(missing)",
      evidence: ["NoNewPrivs: \(status.noNewPrivileges ? 1 : 0)", "Seccomp: \(status.seccomp)"]
        + modules.evidence)
  }

  /// Returns the operation that alone would show the answer; nil if it was tried.
  private func missingProof(_ ask: ResourceQuery, _ probe: Probe, _ index: Int) -> String? {
    if inspection.facts.inodes[index].kind == .directory, ask.need.contains(.write),
      probe.method != .write
    {
      return
        "only creating a file shows whether it may write in \(ask.path); a probe by writing (write) creates and removes one"
    }
    guard probe.method == .access, !ask.opened.isEmpty else { return nil }
    let only = "only opening \(ask.path) shows whether it may"
    return inspection.mayBeReplaced(inspection.place(of: ask))
      ? "\(only); root opens nothing whose path somebody else could change"
      : "\(only); a probe by opening (open) does"
  }

  /// Returns what may refuse another process what the facts grant.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - probe: The kernel's answer in the place of the process; nil if it was not asked.
  ///   - policyAllows: Whether the policy of the security module was asked, and allows it.
  /// - Returns: A reason for each layer; empty for subjects that are no other process.
  func refusalsOfProcess(
    _ ask: ResourceQuery, _ decision: Decision, _ probe: Probe?, policyAllows: Bool = false
  ) -> [Reason] {
    guard let process = inspection.subject.process else { return [] }
    if let obstacle = probe?.obstacle {
      var reason = Reason(.unreadableFacts, .proven, obstacle)
      if probe?.method == .enter { reason.ownAdvice = "ask without --probe enter" }
      return [reason]
    }
    let isDevice =
      inspection.facts.target(of: ask.path).map { inspection.facts.inodes[$0].kind.isDevice }
      ?? false
    let possibleRefusals = ProcessLayers(inspection.system, process)
      .possibleRefusals(ask.path, ask.need, isDevice: isDevice, policyAllows: policyAllows)
    // The device cgroup was asked, as it was taken on.
    return probe?.method == .enter
      ? possibleRefusals.filter { $0.code != .deviceCgroup } : possibleRefusals
  }

  /// A note that Landlock of another process cannot be seen, and nothing suggests it; nil for others.
  var noSignOfLandlock: String? {
    inspection.subject.process.flatMap { ProcessLayers(inspection.system, $0).noSignOfLandlock }
  }

  /// Returns the reason why the kernel, asked in the place of another process, refuses what the
  /// facts grant.
  func refusedInside(_ ask: ResourceQuery, _ errno: Errno, _ probe: Probe?) -> Reason? {
    guard let process = inspection.subject.process else { return nil }
    let isDevice =
      inspection.facts.target(of: ask.path).map { inspection.facts.inodes[$0].kind.isDevice }
      ?? false
    let evidence = [
      "enter: \(errno)", "faccessat2: \(probe?.accessed?.description ?? "granted")",
    ]
    if errno == .EPERM, isDevice, probe?.accessed == .EPERM {
      return Reason(
        .deviceCgroup, .proven,
        "mode and ACL grant \(ask.path), but in the cgroup of process \(process) open and faccessat2 fail (EPERM): its device cgroup does not allow this device",
        evidence: evidence)
    }
    return Reason(
      .landlockOrLSM, .suspected,
      "mode and ACL grant \(ask.path), but the kernel refuses it (\(errno)) in the namespaces and the cgroup of process \(process)",
      evidence: evidence + SecurityModules(inspection.system).evidence)
  }
}

// Folders that a service, a container or a sandbox hides or protects.
extension Diagnosis {
  /// A setting of the unit around the process that hides or protects a path.
  struct HidingSetting {
    let unit: SystemdUnit
    let effect: UnitSettings.Effect
    /// Whether the setting certainly causes the refusal.
    let isProven: Bool
    let evidence: [String]
  }

  /// Returns the setting of a service that hides or protects the path; nil if none does.
  func hidingSetting(_ ask: ResourceQuery, _ decision: Decision, _ probe: Probe?) -> HidingSetting?
  {
    guard mayBeHidden(ask, decision, probe) else { return nil }
    let facts = inspection.facts
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    // A refusal that mode and ACL do not explain may come from it, too.
    let mayBe = decision.isGranted && probe?.errno != nil
    for case (.service(let unit, let settings), let evidence) in confinement.found {
      for effect in UnitSettings.effects(settings, on: ask.path) {
        let isAtFolder = mount.map { mount in effect.folders.contains(mount.point) } ?? false
        let isCause =
          switch effect.kind {
          case .inaccessible: isAtFolder && decision.rule.bits != nil
          case .empty: isAtFolder && (decision.rule == .missing || decision.errno == .EROFS)
          case .readOnly: decision.errno == .EROFS
          }
        guard isCause || mayBe else { continue }
        return HidingSetting(unit: unit, effect: effect, isProven: isCause, evidence: evidence)
      }
    }
    return nil
  }

  private func mayBeHidden(_ ask: ResourceQuery, _ decision: Decision, _ probe: Probe?) -> Bool {
    ask.path.isAbsolute && ask.resource.family == nil
      && (decision.errno != nil || probe?.errno != nil)
  }

  /// Returns the reason for a setting of a service that hides or protects a path.
  func hidden(
    _ path: PathBytes, by effect: UnitSettings.Effect, of unit: SystemdUnit,
    _ certainty: Reason.Certainty, _ evidence: [String]
  ) -> Reason {
    Reason(
      .serviceSandbox, certainty,
      "the service \(unit.name) \(effect.kind.verb) \(path): its unit sets \(effect.setting)",
      evidence: evidence)
  }

  /// Adds the container, sandbox or service that hides or protects a folder, with the remedies.
  func refineFolder(_ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision) {
    guard mayBeHidden(ask, decision, report.probe) else { return }
    if decision.rule == .readOnlyMount, inspection.processWithOwnMounts == nil {
      for (place, _) in confinement.found where confinement.isGiven(place) {
        // The mount is that of the place: only a new start changes it.
        report.remedies = Confinement.given(place, ask.path, hostPath(ask, decision))
      }
    }
    if let setting = hidingSetting(ask, decision, report.probe) {
      let reason = hidden(
        ask.path, by: setting.effect, of: setting.unit, setting.isProven ? .proven : .suspected,
        setting.evidence + report.reasons.flatMap(\.evidence))
      if setting.isProven, decision.rule != .missing {
        report.reasons = [reason]
      } else {
        report.reasons.append(reason)
      }
      report.remedies = [.unit(setting.unit, setting.effect.lines)]
    }
  }
}

extension UnitSettings.Effect.Kind {
  /// The effect of the setting on a folder, as a verb: `hides`.
  fileprivate var verb: String {
    switch self {
    case .inaccessible: "hides"
    case .empty: "covers"
    case .readOnly: "protects"
    }
  }
}
