/// A change of the system as a value: what it would change, where and for whom.
///
/// It can be carried out and undone, now or later, by this process or another.
public protocol GrantCommand: Hashable, Sendable, Codable {
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
public enum GrantProgress: Hashable, Sendable {
  /// All is as before.
  case before
  /// The change is made.
  case after
  /// Neither: somebody else has changed it since, or it is no longer there.
  case neither
}

/// The commands that a journal can hold.
public enum GrantChange: Hashable, Sendable, Codable {
  /// An ACL entry or mode bits of one inode.
  case inode(InodeGrant)
  /// Membership in a group.
  case group(GroupGrant)
  /// A rule for udev.
  case udevRule(UdevRuleGrant)

  /// The change itself.
  public var command: any GrantCommand {
    switch self {
    case .inode(let grant): grant
    case .group(let grant): grant
    case .udevRule(let grant): grant
    }
  }

  private enum CodingKeys: String, CodingKey { case inode, group, udevRule }

  /// Reads an object of one member, whose name says what it is.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch container.allKeys.first {
    case .group: self = .group(try container.decode(GroupGrant.self, forKey: .group))
    case .udevRule: self = .udevRule(try container.decode(UdevRuleGrant.self, forKey: .udevRule))
    default: self = .inode(try container.decode(InodeGrant.self, forKey: .inode))
    }
  }

  /// Writes what `init(from:)` reads.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .inode(let grant): try container.encode(grant, forKey: .inode)
    case .group(let grant): try container.encode(grant, forKey: .group)
    case .udevRule(let grant): try container.encode(grant, forKey: .udevRule)
    }
  }
}
