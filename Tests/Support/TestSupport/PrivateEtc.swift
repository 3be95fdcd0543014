import Foundation

extension Command {
  /// A function of the shell that gives a script, in a mount namespace of its own, its own /etc.
  ///
  /// Other people may add users meanwhile. Then files vanish while they are copied, and what is mounted
  /// on /etc/passwd or /etc/group goes: rename(2) over a mount point ends it in every other namespace
  /// (`detach_mounts()` of fs/namespace.c), and what then writes there changes this machine's own files.
  package static let privateEtc = """
    private_etc() {
      local etc
      etc=$(mktemp -d)
      mount -t tmpfs -o mode=755 none "$etc" || exit 97
      cp -a /etc/. "$etc" 2>/dev/null || :
      rm -f "$etc"/*.lock
      test -s "$etc/passwd" && test -s "$etc/group" && mount --move "$etc" /etc || exit 97
      rmdir "$etc"
    }

    """
}

/// A mount namespace in which /etc is a copy that nobody else changes, for several commands.
package final class OwnEtc {
  private let holder: LiveCommand

  /// Creates the namespace (needs root).
  package init() throws {
    let script = Command.privateEtc + "private_etc; echo ready; exec sleep 1200"
    holder = try LiveCommand(["unshare", "--mount", "sh", "-ec", script])
    guard holder.line() == "ready" else {
      throw CocoaError(
        .executableLoad, userInfo: [NSLocalizedDescriptionKey: "there is no own /etc"])
    }
  }

  /// Runs a command as root in the namespace.
  package func run(_ arguments: [String]) throws -> Outcome {
    try Command.run(["nsenter", "--target", "\(holder.pid)", "--mount"] + arguments)
  }
}
