package import PermissionKit

extension AnalyticsLog {
  /// Returns the strategy that an option of a command names.
  ///
  /// - Parameters:
  ///   - place: `-` for standard error, `none` for nowhere, `journald`, `syslog`, else a file, whose
  ///     folder must exist: `./syslog` is a file of that name.
  ///   - identifier: The name of the tool, for the journal and syslog.
  ///   - system: The system that writes.
  /// - Returns: The strategy; nothing is opened before the first event.
  package static func strategy(
    _ place: PathBytes, identifier: String, _ system: any System
  ) -> any LoggingStrategy {
    switch place {
    case "none": return DiscardLogging()
    case "-": return StandardErrorLogging(system: system)
    case "journald": return JournaldLogging(identifier: identifier, system: system)
    case "syslog": return SyslogLogging(identifier: identifier, system: system)
    default:
      var log = FileLogging(place, system: system)
      // A file that somebody names is theirs to tidy up, and its folder may be a mistake.
      log.createsFolder = false
      return log
    }
  }

  /// The values of the option that are not files.
  package static var placesWithoutFile: [PathBytes] { ["none", "-", "journald", "syslog"] }
}
