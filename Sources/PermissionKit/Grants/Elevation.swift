/// Has another program do as root what this process may not.
///
/// That program works everything out again for the user who asks; it is told no path and no change.
public protocol Elevation: Sendable {
  /// Asks for access on behalf of the calling user.
  ///
  /// - Throws: Where root could not be asked, did not agree, or failed.
  func request(_ request: ElevatedRequest) throws(PermissionError)
}

/// What the root side is asked for.
public struct ElevatedRequest: Hashable, Sendable {
  /// The accessor's name.
  public let accessor: String
  /// The name of the strategy.
  public let strategy: String
  /// What is wanted of each resource; nil for what the accessor needs.
  public let need: Permissions?
  /// How long the access is wanted.
  package let lifetime: Grant.Lifetime

  package init(
    accessor: String, strategy: String, need: Permissions?, lifetime: Grant.Lifetime
  ) {
    self.accessor = accessor
    self.strategy = strategy
    self.need = need
    self.lifetime = lifetime
  }
}

/// Starts a program as root by sudo(8) or pkexec(1).
package struct RootCommand: Hashable, Sendable {
  /// By which program.
  package enum Via: String, Hashable, Sendable, CaseIterable {
    /// sudo(8): asks on the terminal.
    case sudo
    /// pkexec(1): polkit decides, and asks through the agent of the session.
    case pkexec
    /// sudo at a terminal, otherwise pkexec.
    case auto
    /// Not at all.
    case none
  }

  /// By which program.
  package var via: Via
  /// The permcheck to run, as an absolute path.
  package var program: PathBytes

  /// Creates the command.
  package init(via: Via, program: PathBytes) {
    self.via = via
    self.program = program
  }

  /// Runs the program as root.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the program.
  ///   - system: What starts it.
  /// - Throws: Where it was not let, or failed.
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
