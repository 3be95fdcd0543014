/// A server that did not answer in time.
struct LateServer: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard let probe = evidence.probe, probe.isLate, let obstacle = probe.obstacle else {
      return nil
    }
    return Finding(
      status: .notDetermined, reasons: [Reason(.notAnswering, .proven, obstacle)],
      replaces: .reasons)
  }
}
