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
  func doubtAboutConfined(_ ask: Ask, _ decision: Decision, _ probe: Probe?) -> Reason? {
    guard let probe, let index = decision.inode, let missing = missingProof(ask, probe, index)
    else { return nil }
    return confined(missing)
  }

  /// Returns what may refuse this process what mode and ACL grant it.
  ///
  /// - Parameter missing: Why it was not tried.
  /// - Returns: The reason; nil if nothing confines the process.
  func confined(_ missing: String) -> Reason? {
    guard let status = inspection.system.status(ofProcess: nil) else { return nil }
    let modules = SecurityModules(inspection.system)
    let profile = modules.profileOfPaths
    guard
      profile != nil
        || status.noNewPrivileges && (modules.mayRefusePaths || status.seccomp == 2)
    else { return nil }
    return Reason(
      .landlockOrLSM, .suspected,
      "this process is confined (\(profile.map { "AppArmor profile \($0)" } ?? "no_new_privs")), and \(missing)",
      evidence: ["NoNewPrivs: \(status.noNewPrivileges ? 1 : 0)", "Seccomp: \(status.seccomp)"]
        + modules.evidence)
  }

  /// Returns which operation alone would show the answer; nil if it was tried.
  private func missingProof(_ ask: Ask, _ probe: Probe, _ index: Int) -> String? {
    if inspection.facts.inodes[index].kind == .directory, ask.need.contains(.write),
      probe.method != .write
    {
      return
        "only creating a file shows whether it may write in \(ask.path); a probe by writing (write) creates and removes one"
    }
    guard probe.method == .access, !ask.opened.isEmpty else { return nil }
    let only = "only opening \(ask.path) shows whether it may"
    return inspection.mayBeAnothers(inspection.place(of: ask))
      ? "\(only); root opens nothing whose path somebody else could change"
      : "\(only); a probe by opening (open) does"
  }

  /// Returns what may refuse another process what the facts grant.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - probe: The kernel's answer in the place of the process; nil if it was not asked.
  /// - Returns: A reason for each layer; empty for subjects that are no other process.
  func doubtsAboutProcess(_ ask: Ask, _ decision: Decision, _ probe: Probe?) -> [Reason] {
    guard let process = inspection.subject.process else { return [] }
    if let obstacle = probe?.obstacle { return [Reason(.unreadableFacts, .proven, obstacle)] }
    let isDevice =
      inspection.facts.target(of: ask.path).map { inspection.facts.inodes[$0].kind.isDevice }
      ?? false
    let doubts = ProcessLayers(inspection.system, process)
      .doubts(ask.path, ask.need, isDevice: isDevice)
    // The device cgroup was asked, as it was taken on.
    return probe?.method == .enter ? doubts.filter { $0.code != .deviceCgroup } : doubts
  }

  /// Returns why the kernel refuses, in the place of another process, what the facts grant it.
  func refusedInside(_ ask: Ask, _ errno: Errno, _ probe: Probe?) -> Reason? {
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
      "mode and ACL grant \(ask.path), but in the place of process \(process) the kernel refuses it (\(errno))",
      evidence: evidence + SecurityModules(inspection.system).evidence)
  }
}
