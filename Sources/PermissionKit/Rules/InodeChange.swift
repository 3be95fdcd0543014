extension AccessControlList {
  /// Adds bits to the one entry of a kind.
  mutating func set(_ tag: Tag, adding permissions: Permissions) {
    for index in entries.indices where entries[index].tag == tag {
      entries[index].permissions.formUnion(permissions)
    }
  }
}

/// A change of one inode's mode or ACL that lets the subject do what it could not.
struct InodeChange: Hashable, Sendable {
  /// What is changed, by one system call.
  enum Attribute: String, Hashable, Sendable {
    /// The mode, by chmod(2).
    case mode
    /// The access ACL, and with it the mode, by setxattr(2).
    case accessACL = "access-acl"
    /// The default ACL of a directory, by setxattr(2).
    case defaultACL = "default-acl"
  }

  /// Index into `AccessFacts.inodes`.
  let inode: Int
  var attribute: Attribute
  let before: InodeFacts
  var after: InodeFacts
  /// What the subject's own entry or bits hold afterwards.
  var permissions: Permissions
}

extension InodeFacts {
  /// The inode with a named entry for `uid` that takes effect, all other entries keeping just what
  /// they had in effect.
  ///
  /// A mask that must be widened would give back what it hid: those entries are lowered to what
  /// they effectively were. With an empty mask the ACL was not read at all (see
  /// `acl_permission_check()` in fs/namei.c): its named entries stood for nothing, and go.
  func granting(_ permissions: Permissions, to uid: UInt32) -> InodeFacts {
    let group = Permissions(rawValue: UInt8(mode >> 3 & 7))
    var list = acl ?? AccessControlList(mode: mode)
    let mask = list.mask ?? group
    let isUnread = acl != nil && group.isEmpty
    list.entries.removeAll { entry in
      switch entry.tag {
      case .user: isUnread || entry.id == uid
      case .group: isUnread
      case .mask: true
      case .owner, .owningGroup, .other: false
      }
    }
    for index in list.entries.indices where list.entries[index].isMasked {
      list.entries[index].permissions.formIntersection(mask)
    }
    list.entries.append(.init(.user, id: uid, permissions))
    list.entries.append(.init(.mask, mask.union(permissions)))
    list.entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
    var changed = self
    changed.acl = list
    changed.mode = mode & ~0o070 | UInt16(mask.union(permissions).rawValue) << 3
    return changed
  }
}
