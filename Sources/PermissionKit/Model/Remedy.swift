/// A change that leads to another verdict.
public struct Remedy: Hashable, Sendable {
  /// The object of a change.
  public enum Kind: String, Hashable, Sendable {
    /// Entries of an ACL, with setfacl(1).
    case acl
    /// Bits of the mode, with chmod(1).
    case mode
    /// The login session: a new session gets the current groups.
    case login
    /// The options of a mount, see mount(8).
    case mount
    /// A file, such as a link, a folder or a udev rule.
    case file
    /// The options that start a container, or a change on the machine that runs it.
    case container
    /// The unit of a service, see systemd.exec(5) and systemd.resource-control(5).
    case service
    /// The permissions of an application sandbox.
    case sandbox
    /// A driver to load, or a device to attach.
    case driver
  }

  /// The evaluator's verdict on the facts after the change.
  public enum Outcome: String, Hashable, Sendable {
    /// Access would be granted.
    case granted
    /// Access would still be refused.
    case refused
    /// The effect is unknown.
    case undetermined
  }

  /// Whether a request can make the change.
  package var isGrant: Bool { kind == .acl || kind == .mode }

  /// The kind of remedy.
  package var form: Form
  /// Whether changes of permissions follow, without which it gives no access.
  package var isFirstStep = false
  /// The object of the change, which also decides the tool.
  public var kind: Kind { form.kind }
  /// The command to type; each element is one argument.
  public var command: [PathBytes]
  /// Whether only root can make the change, because the subject does not own the inode.
  public var needsRoot: Bool
  /// The way by which the person who reads it becomes root.
  package var rootWay = RootWay.sudo
  /// How long the change lasts, which depends on the file system of the inode.
  public var persistence: Persistence
  /// The others who would gain access, for people; empty if nobody would.
  public var othersAffected: [String]
  /// The verdict after this change and all changes listed with it.
  public var outcome: Outcome
  /// Lines to add to the file that the command opens or the line itself names, separated by newlines.
  ///
  /// Nil if the command is the whole change.
  public var line: String?
  /// The command that makes the change take effect; empty if none is needed.
  public var after: [PathBytes] = []
  /// The command that undoes the change; empty if it is not known.
  package var undo: [PathBytes] = []
  /// The other things that this change and those listed with it let the subject do, for people, the worst first.
  public var opens: String?
  /// The programs that then refuse a file, by this change and those listed with it.
  package var objections: [ProgramObjection] = []
  /// Why the usual advice is worse; nil if there is nothing to warn about.
  public var note: String?

  /// Creates a remedy with these values.
  ///
  /// - Parameters:
  ///   - form: Which of the remedies it is.
  ///   - command: The command to type; each element is one argument.
  ///   - needsRoot: Whether only root can make the change.
  ///   - persistence: How long the change lasts.
  ///   - othersAffected: The others who would gain access, for people.
  ///   - outcome: The verdict after this change and all changes listed with it.
  package init(
    _ form: Form, command: [PathBytes], needsRoot: Bool, persistence: Persistence,
    othersAffected: [String], outcome: Outcome
  ) {
    self.form = form
    self.command = command
    self.needsRoot = needsRoot
    self.persistence = persistence
    self.othersAffected = othersAffected
    self.outcome = outcome
  }
}
