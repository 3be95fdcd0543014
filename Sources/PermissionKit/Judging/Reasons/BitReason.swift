/// The sentence of a refusal by the mode or the ACL.
struct BitReason {
  let finder: ReasonFinder
  /// The inode that refuses.
  let inode: Int
  /// The permissions that were asked for.
  let need: Permissions

  /// Whether an ACL grants access, but the kernel ignores ACLs on this mount.
  var isIgnored: Bool {
    let facts = finder.facts
    let mount = facts.inodes[inode].mount
    guard facts.inodes[inode].acl != nil, facts.mounts[mount].rules.honoursACLs == false else {
      return false
    }
    var withACLs = facts
    withACLs.mounts[mount].isOtherMachine = true
    return AccessEvaluator(facts: withACLs, credentials: finder.inspection.subject.credentials)
      .permits(need, of: inode)
  }

  /// Returns the code and the message for a rule of the mode or the ACL.
  func text(_ rule: BitRule) -> (Reason.Code, String) {
    let (facts, users, name) = (finder.facts.inodes[inode], finder.users, finder.name)
    let seen = "(\(finder.modeAndOwners(inode)))"
    let group = users.groupName(facts.gid)
    func lacks(_ have: Permissions) -> String {
      "no \(need.subtracting(have).words) permission"
    }
    func mask(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      let mask = facts.acl?.mask ?? []
      return (
        .aclMask,
        "the ACL grants \(whose) \(permissions), but the ACL mask (\(mask)) removes \(need.subtracting(mask).words) \(seen)"
      )
    }
    func entry(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      (.aclEntry, "the ACL entry for \(whose) (\(permissions)) gives \(lacks(permissions)) \(seen)")
    }
    switch rule {
    case .owner:
      return (.ownerBits, "\(name) is the owner, and the owner has \(lacks(facts.bits(6))) \(seen)")
    case .group(false):
      return (
        .groupBits,
        "\(name) is in group \(group), and the group has \(lacks(facts.bits(3))) \(seen)"
      )
    case .other(false) where facts.bits(3).isSuperset(of: need):
      return (
        .notInGroup, "\(name) is not in group \(group) \(seen) and no ACL entry names \(name)"
      )
    case .other(false):
      return (.otherBits, "\(name) is neither the owner nor in group \(group) \(seen)")
    case .group(true), .other(true):
      return (
        .aclMask,
        "the ACL mask is empty, so the kernel ignores every ACL entry, even one for \(name) \(seen)"
      )
    case .aclUser(let id, false): return entry(name, facts.entry(.user, id))
    case .aclOwningGroup(false):
      return entry("group \(group) of \(name)", facts.entry(.owningGroup))
    case .aclGroup(let id, false):
      return entry(
        "group \(users.groupName(id)) of \(name)", facts.entry(.group, id))
    case .aclUser(let id, true): return mask("user:\(name)", facts.entry(.user, id))
    case .aclOwningGroup(true): return mask("group \(group)", facts.entry(.owningGroup))
    case .aclGroup(let id, true):
      return mask("group \(users.groupName(id))", facts.entry(.group, id))
    case .aclOther: return noEntry(facts, seen)
    }
  }

  /// Returns the reason if no ACL entry matches the subject.
  private func noEntry(_ facts: InodeFacts, _ seen: String) -> (Reason.Code, String) {
    let name = finder.name
    let mask = facts.acl?.mask ?? .all
    let groups = facts.acl?.entries.filter { $0.tag == .owningGroup || $0.tag == .group } ?? []
    if groups.contains(where: { $0.permissions.intersection(mask).isSuperset(of: need) }) {
      return (
        .notInGroup,
        "\(name) is in no group to which the ACL grants \(need.letters), and no ACL entry names \(name) \(seen)"
      )
    }
    let bits = facts.bits(0)
    return (
      .otherBits,
      "no ACL entry matches \(name), and everybody else has no \(need.subtracting(bits).words) permission (\(bits))"
    )
  }
}
