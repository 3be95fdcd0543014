/// Tells the layers above the permission bits apart, where the kernel refuses what the facts grant.
///
/// Asks the same again by other system calls, and the same of other files: what openat2(2),
/// faccessat2(2) and the same open elsewhere answer is different for each layer.
struct Contradiction {
  let system: any System
  let facts: AccessFacts
  let decision: Decision
  let probe: Probe
  let path: PathBytes
  let need: Permissions
  let isDirectory: Bool

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
    let answers = ask()
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
    let mayBeDriver = isDevice && major != 81 && major != 116 && major != 1
    let isSure =
      errno == .EACCES && answers.open == .EACCES && answers.access == nil && !mayBeDriver
      && answers.status?.seccomp == 0
    return Reason(
      .landlockOrLSM, isSure ? .proven : .suspected,
      "mode and ACL do not explain why the kernel refuses \(path) (\(errno)): \(who)",
      evidence: answers.evidence + own.evidence)
  }

  // MARK: - Asking

  private func ask() -> Answers {
    var answers = Answers()
    func note(_ call: String, _ errno: Errno?) {
      answers.evidence.append("\(call): \(errno?.description ?? "granted")")
    }
    answers.evidence.append(
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)")
    note(probe.method.rawValue, probe.errno)
    let opened: Permissions = isDirectory ? .read : [.read, .write]
    if probe.method == .open, !need.isDisjoint(with: opened) {
      answers.open = system.probe(open: path, flags)
    }
    // Of the same as the call that was refused.
    let asked = answers.open != nil ? need.intersection(opened) : need
    answers.access = refusal { () throws(Errno) in try system.faccessat2(path, asked) }
    note("faccessat2", answers.access)
    if probe.method == .open {
      let flags = self.flags
      if answers.open != nil {
        answers.open2 = open2(path, flags)
        note("openat2", answers.open2)
        answers.controls = controls(flags)
        for control in answers.controls { note("the same open of \(control.path)", control.errno) }
      }
    }
    answers.status = system.status(ofProcess: "self")
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

  private var flags: OpenFlags {
    isDirectory ? [.readOnly, .directory] : OpenFlags(need.intersection([.read, .write]))
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
      isDirectory ? ["/", "/proc/self"] : ["/proc/self/comm", "/dev/null"]
    return paths.compactMap { path in
      let asked: Permissions = isDirectory ? .read : need.intersection([.read, .write])
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

extension System {
  /// What /proc/NAME/status says, for `self`.
  fileprivate func status(ofProcess name: String) -> ProcStatus? {
    (try? contents(of: PathBytes("/proc/\(name)/status"))).flatMap { ProcStatus($0) }
  }
}

/// The security modules of the kernel, and what they say of this process.
struct SecurityModules {
  /// Their names; nil where they cannot be learned.
  let names: [String]?
  /// The label or profile of this process; nil where no module gives one.
  let label: String?

  /// LSM_ID_… of include/uapi/linux/lsm.h.
  private static let known: [UInt64: String] = [
    100: "capability", 101: "selinux", 102: "smack", 103: "tomoyo", 104: "apparmor", 105: "yama",
    106: "loadpin", 107: "safesetid", 108: "lockdown", 109: "bpf", 110: "landlock", 111: "ima",
    112: "evm", 113: "ipe",
  ]

  init(_ system: any System) {
    if let ids = try? system.lsm_list_modules() {
      names = ids.map { Self.known[$0] ?? "module \($0)" }
    } else if let line = try? system.line(of: "/sys/kernel/security/lsm"), !line.isEmpty {
      names = line.description.split(separator: ",").map(String.init)
    } else {
      names = nil
    }
    let files: [PathBytes] = ["/proc/self/attr/apparmor/current", "/proc/self/attr/current"]
    label =
      files.lazy.compactMap { file in
        (try? system.line(of: file)).map { PathBytes(Array($0.bytes.prefix { $0 != 0 })) }
      }.first { !$0.isEmpty }?.description
  }

  private func has(_ name: String) -> Bool { names?.contains(name) ?? true }

  /// The name of the AppArmor profile that confines this process; nil where none does.
  var profile: String? {
    guard let label, label != "unconfined", label.hasSuffix(")"), has("apparmor"),
      let end = label.lastIndex(of: "(")
    else { return nil }
    return String(label[..<end].reversed().drop { $0 == " " }.reversed())
  }

  /// The SELinux or Smack context, where that is what the label is.
  private var context: String? {
    guard let label, profile == nil, label != "unconfined" else { return nil }
    return label
  }

  /// Whether SELinux confines this process as it does containers.
  var isContainerContext: Bool { context?.contains(":container_t:") ?? false }

  /// Which of them it is, most likely.
  func likeliest(noNewPrivileges: Bool) -> String {
    if let profile { return "most likely its AppArmor profile \(profile)" }
    if let context, !context.contains("unconfined") {
      return "most likely the policy for its security context \(context)"
    }
    if noNewPrivileges, has("landlock") {
      return "most likely Landlock, by which a program confines itself and what it starts"
    }
    return "a security module or Landlock, by which a program confines itself and what it starts"
  }

  var evidence: [String] {
    [
      names.map { "security modules: \($0.joined(separator: ", "))" }
        ?? "not visible: which security modules are active",
      label.map { "security label: \($0)" } ?? "security label: none",
    ]
  }
}
