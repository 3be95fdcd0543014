extension ReasonFinder {
  /// Returns mode, owner and group of an inode, for people.
  func modeAndOwners(_ inode: Int) -> String {
    let facts = facts.inodes[inode]
    return
      "\(facts.summary.modeText) \(users.userName(facts.uid)):\(users.groupName(facts.gid))"
  }

  /// Returns the mode bits or ACL entry that decided, for people: `owner rw-`,
  /// `ACL user:tester:rw-`.
  func basis(_ decision: Decision) -> String {
    guard let index = decision.inode, let rule = decision.rule.bits else {
      if decision.rule == .capDACOverride { return "CAP_DAC_OVERRIDE" }
      if decision.rule == .capDACReadSearch { return "CAP_DAC_READ_SEARCH" }
      return decision.rule.description
    }
    var group: String { users.groupName(facts.inodes[index].gid) }
    switch rule {
    case .owner: return "owner \(facts.inodes[index].bits(6))"
    case .group: return "group \(group) \(facts.inodes[index].bits(3))"
    case .other, .aclOther: return "other \(facts.inodes[index].bits(0))"
    case .aclUser(let id, _):
      return "ACL user:\(users.userName(id)):\(facts.inodes[index].entry(.user, id))"
    case .aclOwningGroup: return "ACL group::\(facts.inodes[index].entry(.owningGroup)) (\(group))"
    case .aclGroup(let id, _):
      return "ACL group:\(users.groupName(id)):\(facts.inodes[index].entry(.group, id))"
    }
  }
}
