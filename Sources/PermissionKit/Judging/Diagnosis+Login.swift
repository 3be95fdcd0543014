// What a login to come may get, which no user data base tells.
extension Diagnosis {
  /// The settings that decide on the subject's next login; nil if the subject is no user of this
  /// machine.
  private var loginPolicy: LoginPolicy? {
    guard inspection.subject.source == .user, inspection.context.root == "/",
      let user = try? inspection.users.user(inspection.subject.credentials.user.fileSystem)
    else { return nil }
    return LoginPolicy(system: inspection.system, user: user)
  }

  /// Returns the device policy by which the user's next login may be refused a device that mode and
  /// ACL grant.
  func refusalAtLogin(_ ask: ResourceQuery, _ decision: Decision) -> Reason? {
    guard let index = decision.inode, inspection.facts.inodes[index].kind.isDevice,
      let device = inspection.facts.inodes[index].device, !device.isAllowedByPolicy,
      let policy = loginPolicy
    else { return nil }
    let rules = policy.deviceRules(device)
    guard let first = rules.first else { return nil }
    let name = inspection.subject.displayName
    return Reason(
      .loginPolicy, .suspected,
      "mode and ACL grant \(ask.path) to \(name), but a login of \(name) may be refused devices (\(first))",
      evidence: rules)
  }

  /// Returns the missing group, if a login may give it to the user.
  func groupOfLogin(_ ask: ResourceQuery, _ decision: Decision) -> Reason? {
    guard decision.rule.bits != nil, let policy = loginPolicy else { return nil }
    for group in policy.groups {
      guard let gid = try? inspection.users.gid(of: group.name) else { continue }
      var credentials = inspection.subject.credentials
      if credentials.isMember(of: gid) { continue }
      credentials.groups.append(gid)
      let moved = AccessEvaluator(facts: inspection.facts, credentials: credentials).decide(ask)
      guard moved.errno == nil || moved.inode != decision.inode else { continue }
      return Reason(
        .loginPolicy, .suspected,
        "\(inspection.subject.displayName) is not in group \(group.name), but pam_group may give it to some logins (/etc/security/group.conf)",
        evidence: ["group.conf: \(group.line)"])
    }
    return nil
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
