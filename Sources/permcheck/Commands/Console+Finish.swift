import ArgumentParser
import PermissionKit

extension Console {
  convenience init(_ system: any System, _ output: OutputChoice) {
    self.init(system, color: output.color, isQuiet: output.quiet, file: output.file)
  }

  /// Writes standard output, and throws the exit status unless it is 0.
  func finish(_ status: ExitStatus) throws {
    try flush()
    if status != .authorized { throw status.code }
  }
}

extension ExitStatus {
  /// The status as an error of the parser, which exits with it.
  var code: ExitCode { ExitCode(rawValue) }
}
