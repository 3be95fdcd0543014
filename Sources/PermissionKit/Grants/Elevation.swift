/// Has permcheck do as root what this process may not: it is given the accessor's name, and works
/// everything out again.
public struct Elevation: Hashable, Sendable {
  /// By which program.
  public enum Via: String, Hashable, Sendable, CaseIterable {
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
  public var via: Via
  /// The permcheck to run, as an absolute path.
  public var program: PathBytes

  /// Makes one of its parts.
  public init(via: Via, program: PathBytes) {
    self.via = via
    self.program = program
  }

  /// Runs permcheck as root.
  ///
  /// - Parameters:
  ///   - arguments: What it is to do.
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
        .changeFailed, "this is for root to do", advice: "ask by sudo or pkexec")
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
        errno: error, advice: "ask as root")
    }
    switch end {
    // Access is there, or cannot be told or be there: the check that follows here says so.
    case .exited(0), .exited(2), .exited(3): return
    case .exited(126) where prefix[0] == "pkexec":
      throw PermissionError(.changeFailed, "the request was dismissed")
    case .exited(127) where prefix[0] == "pkexec":
      throw PermissionError(
        .changeFailed, "polkit does not let this session change access, or has nobody to ask",
        advice: "ask from the seat, or by sudo")
    case .exited(1) where prefix[0] == "sudo":
      throw PermissionError(
        .changeFailed, "sudo did not let permcheck run",
        advice: hasTerminal ? nil : "ask at a terminal, or as root")
    case .exited(let status):
      throw PermissionError(.changeFailed, "\(prefix[0]) or permcheck as root failed (\(status))")
    case .signalled(let signal):
      throw PermissionError(.changeFailed, "\(prefix[0]) was ended by signal \(signal)")
    }
  }
}
