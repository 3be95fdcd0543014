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
  /// - Parameters:
  ///   - old: The inode before the change.
  ///   - new: The inode after the change.
  ///   - subjects: The subjects of the change, who are not compared.
  init(of old: InodeFacts, and new: InodeFacts, without subjects: Set<UInt32>) {
    let entries = (old.acl?.entries ?? []) + (new.acl?.entries ?? [])
    let users = Set(entries.filter { $0.tag == .user }.map(\.id) + [old.uid]).subtracting(subjects)
    let groups = Set(entries.filter { $0.tag == .group }.map(\.id) + [old.gid]).sorted()
    // With more than 12 groups, compares only single groups and pairs, the subsets that matter.
    var subsets: [[UInt32]] = [[]]
    if groups.count <= 12 {
      for group in groups { subsets += subsets.map { $0 + [group] } }
    } else {
      for (index, group) in groups.enumerated() {
        subsets.append([group])
        subsets += groups[(index + 1)...].map { [group, $0] }
      }
    }
    let (oldEvaluator, newEvaluator) = (Self.evaluator(old), Self.evaluator(new))
    let stranger = Self.unused(subjects.union(entries.map(\.id) + [old.uid, old.gid]))
    var gains: [Gain] = []
    var losses: [Gain] = []
    for user in users.sorted() + [stranger] {
      for subset in subsets {
        let who: Who = user != stranger ? .user(user) : subset.isEmpty ? .others : .groups(subset)
        let credentials = Credentials(
          user: .init(user), group: .init(stranger), groups: subset, effective: [])
        let before = Self.permitted(oldEvaluator, credentials)
        let after = Self.permitted(newEvaluator, credentials)
        let gained = Permissions(after.subtracting(before))
        if !gained.isEmpty, !gains.contains(where: { $0.who == who }) {
          gains.append(Gain(who: who, permissions: gained))
        }
        let lost = Permissions(before.subtracting(after))
        if !lost.isEmpty, !losses.contains(where: { $0.who == who }) {
          losses.append(Gain(who: who, permissions: lost))
        }
      }
    }
    self.gains = gains
    self.losses = losses
  }

  /// Returns the permissions that mode and ACL of an inode give to a subject, each checked by
  /// itself.
  static func rights(of credentials: Credentials, on inode: InodeFacts) -> Permissions {
    var credentials = credentials
    credentials.effective = []
    let evaluator = AccessEvaluator(evaluator(inode), credentials: credentials)
    return Permissions([.read, .write, .execute].filter { evaluator.permits($0, of: 0) })
  }

  private static func unused(_ ids: Set<UInt32>) -> UInt32 {
    var id: UInt32 = 4_000_000_000
    while ids.contains(id) { id += 1 }
    return id
  }

  /// Returns an evaluator of the inode alone; the caller sets the credentials later.
  private static func evaluator(_ inode: InodeFacts) -> AccessEvaluator {
    var inode = inode
    inode.mount = 0
    return AccessEvaluator(
      facts: AccessFacts(inodes: [inode], mounts: [MountFacts()]),
      credentials: Credentials(uid: 0, gid: 0, groups: []))
  }

  /// Returns every combination of bits that is permitted.
  ///
  /// One group can grant r and another w, while rw together is refused.
  private static func permitted(
    _ evaluator: AccessEvaluator, _ credentials: Credentials
  ) -> Set<Permissions> {
    let evaluator = AccessEvaluator(evaluator, credentials: credentials)
    return Set((1...7).map(Permissions.init(rawValue:)).filter { evaluator.permits($0, of: 0) })
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
