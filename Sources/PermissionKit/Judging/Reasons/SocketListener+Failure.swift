extension SocketListener.Answer {
  /// Returns the status and the reason of a socket if no program is known to listen; nil if one is.
  func failure(
    _ ask: ResourceQuery, _ system: any System
  ) -> (status: AuthorizationStatus, reason: Reason)? {
    switch self {
    case .listens: return nil
    case .absent:
      var reason = Reason(
        .noListener, .proven,
        "no program listens on \(ask.path): the program that made it has ended, or is not ready yet",
        evidence: ["connect: ECONNREFUSED"])
      reason.ownAdvice = ask.resource.hint
      return (.unavailable, reason)
    case .refused:
      return (
        .restricted,
        Reason(
          .landlockOrLSM, .suspected,
          "mode and ACL grant \(ask.path), but connect(2) is refused (EACCES)",
          evidence: ["connect: EACCES"] + SecurityModules(system).evidence)
      )
    case .unseen(let evidence):
      var reason = Reason(
        .noListener, .suspected,
        "the permissions of \(ask.path) allow connect(2), but no program is seen to listen there",
        evidence: [evidence])
      reason.ownAdvice = "connect to it as that user, which may start a program"
      return (.notDetermined, reason)
    }
  }
}
