/// The confinement of this process, with which only the operation itself shows whether it has what mode
/// and ACL grant.
///
/// faccessat2(2) asks only for the permission bits. Landlock, AppArmor and filters of system calls
/// decide when a file is opened or created, see hook_file_open() and hook_path_mknod() in
/// security/landlock/fs.c.
package struct OwnConfinement: Cause {
  package func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, evidence.isGranted, let missing = Self.missingProof(evidence)
    else { return nil }
    let modules = SecurityModules(evidence.system)
    let reason = Self.reason(missing, modules, evidence.system) { evidence.adviceToMount }
    return reason.map { Finding(status: .notDetermined, reasons: [$0]) }
  }

  /// Returns what may refuse this process a file that faccessat2(2) grants; nil if nothing does.
  package static func reasonForTrees(_ system: any System) -> Reason? {
    reason("only opening each file shows whether it may", SecurityModules(system), system) { nil }
  }

  private static func reason(
    _ missing: String, _ modules: SecurityModules, _ system: any System, _ advice: () -> String?
  ) -> Reason? {
    let look = system.lookAtStatus(ofProcess: nil)
    return look.value.flatMap { reason(missing, $0, modules, system) }
      ?? (look.unseen ?? modules.unseenProfile).map { reason(missing, $0, advice()) }
  }

  /// Returns what may refuse this process the access that mode and ACL grant; nil if nothing does.
  private static func reason(
    _ missing: String, _ status: ProcStatus, _ modules: SecurityModules, _ system: any System
  ) -> Reason? {
    let filters = status.seccomp == 2
    // Of no_new_privs alone nothing follows where the domains can be counted.
    let domains = filters || !modules.mayBeLandlock ? nil : system.landlockLayers()
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
    var reason = Reason(
      .landlockOrLSM, .suspected, "this process is confined (\(confinement)), and \(missing)",
      evidence: ["NoNewPrivs: \(status.noNewPrivileges ? 1 : 0)", "Seccomp: \(status.seccomp)"]
        + modules.evidence)
    if modules.profileOfPaths == nil, let domains, domains > 0 { reason.ownWhose = .landlock }
    return reason
  }

  /// Returns that nothing shows whether the process is confined.
  private static func reason(_ missing: String, _ unseen: Unseen, _ advice: String?) -> Reason {
    var reason = Reason(
      .unreadableFacts, .proven,
      "this process cannot read \(unseen), which shows whether it is confined, and \(missing)")
    reason.ownAdvice = advice
    return reason
  }

  /// Returns the operation that alone would show the answer; nil if it was tried.
  private static func missingProof(_ evidence: Evidence) -> String? {
    let (ask, inspection) = (evidence.ask, evidence.inspection)
    if ask.operation != nil || evidence.future != nil {
      guard evidence.subject.source == .current else { return nil }
      return evidence.future == nil
        ? "only doing it shows whether it may" : "a file that does not exist yet cannot be tried"
    }
    let only = "only opening \(ask.path) shows whether it may; a probe by opening (open) does"
    guard let probe = evidence.probe else {
      return evidence.subject.source == .current && evidence.isAtRoot ? only : nil
    }
    if ask.isDirectory, ask.need.contains(.write), probe.method != .write {
      return
        "only creating a file shows whether it may write in \(ask.path); a probe by writing (write) creates and removes one"
    }
    guard probe.method == .access, !ask.opened.isEmpty else { return nil }
    return Opener(inspection, ask).mayBeReplaced
      ? "only opening \(ask.path) shows whether it may; root opens nothing whose path somebody else could change"
      : only
  }
}
