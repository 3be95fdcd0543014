/// A group that pam_group(8) may give to some logins of a user, see group.conf(5).
struct LoginGroup: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, evidence.answer == .denied, evidence.decision.rule.bits != nil,
      !evidence.grantsLess, let policy = LoginPolicy(evidence)
    else { return nil }
    let subject = evidence.subject
    let groups = policy.groups
    if let unseen = groups.unseen { return unknown(unseen, evidence) }
    for group in groups.value ?? [] {
      let gid = evidence.system.look(at: "/etc/group") { () throws(Errno) in
        try evidence.users.gid(of: group.name)
      }
      if let finding = gid.unseen.flatMap({ unknown($0, evidence) }) { return finding }
      guard let gid = gid.value ?? nil, helps(gid, evidence) else { continue }
      var reason = Reason(
        .loginPolicy, .suspected,
        "\(subject.displayName) is not in group \(group.name), but pam_group may give it to some logins (/etc/security/group.conf)",
        evidence: ["group.conf: \(group.line)"])
      reason.ownWhose = .file
      return Finding(status: .notDetermined, reasons: [reason], replaces: .all)
    }
    return nil
  }

  /// Returns that the groups of a login are unknown; nil if none would help.
  private func unknown(_ unseen: Unseen, _ evidence: Evidence) -> Finding? {
    guard mayHelp(evidence) else { return nil }
    let reason = Reason(
      .unreadableFacts, .proven,
      "this process cannot read \(unseen), by which pam_group may give groups to a login of \(evidence.subject.displayName)"
    )
    return Finding(status: .notDetermined, reasons: [reason], replaces: .all)
  }

  /// Whether the membership in a group would change who refuses.
  private func helps(_ gid: UInt32, _ evidence: Evidence) -> Bool {
    var credentials = evidence.subject.credentials
    if credentials.isMember(of: gid) { return false }
    credentials.groups.append(gid)
    let moved = AccessEvaluator(facts: evidence.facts, credentials: credentials)
      .decide(evidence.ask)
    return moved.errno == nil || moved.inode != evidence.decision.inode
  }

  /// Whether the membership in some group would.
  private func mayHelp(_ evidence: Evidence) -> Bool {
    guard let index = evidence.decision.inode else { return false }
    let inode = evidence.facts.inodes[index]
    let named = inode.acl?.entries.filter { $0.tag == .group }.map(\.id) ?? []
    return ([inode.gid] + named).contains { helps($0, evidence) }
  }
}

extension LoginPolicy {
  /// Creates the settings that decide on the subject's next login; nil if the subject is no user of
  /// this machine.
  init?(_ evidence: Evidence) {
    guard evidence.subject.source == .user, evidence.isAtRoot else { return nil }
    let uid = evidence.subject.credentials.user.fileSystem
    let look = evidence.system.look(at: "/etc/passwd") { () throws(Errno) in
      try evidence.users.user(uid)
    }
    let name: Look<String>
    switch look {
    case .found(let record?): name = .found(record.name)
    case .unseen(let unseen): name = .unseen(unseen)
    case .found, .absent: return nil
    }
    self.init(system: evidence.system, uid: uid, name: name)
  }
}
