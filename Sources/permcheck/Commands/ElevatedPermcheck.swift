import PermissionKit

/// Runs this program as root; the only place that writes its command line.
struct ElevatedPermcheck: Elevation {
  private let command: RootCommand
  private let system: any System

  /// Creates the command; nil for `none`, and if /proc does not show the path of this program.
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
    if let expires = request.expires {
      let seconds = max(1, (expires - system.realtime()) / 1_000_000)
      arguments += ["--for", PathBytes("\(seconds)s")]
    }
    if let process = request.process {
      arguments += ["--while", PathBytes("\(process)")]
    }
    try command.run(arguments + [PathBytes(request.accessor)], system)
  }

  /// Revokes grants that root made for the calling user.
  ///
  /// - Parameter selection: Names of accessors, `--all`, `--expired`, or `--while` with a process.
  /// - Throws: If the program cannot run as root, or fails.
  func revoke(_ selection: [PathBytes]) throws(PermissionError) {
    try command.run(["revoke", "--elevated", "--quiet"] + selection, system)
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
