import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitLogging

/// The option that chooses the analytics log.
struct LogOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write the analytics log to this file, to journald, syslog, standard error (-) or none.",
      discussion:
        "Default: PERMCHECK_LOG, or $XDG_STATE_HOME/permcheck/analytics.jsonl; for root, /var/lib/permcheck/analytics.jsonl. Beyond 1 MB the default file gets the name analytics.jsonl.1.",
      valueName: "file"),
    completion: .file())
  var log: PathBytes?

  /// The log that the option chooses.
  var choice: LogChoice { LogChoice(file: log) }
}

/// The analytics log of a command.
struct LogChoice: Equatable {
  /// The file of `--log`, `-`, `none`, `journald` or `syslog`; nil without it.
  var file: PathBytes?

  func analytics(_ system: any System) -> AnalyticsLog {
    guard let place = chosen(system) else { return AnalyticsLog(DiscardLogging(), system: system) }
    if isNamed(system) {
      let strategy = AnalyticsLog.strategy(place, identifier: Tool.name, system)
      return AnalyticsLog(strategy, system: system, reportsFailure: false)
    }
    var log = FileLogging(place, system: system)
    log.sizeLimit = 1 << 20
    return AnalyticsLog(log, system: system, reportsFailure: false)
  }

  /// Whether the caller chose the log, by the option or the environment.
  func isNamed(_ system: any System) -> Bool {
    file != nil || system.getenv("PERMCHECK_LOG")?.isEmpty == false
  }

  /// Warns that events were lost: always for a log that the caller chose.
  func report(_ analytics: AnalyticsLog, _ console: Console, _ output: OutputChoice) {
    guard !output.quiet, let failure = analytics.failure,
      output.verbose || isNamed(analytics.system)
    else { return }
    console.warn(failure.description)
  }

  /// Returns the file, or the word that stands for no file; nil if there is no default log.
  func chosen(_ system: any System) -> PathBytes? {
    if let file { return file }
    if let set = system.getenv("PERMCHECK_LOG"), !set.isEmpty { return set }
    // Root's files are never in the home of the user who called sudo.
    if system.isRoot {
      return "/var/lib/permcheck/analytics.jsonl"
    }
    if let state = system.getenv("XDG_STATE_HOME"), state.isAbsolute {
      return state.appending("permcheck/analytics.jsonl")
    }
    guard let subject = try? UserDatabase(system).subject(.current), let home = subject.home,
      home.isAbsolute
    else { return nil }
    return home.appending(".local/state/permcheck/analytics.jsonl")
  }
}
