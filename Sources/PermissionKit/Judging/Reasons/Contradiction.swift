/// Finds the security layer that refuses an access that the permission bits grant, see `CrossCheck`.
struct Contradiction {
  private let inspection: Inspection
  private let ask: ResourceQuery
  private let decision: Decision
  private let probe: Probe

  private var system: any System { inspection.system }
  private var facts: AccessFacts { inspection.facts }
  private var path: PathBytes { ask.path }

  init(_ inspection: Inspection, _ ask: ResourceQuery, _ decision: Decision, _ probe: Probe) {
    self.inspection = inspection
    self.ask = ask
    self.decision = decision
    self.probe = probe
  }

  /// Returns the reason for the refusal, with all calls and answers as evidence.
  func reason(_ errno: Errno) -> Reason {
    let answers = inspection.asking(ask).crossCheck(ask, decision, probe)
    let isDevice = decision.inode.map { facts.inodes[$0].kind.isDevice } ?? false
    func reason(_ code: Reason.Code, _ certainty: Reason.Certainty, _ message: String) -> Reason {
      Reason(code, certainty, message, evidence: answers.evidence)
    }
    let filters = answers.process?.seccomp == 2
    if probe.isOfControl {
      return reason(
        filters ? .seccomp : .landlockOrLSM, filters && errno != .EACCES ? .proven : .suspected,
        "\(path) can be opened, but not used: ioctl(2) on it fails (\(errno)), which \(filters ? "a system call filter (seccomp)" : "a system call filter or a security module") refuses"
      )
    }
    let opens = answers.open != nil
    if opens, answers.open2 == nil {
      return reason(
        .seccomp, .proven,
        "a system call filter (seccomp) refuses to open \(path) (\(errno)), but openat2(2) opens it"
      )
    }
    if opens, answers.isRefusedEverywhere(errno), filters || answers.process == nil {
      // Landlock answers EACCES too, and may refuse every control file.
      let isSure = errno != .EACCES && filters
      return reason(
        .seccomp, isSure ? .proven : .suspected,
        "a system call filter (seccomp) \(isSure ? "" : "probably ")refuses every such open, including that of \(path) (\(errno))"
      )
    }
    switch errno {
    case .EPERM where isDevice && answers.access == .EPERM:
      let isSure = (try? system.faccessat2("/", .execute)) != nil
      return reason(
        .deviceCgroup, isSure ? .proven : .suspected,
        "mode and ACL grant \(path), but open and faccessat2 fail (EPERM): the device cgroup of a container, service or login \(isSure ? "" : "probably ")does not allow this device"
      )
    case .EPERM where isDevice:
      return reason(
        .driver, .suspected,
        "every permission check grants \(path), but open fails (EPERM): the driver probably requires a capability or has its own rule"
      )
    case .EROFS:
      return reason(
        .readOnlyMount, .suspected, "the file system of \(path) seems to be read-only (EROFS)")
    default: return module(errno, answers, isDevice: isDevice)
    }
  }

  /// Returns the reason that remains after bits, mount, cgroup and filter: a security module.
  private func module(_ errno: Errno, _ answers: CrossCheck, isDevice: Bool) -> Reason {
    let own = SecurityModules(system)
    // A driver that is unknown to this library may answer EACCES itself.
    let major = decision.inode.flatMap { facts.inodes[$0].device?.major }
    let isKnownDriver = major == 1 || ask.resource.family != nil
    let mayBeDriver = isDevice && !isKnownDriver
    let isSure =
      errno == .EACCES && answers.open == .EACCES && answers.access == nil && !mayBeDriver
      && answers.process?.seccomp == 0
    let cause = own.likeliestCause(
      noNewPrivileges: answers.process?.noNewPrivileges == true, isSure: isSure)
    var reason = Reason(
      .landlockOrLSM, isSure ? .proven : .suspected,
      "mode and ACL do not explain why the kernel refuses \(path) (\(errno)); \(cause)",
      evidence: answers.evidence + own.evidence)
    if own.profile == nil, own.context == nil, answers.process?.noNewPrivileges == true,
      own.has("landlock")
    {
      reason.ownWhose = .landlock
    }
    return reason
  }
}

extension SecurityModules {
  /// Returns a clause for people that names the security module that most likely refuses.
  ///
  /// - Parameters:
  ///   - noNewPrivileges: Whether the process has the flag that Landlock requires, see prctl(2).
  ///   - isSure: Whether some security module refuses for certain.
  /// - Returns: The clause; it follows a semicolon.
  func likeliestCause(noNewPrivileges: Bool, isSure: Bool) -> String {
    if let profile { return "the most likely cause is the AppArmor profile \(profile)" }
    if let context {
      return "the most likely cause is the policy for the security context \(context)"
    }
    let landlock = "Landlock, by which a program restricts itself and its child processes"
    if noNewPrivileges, has("landlock") { return "the most likely cause is \(landlock)" }
    return "the \(isSure ? "" : "most likely ")cause is a security module or \(landlock)"
  }
}
