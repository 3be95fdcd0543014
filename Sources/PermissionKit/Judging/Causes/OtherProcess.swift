/// The layers around another process that may refuse what the facts grant, and cannot be asked.
struct OtherProcess: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, let process = evidence.subject.process,
      evidence.isGranted || evidence.grantsLess
    else {
      return nil
    }
    let probe = evidence.isGranted ? evidence.probe : nil
    let reasons = Self.reasons(evidence, process, probe)
    return reasons.isEmpty ? nil : Finding(status: .notDetermined, reasons: reasons)
  }

  private static func reasons(
    _ evidence: Evidence, _ process: Int32, _ probe: Probe?
  ) -> [Reason] {
    if let obstacle = probe?.obstacle {
      var reason = Reason(.unreadableFacts, .proven, obstacle)
      if probe?.method == .enter { reason.ownAdvice = "ask without --probe enter" }
      return [reason]
    }
    let (ask, path) = (evidence.ask, evidence.ask.path)
    let reasons = ProcessLayers(evidence.system, process).possibleRefusals(
      path, ask.need, isDevice: evidence.facts.isDevice(path),
      policyAllows: evidence.policy != nil)
    // The device cgroup was asked, as it was taken on.
    return probe?.method == .enter ? reasons.filter { $0.code != .deviceCgroup } : reasons
  }

  /// Returns the reason why the kernel, asked in the place of another process, refuses what the
  /// facts grant.
  static func refusal(_ evidence: Evidence, _ errno: Errno) -> Reason? {
    guard let process = evidence.subject.process else { return nil }
    let (path, accessed) = (evidence.ask.path, evidence.probe?.accessed)
    let answers = ["enter: \(errno)", "faccessat2: \(accessed?.description ?? "granted")"]
    if errno == .EPERM, evidence.facts.isDevice(path), accessed == .EPERM {
      return Reason(
        .deviceCgroup, .proven,
        "mode and ACL grant \(path), but in the cgroup of process \(process) open and faccessat2 fail (EPERM): its device cgroup does not allow this device",
        evidence: answers)
    }
    return Reason(
      .landlockOrLSM, .suspected,
      "mode and ACL grant \(path), but the kernel refuses it (\(errno)) in the namespaces and the cgroup of process \(process)",
      evidence: answers + SecurityModules(evidence.system).evidence)
  }
}
