/// The device policy by which a user's next login may be refused a device that mode and ACL grant.
struct LoginDevices: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, evidence.isGranted, let index = evidence.decision.inode,
      evidence.facts.inodes[index].kind.isDevice,
      let device = evidence.facts.inodes[index].device, !device.isAllowedByPolicy,
      let (rules, unseen) = LoginPolicy(evidence)?.deviceRules(device)
    else { return nil }
    let name = evidence.subject.displayName
    guard let first = rules.first else {
      return unseen.first.map { unseen in
        Finding(
          status: .notDetermined,
          reasons: [
            Reason(
              .unreadableFacts, .proven,
              "mode and ACL grant \(evidence.ask.path) to \(name), but this process cannot read \(unseen), which may refuse devices to a login of \(name)"
            )
          ])
      }
    }
    let reason = Reason(
      .loginPolicy, .suspected,
      "mode and ACL grant \(evidence.ask.path) to \(name), but a login of \(name) may be refused devices (\(first))",
      evidence: rules)
    return Finding(status: .notDetermined, reasons: [reason])
  }
}

extension DeviceNumber {
  /// Whether every device policy of systemd allows the device, see systemd.resource-control(5): null, zero,
  /// full, random, urandom, tty, ptmx and pts.
  fileprivate var isAllowedByPolicy: Bool {
    switch (major, minor) {
    case (1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2): true
    case (136...143, _): true
    default: false
    }
  }
}
