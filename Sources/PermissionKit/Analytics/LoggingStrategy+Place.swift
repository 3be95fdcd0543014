extension AnalyticsLog {
  /// Returns the strategy that an option of a command names.
  ///
  /// - Parameters:
  ///   - place: `-` for standard error, `none` for nowhere, else a file, whose folder must exist.
  ///   - system: The system that writes.
  /// - Returns: The strategy; nothing is opened before the first event.
  package static func strategy(
    _ place: PathBytes, _ system: any System
  ) -> any LoggingStrategy {
    switch place {
    case "none": return DiscardLogging()
    case "-": return StandardErrorLogging(system: system)
    default:
      var log = FileLogging(place, system: system)
      // A file that somebody names is theirs to tidy up, and its folder may be a mistake.
      log.createsFolder = false
      return log
    }
  }
}
