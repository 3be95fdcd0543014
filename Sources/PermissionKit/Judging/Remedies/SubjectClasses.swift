/// Every class of subjects that two ACLs of an inode distinguish, and what each class gains.
///
/// A class is the owner, a user that one of the ACLs names, or any other user, combined with every
/// subset of the named groups. No class has capabilities.
struct SubjectClasses {
  /// A class of subjects.
  enum Who: Hashable {
    case user(UInt32)
    case groups([UInt32])
    case others
  }

  /// A class and the permissions that the class gains or loses.
  struct Gain: Hashable {
    var who: Who
    var permissions: Permissions
  }

  /// The classes that are permitted more than before.
  let gains: [Gain]
  /// The classes that are permitted less than before.
  let losses: [Gain]

  /// Compares the permissions of each class before and after a change.
  ///
  /// The time grows with the entries: whoever owns an inode can set thousands.
  ///
  /// - Parameters:
  ///   - old: The inode before the change.
  ///   - new: The inode after the change.
  ///   - subjects: The subjects of the change, who are not compared.
  init(of old: InodeFacts, and new: InodeFacts, without subjects: Set<UInt32>) {
    let (before, after) = (Grants(old), Grants(new))
    let subsets = Self.subsets(before, after).map { groups in
      (groups: groups, before: before.groups(groups), after: after.groups(groups))
    }
    typealias Difference = (gained: Permissions, lost: Permissions)
    func difference(_ before: Combinations, _ after: Combinations) -> Difference {
      (after.subtracting(before).permissions, before.subtracting(after).permissions)
    }
    var (gains, losses): ([Gain], [Gain]) = ([], [])
    func add(_ who: Who, _ difference: Difference) {
      if !difference.gained.isEmpty { gains.append(Gain(who: who, permissions: difference.gained)) }
      if !difference.lost.isEmpty { losses.append(Gain(who: who, permissions: difference.lost)) }
    }
    var known: [Entries: Difference] = [:]
    let users = Set(before.users.keys).union(after.users.keys).union([old.uid, new.uid])
    for user in users.subtracting(subjects).sorted() {
      let entries = Entries(before: before.of(user), after: after.of(user))
      let found =
        known[entries]
        ?? subsets.reduce(into: ([], [])) { found, groups in
          let one = difference(entries.before ?? groups.before, entries.after ?? groups.after)
          if found.gained.isEmpty { found.gained = one.gained }
          if found.lost.isEmpty { found.lost = one.lost }
        }
      known[entries] = found
      add(.user(user), found)
    }
    for subset in subsets {
      let who: Who = subset.groups.isEmpty ? .others : .groups(subset.groups)
      add(who, difference(subset.before, subset.after))
    }
    (self.gains, self.losses) = (gains, losses)
  }

  /// Returns the sets of groups that matter, the smaller ones first.
  ///
  /// Groups with the same entries before and after differ in nothing. A set gains something only if one of its groups
  /// does, or two: an entry of a group hides those of others.
  private static func subsets(_ before: Grants, _ after: Grants) -> [[UInt32]] {
    let groups = Set(before.groups.keys).union(after.groups.keys).sorted()
    var subsets: [[UInt32]] = [[]]
    if groups.count <= 12 {
      for group in groups { subsets += subsets.map { $0 + [group] } }
      return subsets
    }
    subsets += groups.map { [$0] }
    var firsts: [Entries: UInt32] = [:]
    for group in groups {
      let entries = Entries(before: before.groups[group], after: after.groups[group])
      if firsts[entries] == nil { firsts[entries] = group }
    }
    let different = firsts.values.sorted()
    for (index, group) in different.enumerated() {
      subsets += different[(index + 1)...].map { [group, $0] }
    }
    return subsets
  }

  /// Everything that a class may do at once: a bit for each of the seven combinations of r, w and x.
  ///
  /// One group can grant r and another w, while rw together is refused.
  private struct Combinations: OptionSet, Hashable {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ permissions: Permissions) {
      rawValue = (UInt8(1)...7).reduce(into: 0) { bits, combination in
        if permissions.isSuperset(of: Permissions(rawValue: combination)) {
          bits |= 1 << combination
        }
      }
    }

