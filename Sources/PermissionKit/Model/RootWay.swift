/// The way by which the person who reads a command becomes root to make it.
package enum RootWay: Sendable, Hashable {
  /// This process is root, and so is the shell that started it.
  case none
  /// By sudo(8).
  case sudo
  /// By doas(1).
  case doas
  /// By su(1), which is on every machine.
  case su

  /// Returns the line for a shell that runs a command as root.
  package func line(_ command: [PathBytes]) -> String {
    switch self {
    case .none: ShellCommand.line(command)
    case .sudo: ShellCommand.line(["sudo"] + command)
    case .doas: ShellCommand.line(["doas"] + command)
    case .su:
      ShellCommand.line(["su", "-c", PathBytes(Array(ShellCommand.line(command).utf8))])
    }
  }
}
