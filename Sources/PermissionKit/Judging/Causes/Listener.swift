/// A socket on which no program is known to listen, though its permissions allow connect(2).
struct Listener: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isGranted, evidence.ask.connects else { return nil }
    return SocketListener(evidence.inspection, evidence.ask).answer()
      .finding(evidence.ask, evidence.system)
  }
}

extension SocketListener.Answer {
  /// Returns what follows if no program is known to listen; nil if one is.
  fileprivate func finding(_ ask: ResourceQuery, _ system: any System) -> Finding? {
    switch self {
    case .listens: return nil
    case .absent:
      var reason = Reason(
        .noListener, .proven,
        "no program listens on \(ask.path): the program that made it has ended, or is not ready yet",
        evidence: ["connect: ECONNREFUSED"])
      reason.ownAdvice = ask.resource.hint
      return Finding(status: .unavailable, reasons: [reason], replaces: .all)
    case .refused:
      let reason = Reason(
        .landlockOrLSM, .suspected,
        "mode and ACL grant \(ask.path), but connect(2) is refused (EACCES)",
        evidence: ["connect: EACCES"] + SecurityModules(system).evidence)
      return Finding(status: .restricted, reasons: [reason], replaces: .all)
    case .unseen(let evidence):
      var reason = Reason(
        .noListener, .suspected,
        "the permissions of \(ask.path) allow connect(2), but no program is seen to listen there",
        evidence: [evidence])
      reason.ownAdvice = "connect to it as that user, which may start a program"
      return Finding(status: .notDetermined, reasons: [reason])
    }
  }
}
