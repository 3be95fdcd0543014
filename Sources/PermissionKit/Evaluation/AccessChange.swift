/// Changes of modes and ACLs as values, and who they reach besides the one they are meant for.

extension AccessEvaluator {
  /// Whether mode, ACL and capabilities permit `want` of the inode, nothing else being asked.
  func permits(_ want: Permissions, of inode: Int) -> Bool {
    var procedure = Procedure(self, "")
    return (try? procedure.generic(inode, want, .target)) != nil
  }
}

extension AccessControlList {
  /// Adds bits to the one entry of a kind.
  mutating func set(_ tag: Tag, adding permissions: Permissions) {
    for index in entries.indices where entries[index].tag == tag {
      entries[index].permissions.formUnion(permissions)
    }
  }
}

extension InodeFacts {
  /// The inode with a named entry for `uid` that takes effect, all other entries keeping just what
  /// they had in effect.
  ///
  /// A mask that must be widened would give back what it hid: those entries are lowered to what
  /// they effectively were. With an empty mask nothing of the ACL counted (see
  /// `acl_permission_check()` in fs/namei.c), so its entries are set to what others had.
  func granting(_ permissions: Permissions, to uid: UInt32) -> InodeFacts {
    let group = Permissions(rawValue: UInt8(mode >> 3 & 7))
    let other = Permissions(rawValue: UInt8(mode & 7))
    var list =
      acl
      ?? AccessControlList([
        .init(.owner, Permissions(rawValue: UInt8(mode >> 6 & 7))), .init(.owningGroup, group),
        .init(.other, other),
      ])
    let mask = list.mask ?? (acl == nil ? group : .all)
    let isUnread = acl != nil && group.isEmpty
    let newMask = mask.union(permissions)
    for index in list.entries.indices {
      switch list.entries[index].tag {
      case .user, .group:
        list.entries[index].permissions =
          isUnread ? other : list.entries[index].permissions.intersection(mask)
      case .owningGroup: list.entries[index].permissions.formIntersection(isUnread ? [] : mask)
      case .mask, .owner, .other: break
      }
    }
    let wanted = isUnread ? newMask.union(other) : newMask
    list.entries.removeAll { $0.tag == .mask || $0.tag == .user && $0.id == uid }
    list.entries.append(.init(.user, id: uid, permissions))
    list.entries.append(.init(.mask, wanted))
    list.entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
    var changed = self
    changed.acl = list
    changed.mode = mode & ~0o070 | UInt16(wanted.rawValue) << 3
    return changed
  }

  /// The entries in which the ACL differs from that of `old`, as setfacl(1) takes them.
  func aclText(since old: InodeFacts) -> PathBytes {
    let before = old.acl?.entries ?? []
    let group = Permissions(rawValue: UInt8(old.mode >> 3 & 7))
    let changed = (acl?.entries ?? []).filter { entry in
      switch entry.tag {
      case .owner, .other: false
      case .owningGroup where old.acl == nil: entry.permissions != group
      default: !before.contains(entry)
      }
    }
    return PathBytes(
      changed.map { entry in
        switch entry.tag {
        case .user: "u:\(entry.id):\(entry.permissions)"
        case .group: "g:\(entry.id):\(entry.permissions)"
        case .owningGroup: "g::\(entry.permissions)"
        default: "m::\(entry.permissions)"
        }
      }.joined(separator: ","))
  }
}

/// Every class of subject that two ACLs of an inode can tell apart, and what each gains.
///
/// A class is a user id that one of the ACLs names or the owner, or nobody in particular, each with
/// every subset of the groups that are named. None has capabilities.
struct SubjectClasses {
  enum Who: Hashable {
    case user(UInt32)
    case groups([UInt32])
    case others
  }

  struct Gain: Hashable {
    var who: Who
    var permissions: Permissions
  }

  let gains: [Gain]

  /// Compares, for each class, what is permitted before and after.
  ///
  /// - Parameters:
  ///   - old: The inode as it is.
  ///   - new: The inode with the change made.
  ///   - uid: The subject for whom the change is meant, who is left out.
  init(of old: InodeFacts, and new: InodeFacts, without uid: UInt32) {
    let entries = (old.acl?.entries ?? []) + (new.acl?.entries ?? [])
    let users = Set(entries.filter { $0.tag == .user }.map(\.id) + [old.uid]).subtracting([uid])
    let groups = Set(entries.filter { $0.tag == .group }.map(\.id) + [old.gid]).sorted()
    // Beyond a dozen groups the subsets that matter are the single ones and the pairs.
    var subsets: [[UInt32]] = [[]]
    if groups.count <= 12 {
      for group in groups { subsets += subsets.map { $0 + [group] } }
    } else {
      for (index, group) in groups.enumerated() {
        subsets.append([group])
        subsets += groups[(index + 1)...].map { [group, $0] }
      }
    }
    let stranger = Self.unused(Set(entries.map(\.id) + [old.uid, old.gid, uid]))
    var gains: [Gain] = []
    for user in users.sorted() + [stranger] {
      for subset in subsets {
        let who: Who = user != stranger ? .user(user) : subset.isEmpty ? .others : .groups(subset)
        let credentials = Credentials(
          user: .init(user), group: .init(stranger), groups: subset, effective: [])
        let before = Self.permitted(old, credentials)
        let gained = Permissions(Self.permitted(new, credentials).subtracting(before))
        if !gained.isEmpty, !gains.contains(where: { $0.who == who }) {
          gains.append(Gain(who: who, permissions: gained))
        }
      }
    }
    self.gains = gains
  }

  private static func unused(_ ids: Set<UInt32>) -> UInt32 {
    var id: UInt32 = 4_000_000_000
    while ids.contains(id) { id += 1 }
    return id
  }

  /// Every combination of bits that is permitted: a group may grant r and w, and refuse both at
  /// once.
  private static func permitted(
    _ inode: InodeFacts, _ credentials: Credentials
  ) -> Set<Permissions> {
    var inode = inode
    inode.mount = 0
    let evaluator = AccessEvaluator(
      facts: AccessFacts(inodes: [inode], mounts: [MountFacts()]), credentials: credentials)
    return Set((1...7).map(Permissions.init(rawValue:)).filter { evaluator.permits($0, of: 0) })
  }
}
