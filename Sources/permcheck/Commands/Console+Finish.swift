import ArgumentParser
import PermissionKit

extension Console {
  convenience init(_ system: any System, _ options: OutputOptions) {
    self.init(system, color: options.color, isQuiet: options.quiet)
  }

  /// Writes standard output and ends the run.
  func finish(_ status: ExitStatus) throws {
    try flush()
    if status != .authorized { throw status.code }
  }
}

extension ExitStatus {
  /// The status as the parser ends a run with.
  var code: ExitCode { ExitCode(rawValue) }
}
