extension Diagnosis {
  /// Returns why it is unknown whether this confined process can create files in a directory.
  ///
  /// faccessat2(2) asks only for the permission bits. Landlock, other security modules and filters of
  /// system calls decide when a file is created, see hook_path_mknod() in security/landlock/fs.c.
  ///
  /// - Parameters:
  ///   - ask: The directory and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - probe: The kernel's answer.
  /// - Returns: The reason; nil if nothing confines the process, or a file was created.
  func doubtAboutCreating(_ ask: Ask, _ decision: Decision, _ probe: Probe?) -> Reason? {
    guard let probe, probe.method != .write, ask.need.contains(.write), let index = decision.inode,
      inspection.facts.inodes[index].kind == .directory,
      let status = inspection.system.status(ofProcess: nil), status.noNewPrivileges
    else { return nil }
    let modules = SecurityModules(inspection.system)
    guard modules.mayRefuseCreation || status.seccomp == 2 else { return nil }
    return Reason(
      .landlockOrLSM, .suspected,
      "this process is confined (no_new_privs), and only creating a file shows whether it may write in \(ask.path); --probe write creates and removes one",
      evidence: ["NoNewPrivs: 1", "Seccomp: \(status.seccomp)"] + modules.evidence)
  }

  /// Returns what may refuse another process what the facts grant.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  /// - Returns: A reason for each layer; empty for subjects that are no other process.
  func doubtsAboutProcess(_ ask: Ask, _ decision: Decision) -> [Reason] {
    guard let process = inspection.subject.process else { return [] }
    let isDevice =
      inspection.facts.target(of: ask.path).map { inspection.facts.inodes[$0].kind.isDevice }
      ?? false
    return ProcessLayers(inspection.system, process).doubts(ask.path, ask.need, isDevice: isDevice)
  }
}
