/// A change that would flip the verdict.
public struct Remedy: Hashable, Sendable {
  /// What is changed.
  public enum Kind: String, Hashable, Sendable {
    /// Entries of an ACL, by setfacl(1).
    case acl
    /// Bits of the mode, by chmod(1).
    case mode
    /// The login: a new one has the groups of now.
    case login
    /// The options of a mount, see mount(8).
    case mount
    /// A file: a link, a folder, a udev rule.
    case file
    /// How a container is started.
    case container
    /// The unit of a service, see systemd.exec(5) and systemd.resource-control(5).
    case service
    /// What an application sandbox lets in.
    case sandbox
    /// A driver to load, or a device to attach.
    case driver
  }

  /// What the evaluator says of the facts with the change made.
  public enum Outcome: String, Hashable, Sendable {
    /// It would be granted.
    case granted
    /// It would still be refused.
    case refused
    /// The facts do not tell.
    case undetermined
  }

  /// Whether a request can make the change.
  package var isGrant: Bool { kind == .acl || kind == .mode }

  /// What is changed, and so by which tool.
  public var kind: Kind
  /// What to type, an argument an element.
  public var command: [PathBytes]
  /// Whether the change is for root to make: the inode is not the subject's own.
  public var needsRoot: Bool
  /// How long the change lasts, by the file system that holds the inode.
  public var persistence: Persistence
  /// Who else would gain access, for people; empty when nobody would.
  public var othersAffected: [String]
  /// The verdict once this change and those listed with it are made.
  public var outcome: Outcome
  /// A line to add to a file that the command opens, or that this line names; nil where the
  /// command is all.
  public var line: String?
  /// Why the usual advice is worse; nil where there is nothing to warn of.
  public var note: String?

  /// Makes one of its parts.
  package init(
    kind: Kind, command: [PathBytes], needsRoot: Bool, persistence: Persistence,
    othersAffected: [String], outcome: Outcome
  ) {
    self.kind = kind
    self.command = command
    self.needsRoot = needsRoot
    self.persistence = persistence
    self.othersAffected = othersAffected
    self.outcome = outcome
  }
}
