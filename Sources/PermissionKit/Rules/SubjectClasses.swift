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
  /// Classes that are permitted less than before.
  let losses: [Gain]

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
    let (oldEvaluator, newEvaluator) = (Self.evaluator(old), Self.evaluator(new))
    let stranger = Self.unused(Set(entries.map(\.id) + [old.uid, old.gid, uid]))
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

  private static func unused(_ ids: Set<UInt32>) -> UInt32 {
    var id: UInt32 = 4_000_000_000
    while ids.contains(id) { id += 1 }
    return id
  }

  /// Judges the inode alone; for whom is told later.
  private static func evaluator(_ inode: InodeFacts) -> AccessEvaluator {
    var inode = inode
    inode.mount = 0
    return AccessEvaluator(
      facts: AccessFacts(inodes: [inode], mounts: [MountFacts()]),
      credentials: Credentials(uid: 0, gid: 0, groups: []))
  }

  /// Every combination of bits that is permitted: a group may grant r and w, and refuse both at
  /// once.
  private static func permitted(
    _ evaluator: AccessEvaluator, _ credentials: Credentials
  ) -> Set<Permissions> {
    let evaluator = AccessEvaluator(evaluator, credentials: credentials)
    return Set((1...7).map(Permissions.init(rawValue:)).filter { evaluator.permits($0, of: 0) })
  }
}
