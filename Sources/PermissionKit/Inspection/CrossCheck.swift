/// The answers to further calls where the kernel refuses what the permission bits grant.
///
/// The call is repeated by other system calls and on other files. The answers of openat2(2),
/// faccessat2(2) and the same open of another file differ from layer to layer.
struct CrossCheck {
  /// The answer of faccessat2(2) for the same access; nil if granted.
  var access: Errno?
  /// The answer of open(2); nil if it succeeded and faccessat2(2) alone refused.
  var open: Errno?
  /// The answer of openat2(2) with the same flags; nil if it succeeded.
  var open2: Errno?
  /// Files that anybody may open, with the answer to the same open.
  var controls: [(path: PathBytes, errno: Errno?)] = []
  var process: ProcStatus?
  var evidence: [String] = []

  /// Returns whether the call fails in the same way on every control file.
  func isRefusedEverywhere(_ errno: Errno) -> Bool {
    !controls.isEmpty && controls.allSatisfy { $0.errno == errno }
  }
}

extension Inspection {
  /// Repeats a refused access with other system calls and on control files.
  func crossCheck(_ ask: ResourceQuery, _ decision: Decision, _ probe: Probe) -> CrossCheck {
    let path = ask.path
    var answers = CrossCheck()
    func note(_ call: String, _ errno: Errno?) {
      answers.evidence.append("\(call): \(errno?.description ?? "granted")")
    }
    answers.evidence.append(
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)")
    note(probe.method.rawValue, probe.errno)
    if probe.method.opens, !ask.opened.isEmpty {
      answers.open = Opener(self, ask).refusal()
    }
    // The same permissions as in the call that was refused.
    let asked = answers.open != nil ? ask.opened : ask.need
    answers.access = refused { () throws(Errno) in try system.faccessat2(path, asked) }
    note("faccessat2", answers.access)
    if probe.method.opens {
      let flags = ask.flags
      if answers.open != nil {
        answers.open2 = refused { () throws(Errno) in
          system.close(
            try Opener(self, ask).open { (path, flags) throws(Errno) in
              try system.openat2(.currentDirectory, path, flags)
            })
        }
        note("openat2", answers.open2)
        answers.controls = controls(ask, flags)
        for control in answers.controls { note("the same open of \(control.path)", control.errno) }
      }
    }
    answers.process = system.status(ofProcess: nil)
    if let status = answers.process {
      answers.evidence.append("Seccomp: \(status.seccomp)")
      answers.evidence.append("NoNewPrivs: \(status.noNewPrivileges ? 1 : 0)")
    } else {
      answers.evidence.append("not visible: /proc/self/status")
    }
    if let bytes = try? system.contents(of: "/proc/self/cgroup") {
      let lines = String(decoding: bytes, as: UTF8.self).parts(by: "\n")
      let relevant = lines.filter { $0.has(":devices:") || $0.hasPrefix("0::") }
      answers.evidence += relevant.map { "cgroup \($0)" }
    } else {
      answers.evidence.append("not visible: /proc/self/cgroup")
    }
    return answers
  }

  /// Repeats the open on files that this process may open.
  ///
  /// A seccomp filter cannot read the path, so it refuses these files too.
  private func controls(_ ask: ResourceQuery, _ flags: OpenFlags) -> [(PathBytes, Errno?)] {
    let paths: [PathBytes] =
      ask.isDirectory ? ["/", "/proc/self"] : ["/proc/self/comm", "/dev/null"]
    return paths.compactMap { path in
      let asked: Permissions = ask.isDirectory ? .read : ask.opened
      guard refused({ () throws(Errno) in try system.faccessat2(path, asked) }) == nil else {
        return nil
      }
      return (path, system.probe(open: path, flags))
    }
  }

  private func refused(_ body: () throws(Errno) -> Void) -> Errno? {
    do throws(Errno) {
      try body()
      return nil
    } catch {
      return error
    }
  }
}
