import ArgumentParser
import PermissionDocuments
import PermissionKit

/// The completions that a shell offers for the values of arguments.
extension CompletionKind {
  /// The accessors, by name and alias, when the shell asks.
  static var accessors: Self { .shellCommand("permcheck list --names 2>/dev/null") }

  /// The commands whose documents permcheck schema describes.
  static var documents: Self {
    .list(Documents.commandNames.filter { !$0.contains(" ") })
  }

  /// The useful combinations of permissions.
  static var permissions: Self { .list(["r", "w", "rw", "rx", "rwx"]) }

  /// The running processes.
  static var processes: Self { .shellCommand("ls /proc | grep '^[0-9]'") }

  /// The names of the users.
  static var users: Self { field(1, of: "passwd") }

  /// The names of the groups.
  static var groupNames: Self { field(1, of: "group") }

  /// The numbers of the users.
  static var userNumbers: Self { field(3, of: "passwd") }

  /// The numbers of the groups.
  static var groupNumbers: Self { field(3, of: "group") }

  /// A column of a data base, see getent(1).
  private static func field(_ number: Int, of database: String) -> Self {
    // _arguments of zsh ends an action at a colon.
    let colon = CompletionShell.requesting == .zsh ? "\\:" : ":"
    return .shellCommand("getent \(database) | cut -d \(colon) -f \(number)")
  }
}
