/// A group that pam_group(8) may give to some logins of a user, see group.conf(5).
struct LoginGroup: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, evidence.answer == .denied, evidence.decision.rule.bits != nil,
      !evidence.grantsLess, let policy = LoginPolicy(evidence)
    else { return nil }
    let (subject, decision) = (evidence.subject, evidence.decision)
    for group in policy.groups {
      guard let gid = try? evidence.users.gid(of: group.name) else { continue }
      var credentials = subject.credentials
      if credentials.isMember(of: gid) { continue }
      credentials.groups.append(gid)
      let moved = AccessEvaluator(facts: evidence.facts, credentials: credentials)
        .decide(evidence.ask)
      guard moved.errno == nil || moved.inode != decision.inode else { continue }
      var reason = Reason(
        .loginPolicy, .suspected,
        "\(subject.displayName) is not in group \(group.name), but pam_group may give it to some logins (/etc/security/group.conf)",
        evidence: ["group.conf: \(group.line)"])
      reason.ownWhose = .file
      return Finding(status: .notDetermined, reasons: [reason], replaces: .all)
    }
    return nil
  }
}

extension LoginPolicy {
  /// Creates the settings that decide on the subject's next login; nil if the subject is no user of
  /// this machine.
  init?(_ evidence: Evidence) {
    guard evidence.subject.source == .user, evidence.isAtRoot,
      let user = try? evidence.users.user(evidence.subject.credentials.user.fileSystem)
    else { return nil }
    self.init(system: evidence.system, user: user)
  }
}
