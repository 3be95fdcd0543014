/// A way to request access through a program that runs as root.
///
/// The program receives no path and no change. It computes the plan again, for the user who started
/// it.
public protocol Elevation: Sendable {
  /// Requests access for the calling user.
  ///
  /// - Parameter request: The accessor, the strategy and the permissions.
  /// - Returns: What the program answered.
  /// - Throws: If the program cannot be started, the user is not allowed to start it, or it fails.
  func request(_ request: ElevatedRequest) throws(PermissionError) -> HelperAnswer
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
    /// sudo, then pkexec: the first that is installed and lets the program run.
    case auto
    /// Neither: only the process itself makes changes.
    case none
  }

  /// The program that starts `program` as root.
  package var via: Via
  /// The absolute path of the program.
  package var program: PathBytes

  /// Creates a command with these values.
  package init(via: Via, program: PathBytes) {
    self.via = via
    self.program = program
  }

  private func hasTerminal(_ system: any System) -> Bool {
    system.isatty(.standardInput) && system.isatty(.standardError)
  }

  /// Returns the installed programs that start another program as root, in the order of trying.
  ///
  /// At a terminal sudo may ask for a password; elsewhere sudo helps only if a rule requires no
  /// password.
  private func starters(_ system: any System) -> [(name: PathBytes, path: PathBytes)] {
    let wanted: [PathBytes] =
      switch via {
      case .none: []
      case .sudo: ["sudo"]
      case .pkexec: ["pkexec"]
      case .auto: ["sudo", "pkexec"]
      }
    return wanted.compactMap { name in system.program(name).map { (name, $0) } }
  }

  /// Returns whether sudo or pkexec is installed, whether or not the user may use it.
  package func isAvailable(_ system: any System) -> Bool { !starters(system).isEmpty }

  /// Runs the program as root, by the first way that lets it run.
  ///
  /// - Returns: The standard output of the program.
  /// - Throws: If no way lets the program run.
  package func run(
    _ arguments: [PathBytes], asks: Bool, _ system: any System
  ) throws(PermissionError) -> [UInt8] {
    var failures: [PermissionError] = []
    for (starter, path) in starters(system) {
      let (output, end) = try run(starter, path, arguments, asks: asks, system)
      // The program always prints an answer.
      if !output.isEmpty { return output }
      let failure = failure(starter, end, system)
      // Whoever dismisses a dialog or presses Ctrl-C does not want another one.
      guard failure.code == .notAllowed, end != .exited(126) else { throw failure }
      failures.append(failure)
    }
    guard let first = failures.first else {
      throw PermissionError(
        .notAllowed, "only root may make this change", advice: "use sudo or pkexec")
    }
    throw PermissionError(
      .notAllowed, failures.map(\.message).joined(separator: "; "),
      advice: failures.count == 1 ? first.advice : "ask an administrator")
  }

  private func run(
    _ starter: PathBytes, _ path: PathBytes, _ arguments: [PathBytes], asks: Bool,
    _ system: any System
  ) throws(PermissionError) -> (output: [UInt8], end: ProcessEnd) {
    let options: [PathBytes] =
      starter == "pkexec"
      ? ["--disable-internal-agent"] : asks && hasTerminal(system) ? ["--"] : ["-n", "--"]
    var call = "open"
    do throws(Errno) {
      let file = try system.openat(
        .currentDirectory, "/tmp", [.temporaryFile, .readWrite], mode: 0o600)
      defer { system.close(file) }
      call = "execvp"
      let pid = try system.spawn([path] + options + [program] + arguments, output: file)
      while true {
        guard let end = try system.waitpid(pid, waits: true) else { continue }
        let link = file.link
        return (try system.contents(of: link), end)
      }
    } catch {
      throw PermissionError(
        .changeFailed, "\(starter) cannot be run", path: path, call: call, errno: error,
        advice: "run permcheck as root")
    }
  }

  /// Returns the error if sudo or pkexec ends and the program has not answered.
  private func failure(
    _ starter: PathBytes, _ end: ProcessEnd, _ system: any System
  ) -> PermissionError {
    switch end {
    case .exited(126) where starter == "pkexec":
      return PermissionError(.notAllowed, "the password dialog was dismissed")
    case .exited(127) where starter == "pkexec":
      return PermissionError(
        .notAllowed,
        "polkit does not allow this session to change access, or found no terminal to ask at",
        advice: "see pkaction(1) and whether a polkit agent runs in this session, or use sudo")
    case .exited(1) where starter == "sudo":
      return PermissionError(
        .notAllowed, "sudo does not let this user run \(program)",
        advice: hasTerminal(system)
          ? "an administrator can allow it in sudoers(5): USER ALL=(root) \(program)"
          : "try again at a terminal, or as root")
    case .exited(let status):
      return PermissionError(
        .changeFailed, "\(starter), or \(program) as root, failed with status \(status)")
    case .signalled(let signal):
      return PermissionError(.changeFailed, "signal \(signal) ended \(starter)")
    }
  }
}
