/// Tells the layers above the permission bits apart, where the kernel refuses what the facts grant.
///
/// Asks the same again by other system calls, and the same of other files: what openat2(2),
/// faccessat2(2) and the same open elsewhere answer is different for each layer.
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

  /// What was asked besides, and the answers.
  private struct Answers {
    /// faccessat2(2) of the same; nil: granted.
    var access: Errno?
    /// The open itself; nil: it opened, so that the refusal was faccessat2's.
    var open: Errno?
    /// openat2(2) with the same flags; nil: it opened.
    var open2: Errno?
    /// Files that anybody may open, and what the same open of them answers.
    var controls: [(path: PathBytes, errno: Errno?)] = []
    var status: ProcStatus?
    var evidence: [String] = []

    /// The same call is refused wherever it is tried: the path does not matter.
    func isRefusedEverywhere(_ errno: Errno) -> Bool {
      !controls.isEmpty && controls.allSatisfy { $0.errno == errno }
    }
  }

  /// The reason, with all that was asked as its evidence.
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
        "a filter on system calls (seccomp) refuses to open \(path) (\(errno)): by openat2(2) it opens"
      )
    }
    if opens, answers.isRefusedEverywhere(errno), filters || answers.status == nil {
      // Landlock answers EACCES, and might refuse every control as well.
      return reason(
        .seccomp, errno != .EACCES && filters ? .proven : .suspected,
        "a filter on system calls (seccomp) refuses to open \(path) (\(errno)), as it refuses every such open"
      )
    }
    switch errno {
    case .EPERM where isDevice && answers.access == .EPERM:
      let isSure = (try? system.faccessat2("/", .execute)) != nil
      return reason(
        .deviceCgroup, isSure ? .proven : .suspected,
        "mode and ACL grant \(path), and yet open and faccessat2 are refused (EPERM): the device cgroup of a container, service or login does not have this device"
      )
    case .EPERM where isDevice:
      return reason(
        .driver, .suspected,
        "all that guards \(path) lets this process in, and yet its open is refused (EPERM): its driver wants a capability, or has its own rule"
      )
    case .EROFS:
      return reason(
        .readOnlyMount, .suspected, "the file system of \(path) cannot be written to (EROFS)")
    default: return module(errno, answers, isDevice: isDevice)
    }
  }

  /// What is left once bits, mount, cgroup and filter are not it: a security module.
  private func module(_ errno: Errno, _ answers: Answers, isDevice: Bool) -> Reason {
    let own = SecurityModules(system)
    let who = own.likeliest(noNewPrivileges: answers.status?.noNewPrivileges == true)
    // The node of a driver unknown to us may answer so by itself.
    let major = decision.inode.flatMap { facts.inodes[$0].device?.major }
    let isKnownDriver = major == 1 || ask.resource.family != nil
    let mayBeDriver = isDevice && !isKnownDriver
    let isSure =
      errno == .EACCES && answers.open == .EACCES && answers.access == nil && !mayBeDriver
      && answers.status?.seccomp == 0
    return Reason(
      .landlockOrLSM, isSure ? .proven : .suspected,
      "mode and ACL do not explain why the kernel refuses \(path) (\(errno)): \(who)",
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
    if probe.method == .open, !ask.opened.isEmpty {
      answers.open = system.probe(open: path, ask.flags)
    }
    // Of the same as the call that was refused.
    let asked = answers.open != nil ? ask.opened : ask.need
    answers.access = refusal { () throws(Errno) in try system.faccessat2(path, asked) }
    note("faccessat2", answers.access)
    if probe.method == .open {
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
      let telling = lines.filter { $0.contains(":devices:") || $0.hasPrefix("0::") }
      answers.evidence += telling.map { "cgroup \($0)" }
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

  /// The same open of what this process may open for sure: a filter cannot see which file is meant.
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
