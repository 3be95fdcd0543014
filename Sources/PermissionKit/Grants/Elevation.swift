/// A way to request access through a program that runs as root.
///
/// The program receives no path and no change. It computes the plan again, for the user who asks.
public protocol Elevation: Sendable {
  /// Requests access for the calling user.
  ///
  /// - Parameter request: The accessor, the strategy and the permissions.
  /// - Throws: If the program cannot be started, the user is not allowed to start it, or it fails.
  func request(_ request: ElevatedRequest) throws(PermissionError)
}

/// A request for access that is passed to the program that runs as root.
public struct ElevatedRequest: Hashable, Sendable {
  /// The name of the accessor.
  public let accessor: String
  /// The name of the grant strategy.
  public let strategy: String
  /// The permissions for each resource; nil for those that the accessor needs.
  public let need: Permissions?
  /// The end of the grant in microseconds since 1970 (UTC); nil if it does not expire.
  public var expires: Int64? { lifetime.expires }
  /// The id of the process whose end ends the grant; nil if there is none.
  public var process: Int32? { lifetime.process?.pid }
  /// When the grant ends.
  package let lifetime: Grant.Lifetime

  /// Creates a request with these values.
  package init(
    accessor: String, strategy: String, need: Permissions?, lifetime: Grant.Lifetime
  ) {
    self.accessor = accessor
    self.strategy = strategy
    self.need = need
    self.lifetime = lifetime
  }
}

/// A command that runs a program as root through sudo(8) or pkexec(1).
package struct RootCommand: Hashable, Sendable {
  /// The program that starts another program as root.
  package enum Via: String, Hashable, Sendable, CaseIterable {
    /// sudo(8), which asks for a password on the terminal.
    case sudo
    /// pkexec(1); polkit decides, and asks through the authentication agent of the session.
    case pkexec
    /// sudo if there is a terminal, pkexec otherwise.
    case auto
    /// Neither: only the process itself makes changes.
    case none
  }

  /// The program that starts `program` as root.
  package var via: Via
  /// The absolute path of permcheck.
  package var program: PathBytes

  /// Creates a command with these values.
  package init(via: Via, program: PathBytes) {
    self.via = via
    self.program = program
  }

  /// Runs the program as root.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the program.
  ///   - system: The system that starts the program.
  /// - Throws: If the user is not allowed to run the program, or the program fails.
  package func run(_ arguments: [PathBytes], _ system: any System) throws(PermissionError) {
    let hasTerminal =
      system.isatty(Descriptor(rawValue: 0)) && system.isatty(Descriptor(rawValue: 2))
    let bySudo: [PathBytes] = ["sudo"] + (hasTerminal ? ["--"] : ["-n", "--"])
    let byPolkit: [PathBytes] = ["pkexec", "--disable-internal-agent"]
    let prefix: [PathBytes]
    switch via {
    case .none:
      throw PermissionError(
        .changeFailed, "only root may make this change", advice: "use sudo or pkexec")
    case .sudo: prefix = bySudo
    case .pkexec: prefix = byPolkit
    case .auto: prefix = hasTerminal ? bySudo : byPolkit
    }
    let end: ProcessEnd
    do throws(Errno) {
      end = try system.run(prefix + [program] + arguments)
    } catch {
      throw PermissionError(
        .changeFailed, "\(prefix[0]) cannot be run", path: prefix[0], call: "posix_spawn",
        errno: error, advice: "run permcheck as root")
    }
    switch end {
    // 0, 2 and 3 are answers; the next check decides.
    case .exited(0), .exited(2), .exited(3): return
    case .exited(126) where prefix[0] == "pkexec":
      throw PermissionError(.changeFailed, "the password dialog was dismissed")
    case .exited(127) where prefix[0] == "pkexec":
      throw PermissionError(
        .changeFailed,
        "polkit does not allow this session to change access, or found nobody to ask",
        advice: "try again at the seat, or use sudo")
    case .exited(1) where prefix[0] == "sudo":
      throw PermissionError(
        .changeFailed, "sudo did not run permcheck",
        advice: hasTerminal ? nil : "try again at a terminal, or as root")
    case .exited(let status):
      throw PermissionError(
        .changeFailed, "\(prefix[0]), or permcheck as root, failed with status \(status)")
    case .signalled(let signal):
      throw PermissionError(.changeFailed, "signal \(signal) ended \(prefix[0])")
    }
  }
}
