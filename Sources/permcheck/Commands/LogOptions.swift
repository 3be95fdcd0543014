import ArgumentParser
import PermissionKit

/// The option that chooses the analytics log.
struct LogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write the analytics log to this file, to standard error (-) or nowhere (none).",
      discussion:
        "Default: PERMCHECK_LOG, or $XDG_STATE_HOME/permcheck/analytics.jsonl; for root, /var/lib/permcheck/analytics.jsonl.",
      valueName: "file"))
  var log: PathBytes?

  func analytics(_ system: any System) -> AnalyticsLog {
    switch chosen(system) {
    case nil, "none": AnalyticsLog(DiscardLogging(), system: system)
    case "-": AnalyticsLog(StandardErrorLogging(system: system), system: system)
    case let file?: AnalyticsLog(FileLogging(file, system: system), system: system)
    }
  }

  /// Returns the file, `-` or `none`; nil if there is no default place.
  func chosen(_ system: any System) -> PathBytes? {
    if let log { return log }
    if let set = system.getenv("PERMCHECK_LOG"), !set.isEmpty { return set }
    // Root's files are never in the home of the user who called sudo.
    if (try? system.credentials())?.user.effective == 0 {
      return "/var/lib/permcheck/analytics.jsonl"
    }
    if let state = system.getenv("XDG_STATE_HOME"), state.isAbsolute {
      return state.appending("permcheck/analytics.jsonl")
    }
    guard let subject = try? UserDatabase(system).currentSubject(), let home = subject.home,
      home.isAbsolute
    else { return nil }
    return home.appending(".local/state/permcheck/analytics.jsonl")
  }
}
