/// A change of the system as a value: what it changes, where and for whom.
///
/// The command can be executed now or later, by this process or another.
package protocol GrantCommand: Hashable, Sendable {
  /// The change in one line, for people.
  var summary: String { get }
  /// The shell command that makes the same change.
  var arguments: [PathBytes] { get }
  /// The shell commands that a person types for it, one after the other.
  var commands: [[PathBytes]] { get }
  /// How long the change lasts.
  var persistence: Persistence { get }

  /// Makes the change if the system is still in the state that the plan is based on.
  ///
  /// - Parameter system: The system to change.
  /// - Throws: If the change cannot be made; the system is then unchanged.
  func execute(_ system: any System) throws(PermissionError)
}

extension GrantCommand {
  /// One command.
  package var commands: [[PathBytes]] { [arguments] }
}

/// A command with an undo of its own; the change of an inode is merged instead, see `LeaseMerge`.
protocol UndoableCommand: GrantCommand {
  /// Returns whether the change is in place.
  ///
  /// - Parameter system: The system to examine.
  /// - Returns: The state that the system shows now.
  /// - Throws: If that state cannot be read.
  func progress(_ system: any System) throws(PermissionError) -> GrantProgress
  /// Undoes the change, and leaves later changes by others in place.
  ///
  /// - Parameter system: The system to change.
  /// - Returns: What was left unchanged, for people; nil if the earlier state is restored.
  /// - Throws: If the change cannot be undone.
  func undo(_ system: any System) throws(PermissionError) -> String?
}

/// The state of a change in the system.
package enum GrantProgress: Hashable, Sendable {
  /// The change is not made.
  case before
  /// The change is made.
  case after
  /// Neither state: somebody else changed the file since, or the file is gone.
  case neither
}

/// The kinds of commands that a journal can record.
package enum GrantChange: Hashable, Sendable {
  /// An ACL entry or mode bits of one inode.
  case inode(InodeGrant)
  /// The owning group of an inode without ACLs.
  case owningGroup(OwningGroupGrant)
  /// Membership in a group.
  case group(GroupGrant)
  /// A udev rule.
  case udevRule(UdevRuleGrant)

  /// The command that makes the change.
  package var command: any GrantCommand {
    switch self {
    case .inode(let grant): grant
    case .owningGroup(let grant): grant
    case .group(let grant): grant
    case .udevRule(let grant): grant
    }
  }

  /// The command, if it has an undo of its own.
  var undoable: (any UndoableCommand)? { command as? any UndoableCommand }

  /// The file whose mode, owning group or ACL changes; nil for another change.
  package var file: InodeGrant? {
    switch self {
    case .inode(let grant): grant
    case .owningGroup(let grant): grant.file
    case .group, .udevRule: nil
    }
  }

  /// The change as the journal stores it, without the parts that only planning needs.
  var recorded: GrantChange {
    switch self {
    case .inode(var grant):
      grant.forgetPlan()
      return .inode(grant)
    case .udevRule(var rule):
      for index in rule.entries.indices { rule.entries[index].forgetPlan() }
      return .udevRule(rule)
    case .owningGroup(var grant):
      grant.present = nil
      return .owningGroup(grant)
    case .group: return self
    }
  }
}
