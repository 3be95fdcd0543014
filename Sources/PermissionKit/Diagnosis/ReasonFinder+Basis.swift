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
    guard let index = decision.inode, case .bits(let rule) = decision.rule.layer else {
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

extension InodeFacts {
  /// Returns one digit of the mode: shift 6 for the owner, 3 for the group, 0 for others.
  func bits(_ shift: UInt16) -> Permissions { Permissions(rawValue: UInt8(mode >> shift & 7)) }

  /// Returns the permissions of an ACL entry; empty if there is no such entry.
  func entry(_ tag: AccessControlList.Tag, _ id: UInt32? = nil) -> Permissions {
    acl?.entries.first { $0.tag == tag && (id == nil || $0.id == id) }?.permissions ?? []
  }
}