    var permissions: Permissions {
      (UInt8(1)...7).reduce(into: Permissions()) { permissions, combination in
        if rawValue & 1 << combination != 0 {
          permissions.formUnion(Permissions(rawValue: combination))
        }
      }
    }
  }

  /// The entries of one user or group, before and after; nil for none.
  private struct Entries: Hashable {
    var before: Combinations?
    var after: Combinations?
  }

  /// The rights that mode and ACL of an inode grant, see `acl_permission_check()` in fs/namei.c and `posix_acl_permission()` in
  /// fs/posix_acl.c.
  private struct Grants {
    private let owner: (uid: UInt32, combinations: Combinations)
    private(set) var users: [UInt32: Combinations] = [:]
    private(set) var groups: [UInt32: Combinations] = [:]
    private let others: Combinations

    init(_ inode: InodeFacts) {
      let possible: Permissions = inode.isImmutable ? [.read, .execute] : .all
      func combinations(_ permissions: Permissions) -> Combinations {
        Combinations(permissions.intersection(possible))
      }
      let bits = AccessControlList(mode: inode.mode)
      owner = (inode.uid, combinations(bits[.owner] ?? []))
      others = combinations(bits[ACLItem(.other)] ?? [])
      // The kernel ignores an ACL whose mask is empty.
      let acl = inode.mode & 0o070 == 0 ? nil : inode.acl
      let limit = acl?.mask ?? .all
      for entry in (acl ?? bits).entries {
        let granted = combinations(entry.permissions.intersection(limit))
        switch entry.tag {
        case .user: if users[entry.id] == nil { users[entry.id] = granted }
        case .owningGroup: groups[inode.gid, default: []].formUnion(granted)
        case .group: groups[entry.id, default: []].formUnion(granted)
        case .owner, .mask, .other: break
        }
      }
    }

    /// Returns what a user gets whatever his groups are; nil if the groups decide.
    func of(_ user: UInt32) -> Combinations? {
      user == owner.uid ? owner.combinations : users[user]
    }

    /// Returns what somebody else gets who is in these groups.
    func groups(_ groups: [UInt32]) -> Combinations {
      let entries = groups.compactMap { self.groups[$0] }
      return entries.isEmpty ? others : entries.reduce(into: []) { $0.formUnion($1) }
    }
  }

  /// Returns whether mode and ACL of an inode give a subject w, also where it does nothing without x.
  static func hasWrite(of credentials: Credentials, on inode: InodeFacts) -> Bool {
    var credentials = credentials
    credentials.effective = []
    return AccessEvaluator(evaluator(inode), credentials: credentials).permits(.write, of: 0)
  }

  /// Returns what mode and ACL of an inode let a subject do, see `AccessEvaluator.worth(of:)`.
  static func rights(of credentials: Credentials, on inode: InodeFacts) -> Permissions {
    var credentials = credentials
    credentials.effective = []
    return AccessEvaluator(evaluator(inode), credentials: credentials).worth(of: 0)
  }

  /// Returns an evaluator of the inode alone; the caller sets the credentials later.
  private static func evaluator(_ inode: InodeFacts) -> AccessEvaluator {
    var inode = inode
    inode.mount = 0
    return AccessEvaluator(
      facts: AccessFacts(inodes: [inode], mounts: [MountFacts()]),
      credentials: Credentials(uid: 0, gid: 0, groups: []))
  }
}

extension UserDatabase {
  /// Returns the gain or loss of a class of subjects, for people: `members of video: rw`.
  func describe(_ gain: SubjectClasses.Gain) -> String {
    let who =
      switch gain.who {
      case .user(let uid): "user \(userName(uid))"
      case .groups(let gids): "members of " + gids.map { groupName($0) }.joined(separator: " and ")
      case .others: "everybody else"
      }
    return "\(who): \(gain.permissions.letters)"
  }
}
