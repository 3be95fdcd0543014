/// Finds the security layer that refuses an access that the permission bits grant.
///
/// Repeats the call by other system calls and on other files. The answers of openat2(2),
/// faccessat2(2) and the same open of another file differ from layer to layer.
struct Contradiction {
  private let inspection: Inspection
  private let ask: Ask
  private let decision: Decision
  private let probe: Probe

  private var system: any System { inspection.system }
  private var facts: AccessFacts { inspection.facts }
  private var path: PathBytes { ask.path }

  init(_ inspection: Inspection, _ ask: Ask, _ decision: Decision, _ probe: Probe) {
    self.inspection = inspection
    self.ask = ask
    self.decision = decision
    self.probe = probe
  }

  /// The answers to the additional calls.
  private struct Answers {
    /// The answer of faccessat2(2) for the same access; nil if granted.
    var access: Errno?
    /// The answer of open(2); nil if it succeeded and faccessat2(2) alone refused.
    var open: Errno?
    /// The answer of openat2(2) with the same flags; nil if it succeeded.
    var open2: Errno?
    /// Files that anybody may open, with the answer to the same open.
    var controls: [(path: PathBytes, errno: Errno?)] = []
    var status: ProcStatus?
    var evidence: [String] = []

    /// Returns whether the call fails in the same way on every control file.
    func isRefusedEverywhere(_ errno: Errno) -> Bool {
      !controls.isEmpty && controls.allSatisfy { $0.errno == errno }
    }
  }

  /// Returns the reason for the refusal, with all calls and answers as evidence.
  func reason(_ errno: Errno) -> Reason {
    let answers = askAll()
    let isDevice = decision.inode.map { facts.inodes[$0].kind.isDevice } ?? false
    func reason(_ code: Reason.Code, _ certainty: Reason.Certainty, _ message: String) -> Reason {
      Reason(code, certainty, message, evidence: answers.evidence)
    }
    let filters = answers.status?.seccomp == 2
    let opens = answers.open != nil
    if opens, answers.open2 == nil {
      return reason(
        .seccomp, .proven,
        "a system call filter (seccomp) refuses to open \(path) (\(errno)), but openat2(2) opens it"
      )
    }
    if opens, answers.isRefusedEverywhere(errno), filters || answers.status == nil {
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
  private func module(_ errno: Errno, _ answers: Answers, isDevice: Bool) -> Reason {
    let own = SecurityModules(system)
    // A driver that is unknown to this library may answer EACCES itself.
    let major = decision.inode.flatMap { facts.inodes[$0].device?.major }
    let isKnownDriver = major == 1 || ask.resource.family != nil
    let mayBeDriver = isDevice && !isKnownDriver
    let isSure =
      errno == .EACCES && answers.open == .EACCES && answers.access == nil && !mayBeDriver
      && answers.status?.seccomp == 0
    let cause = own.likeliestCause(
      noNewPrivileges: answers.status?.noNewPrivileges == true, isSure: isSure)
    return Reason(
      .landlockOrLSM, isSure ? .proven : .suspected,
      "mode and ACL do not explain why the kernel refuses \(path) (\(errno)); \(cause)",
      evidence: answers.evidence + own.evidence)
  }

  // MARK: - Asking

  private func askAll() -> Answers {
    var answers = Answers()
    func note(_ call: String, _ errno: Errno?) {
      answers.evidence.append("\(call): \(errno?.description ?? "granted")")
    }
    answers.evidence.append(
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)")
    note(probe.method.rawValue, probe.errno)
    if probe.method.opens, !ask.opened.isEmpty {
      answers.open = system.probe(open: path, ask.flags)
    }
    // The same permissions as in the call that was refused.
    let asked = answers.open != nil ? ask.opened : ask.need
    answers.access = refusal { () throws(Errno) in try system.faccessat2(path, asked) }
    note("faccessat2", answers.access)
    if probe.method.opens {
      let flags = ask.flags
      if answers.open != nil {
        answers.open2 = open2(path, flags)
        note("openat2", answers.open2)
        answers.controls = controls(flags)
        for control in answers.controls { note("the same open of \(control.path)", control.errno) }
      }
    }
    answers.status = system.status(ofProcess: nil)
    if let status = answers.status {
      answers.evidence.append("Seccomp: \(status.seccomp)")
      answers.evidence.append("NoNewPrivs: \(status.noNewPrivileges ? 1 : 0)")
    } else {
      answers.evidence.append("not visible: /proc/self/status")
    }
    if let bytes = try? system.contents(of: "/proc/self/cgroup") {
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      let relevant = lines.filter { $0.has(":devices:") || $0.hasPrefix("0::") }
      answers.evidence += relevant.map { "cgroup \($0)" }
    } else {
      answers.evidence.append("not visible: /proc/self/cgroup")
    }
    return answers
  }

  private func open2(_ path: PathBytes, _ flags: OpenFlags) -> Errno? {
    refusal { () throws(Errno) in
      system.close(
        try system.openat2(
          .currentDirectory, path, flags.union([.nonBlocking, .noControllingTerminal])))
    }
  }

  /// Repeats the open on files that this process may open.
  ///
  /// A seccomp filter cannot read the path, so it refuses these files too.
  private func controls(_ flags: OpenFlags) -> [(PathBytes, Errno?)] {
    let paths: [PathBytes] =
      ask.isDirectory ? ["/", "/proc/self"] : ["/proc/self/comm", "/dev/null"]
    return paths.compactMap { path in
      let asked: Permissions = ask.isDirectory ? .read : ask.opened
      guard refusal({ () throws(Errno) in try system.faccessat2(path, asked) }) == nil else {
        return nil
      }
      return (path, system.probe(open: path, flags))
    }
  }

  private func refusal(_ body: () throws(Errno) -> Void) -> Errno? {
    do throws(Errno) {
      try body()
      return nil
    } catch {
      return error
    }
  }
}
