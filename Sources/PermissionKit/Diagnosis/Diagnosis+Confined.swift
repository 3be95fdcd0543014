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
}
