/// A device that opens, and does nothing for a program without a capability: tun_set_iff() in drivers/net/tun.c.
struct UsedCapability: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let subject = evidence.subject
    guard evidence.isGranted, let name = evidence.ask.resource.uses,
      let capability = CapabilitySet(name: name)
    else { return nil }
    let isHere = evidence.facts.overflow == nil && subject.credentials.userNamespace == nil
    if subject.credentials.effective.isSuperset(of: capability) {
      if isHere { return nil }
      let reason = Reason(
        .driver, .proven,
        "using \(evidence.ask.path) takes CAP_\(name.uppercased()), and that of a user namespace may not be enough: it counts for what was made in that namespace, such as its own network namespace"
      )
      return Finding(status: .notDetermined, reasons: [reason])
    }
    let word = name.uppercased()
    var reason = Reason(
      .driver, .proven,
      "\(subject.displayName) may open \(evidence.ask.path), but using it takes CAP_\(word), which \(subject.displayName) has not"
    )
    reason.ownAdvice =
      "give the program the capability: AmbientCapabilities=CAP_\(word) of its unit, --cap-add=\(word) of its container"
    return Finding(status: .restricted, reasons: [reason])
  }
}
