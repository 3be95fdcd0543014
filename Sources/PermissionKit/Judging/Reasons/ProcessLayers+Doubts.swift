extension ProcessLayers {
  /// Returns a reason for each layer that may refuse what mode and ACL grant.
  ///
  /// - Parameters:
  ///   - path: What was asked about.
  ///   - need: The permissions that were asked for.
  ///   - isDevice: Whether it is a device node, which a device cgroup may refuse.
  /// - Returns: The reasons; empty if nothing confines the process.
  package func doubts(_ path: PathBytes, _ need: Permissions, isDevice: Bool) -> [Reason] {
    let who = "process \(process)"
    guard let status = system.status(ofProcess: process) else {
      return [
        Reason(
          .unreadableFacts, .proven, "the state of \(who) cannot be read, so its sandbox is unknown"
        )
      ]
    }
    var reasons: [Reason] = []
    func doubt(_ code: Reason.Code, _ message: String, _ evidence: [String]) {
      reasons.append(Reason(code, .suspected, message, evidence: evidence))
    }
    if status.seccomp != 0 {
      doubt(
        .seccomp,
        "mode and ACL grant \(path), but \(who) has a system call filter (seccomp), whose rules cannot be read from outside",
        ["Seccomp: \(status.seccomp)"])
    }
    let modules = SecurityModules(system, process: process)
    if let label = modules.confiningLabel {
      doubt(
        .landlockOrLSM,
        "mode and ACL grant \(path), but a security module confines \(who) (\(label)), and its policy cannot be asked for another process",
        modules.evidence)
    } else if status.noNewPrivileges, modules.mayBeLandlock {
      doubt(
        .landlockOrLSM,
        "mode and ACL grant \(path), but \(who) may have restricted itself by Landlock, which does not show from outside (no_new_privs is set)",
        ["NoNewPrivs: 1"] + modules.evidence)
    }
    if isDevice, let evidence = deviceRules(path, need) {
      doubt(
        .deviceCgroup,
        "mode and ACL grant \(path), but the cgroup of \(who) may refuse the device, and its rules cannot be read",
        evidence)
    }
    return reasons
  }
}
