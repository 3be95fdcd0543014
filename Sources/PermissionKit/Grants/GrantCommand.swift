/// A change of the system as a value: what it would change, where and for whom.
///
/// It can be carried out and undone, now or later, by this process or another.
package protocol GrantCommand: Hashable, Sendable {
  /// The change in one line, for people.
  var summary: String { get }
  /// What an administrator would type to make the change.
  var arguments: [PathBytes] { get }
  /// How long the change lasts.
  var persistence: Persistence { get }

  /// Makes the change, if what it was planned on still holds.
  ///
  /// - Throws: Where it could not be made; then nothing is changed.
  func execute(_ system: any System) throws(PermissionError)
  /// Whether it is made, as far as can be seen.
  func progress(_ system: any System) throws(PermissionError) -> GrantProgress
  /// Takes the change back, and nothing that somebody else has changed since.
  ///
  /// - Returns: What was left alone, for people; nil when all is as it was before.
  /// - Throws: Where it could not be taken back.
  func undo(_ system: any System) throws(PermissionError) -> String?
}

/// How far a change has come.
package enum GrantProgress: Hashable, Sendable {
  /// All is as before.
  case before
  /// The change is made.
  case after
  /// Neither: somebody else has changed it since, or it is no longer there.
  case neither
}

/// The commands that a journal can hold.
package enum GrantChange: Hashable, Sendable {
  /// An ACL entry or mode bits of one inode.
  case inode(InodeGrant)
  /// Membership in a group.
  case group(GroupGrant)
  /// A rule for udev.
  case udevRule(UdevRuleGrant)

  /// The change itself.
  package var command: any GrantCommand {
    switch self {
    case .inode(let grant): grant
    case .group(let grant): grant
    case .udevRule(let grant): grant
    }
  }
}
