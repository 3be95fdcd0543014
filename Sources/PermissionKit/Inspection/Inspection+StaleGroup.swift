// Groups that the user has, and the session has not.
extension Inspection {
  /// The groups that the user has in the data base and the process does not have.
  private var missingGroups: [UInt32] {
    // A user namespace may map these ids to other numbers.
    guard subject.source == .current || subject.source == .process, facts.overflow == nil,
      subject.credentials.userNamespace == nil,
      let record = try? users.user(subject.credentials.user.fileSystem),
      let known = try? users.groups(of: record)
    else { return [] }
    return known.filter { !subject.credentials.isMember(of: $0) }
  }

  /// Returns the missing group that would change the decision, with the new decision; nil if none.
  func staleGroup(_ ask: Ask, _ decision: Decision) -> (gid: UInt32, moved: Decision)? {
    guard couldGroupHelp(decision, ask.need) else { return nil }
    for gid in missingGroups {
      var credentials = subject.credentials
      credentials.groups.append(gid)
      let moved = AccessEvaluator(facts: facts, credentials: credentials)
        .decide(ask)
      // Behind a directory that this process may not search nothing is known.
      if moved.errno == nil || moved.inode != decision.inode { return (gid, moved) }
    }
    return nil
  }

  /// Returns whether some group has the permissions; only then is the data base worth reading.
  private func couldGroupHelp(_ decision: Decision, _ need: Permissions) -> Bool {
    guard let index = decision.inode else { return false }
    let inode = facts.inodes[index]
    let asked: Permissions = decision.step == .walk ? .execute : need
    let bits = inode.bits(3)
    guard let rule = decision.rule.bits else { return false }
    switch rule {
    case .other(isMaskEmpty: false): return bits.isSuperset(of: asked)
    case .aclOther, .aclGroup(_, isMasked: false), .aclOwningGroup(isMasked: false):
      // With an ACL, the group bits of the mode are the mask.
      return inode.acl?.entries.contains {
        ($0.tag == .group || $0.tag == .owningGroup)
          && $0.permissions.intersection(bits).isSuperset(of: asked)
      } ?? false
    case .owner, .group, .other(isMaskEmpty: true), .aclUser, .aclGroup(_, isMasked: true),
      .aclOwningGroup(isMasked: true):
      return false
    }
  }
}
