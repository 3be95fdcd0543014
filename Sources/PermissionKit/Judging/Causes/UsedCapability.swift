/// A device that opens, and does nothing for a program without a capability: tun_set_iff() in drivers/net/tun.c.
struct UsedCapability: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let subject = evidence.subject
    guard evidence.isGranted, let name = evidence.ask.resource.uses,
      let capability = CapabilitySet(name: name),
      !subject.credentials.effective.isSuperset(of: capability)
    else { return nil }
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
