import PermissionKit

/// This very program, started as root: the one place that spells its arguments.
struct ElevatedPermcheck: Elevation {
  private let command: RootCommand
  private let system: any System

  /// Creates it; nil for `none`, and where /proc does not name this program.
  init?(_ via: RootCommand.Via, _ system: any System) {
    guard via != .none, let program = Self.program(system) else { return nil }
    command = RootCommand(via: via, program: program)
    self.system = system
  }

  func request(_ request: ElevatedRequest) throws(PermissionError) {
    var arguments: [PathBytes] = [
      "request", "--elevated", "--yes", "--quiet", "--log", "none", "--strategy",
      PathBytes(request.strategy),
    ]
    if let need = request.need { arguments += ["--need", PathBytes(need.letters)] }
    if let expires = request.lifetime.expires {
      let seconds = max(1, (expires - system.realtime()) / 1_000_000)
      arguments += ["--for", PathBytes("\(seconds)s")]
    }
    if let process = request.lifetime.process {
      arguments += ["--while", PathBytes("\(process.pid)")]
    }
    try command.run(arguments + [PathBytes(request.accessor)], system)
  }

  /// Has root take back what root gave.
  ///
  /// - Parameter what: Names of accessors, `--all`, `--expired`, or `--while` with a process.
  /// - Throws: Where root could not be asked, or failed.
  func revoke(_ what: [PathBytes]) throws(PermissionError) {
    try command.run(["revoke", "--elevated", "--quiet"] + what, system)
  }

  private static func program(_ system: any System) -> PathBytes? {
    guard
      let link = try? system.openat(
        .currentDirectory, "/proc/self/exe", [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(link) }
    return try? system.readlinkat(link)
  }
}
