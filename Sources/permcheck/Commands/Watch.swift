import ArgumentParser
import PermissionKit

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints a line for each change of status, as it happens.",
    discussion: """
      First a line for each accessor as it is. Changes that come close together are one line; what
      is true at their end is always told. Ctrl-C, a closed pipe or --for ends it, and the exit
      status is that of the last line, as of permcheck check.

      Causes: node-added, node-removed, mode, owner, acl, mount, parent, group-database, settings,
      other.

      EXAMPLES
        permcheck watch camera mic
        permcheck watch camera --user www-data --json
        permcheck watch camera=/dev/video0 --for 60 -q; echo $?
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, microphone (mic), photos; =PATH for one node or folder.", valueName: "name[=path]"))
  var names: [PathBytes]

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("End after this time: 60, 2m, 1h30m.", valueName: "duration"))
  var time: TimeSpan?

  @Flag(help: "Every resource must be usable, not just one.")
  var all = false

  @Flag(help: "Exit with 77 when all that was asked for is unavailable.")
  var skipUnavailable = false

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  func run() throws {
    let system = LinuxSystem()
    let requests = try names.map { try AccessorArgument($0, .standard) }
    let context = try subject.context(system)
    let analytics = log.analytics(system)
    let console = Console(system, output)
    let end = time.map { system.monotonic() + $0.microseconds }
    let watcher = try AccessWatcher(
      system, stoppedBy: try stops(system), subject.makers(requests, context, analytics))
    if output.verbose {
      for (path, errno) in watcher.unseen {
        console.warn("\(path) cannot be watched (\(errno)): it is looked at every second")
      }
    }

    let format = output.format(console)
    let start = system.realtime()
    let reports = watcher.reports
    var isRead = true
    func print(_ content: WatchLine.Content) throws {
      let line = WatchLine(content: content, reports: reports, system: system)
      console.print(try format.text(line))
      isRead = try console.flush()
    }
    for report in reports where isRead { try print(.first(report, time: start)) }
    while isRead, case .checked(let changes) = try watcher.next(until: end) {
      for change in changes where isRead && (change.isOfAccessor || output.verbose) {
        try print(.change(change))
      }
    }
    if output.verbose, let failure = analytics.failure { console.warn(failure.description) }
    try console.finish(
      ExitStatus(
        watcher.reports.map(\.status), wantsAll: all, skipsUnavailable: skipUnavailable))
  }

  /// What ends the watch: SIGHUP, SIGINT, SIGPIPE, SIGTERM, and that nobody reads any more.
  private func stops(_ system: any System) throws -> [PollRequest] {
    do throws(Errno) {
      return [
        PollRequest(
          try system.signalfd([SignalInfo.hangup, SignalInfo.interrupt, 13, SignalInfo.terminate]),
          .readable),
        PollRequest(.standardOutput, []),
      ]
    } catch {
      throw PermissionError(
        .system, "signals cannot be waited for", call: "signalfd", errno: error)
    }
  }
}
