import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct Watch: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints a line for each change of access.",
    discussion: """
      EXAMPLES
        permcheck watch camera mic
        permcheck watch camera --user www-data --json
        permcheck watch camera=/dev/video0 --for 60 -q; echo $?

      The first lines show the current status of each accessor. Changes in quick
      succession give one line, which shows the final status. Ctrl-C, a closed pipe
      or --for ends the watch; the exit status is that of permcheck check for the
      last lines.

      Causes: node-added, node-removed, mode, owner, acl, mount, parent,
      group-database, settings, other.
      """)

  @Argument(help: .accessors, completion: .accessors)
  var names: [PathBytes]

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp("Stop after this time: 60, 2m, 1h30m.", valueName: "duration"))
  var time: TimeSpan?

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Flag(help: "Skip devices that are not there; exit with 77 if there is nothing else.")
  var skipUnavailable = false

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  func run(_ accessors: Accessors) throws {
    let system = LinuxSystem()
    let (subject, output, log) = (subject.choice, output.choice, log.choice)
    let requests = try names.map {
      try AccessorArgument($0, accessors, through: subject.through, wantsAll: all)
    }
    let context = try subject.context(system)
    let analytics = log.analytics(system)
    let console = Console(system, output)
    let end = time.map { system.monotonic() + $0.microseconds }
    let watcher = try AccessWatcher(
      system, stoppedBy: try Self.stopRequests(system),
      subject.watched(requests, context, analytics))
    if output.verbose {
      for (path, errno) in watcher.unseen {
        console.warn("\(path) cannot be watched (\(errno)); it is checked every second")
      }
    }

    let format = output.format(console)
    let start = system.realtime()
    let reports = watcher.reports
    var (isRead, day) = (true, Int64?.none)
    func print(_ content: WatchLine.Content) throws {
      var line = WatchLine(content: content, reports: reports, system: system)
      line.isNewDay = line.day != day
      day = line.day
      console.print(try format.text(line))
      isRead = try console.flush()
    }
    for report in reports where isRead { try print(.first(report, time: start)) }
    while isRead, case .checked(let changes) = try watcher.next(until: end) {
      for change in changes where isRead && (change.isOfAccessor || output.verbose) {
        try print(.change(change))
      }
    }
    log.report(analytics, console, output)
    try console.finish(
      ExitStatus(watcher.reports, skipsAbsent: skipUnavailable))
  }

  /// Returns the events that end the watch: SIGHUP, SIGINT, SIGPIPE, SIGTERM, and a closed output.
  static func stopRequests(
    _ system: any System, output: Descriptor = .standardOutput
  ) throws -> [PollRequest] {
    do throws(Errno) {
      return [
        PollRequest(
          try system.signalfd([SignalInfo.hangup, SignalInfo.interrupt, 13, SignalInfo.terminate]),
          .readable),
        PollRequest(output, []),
      ]
    } catch {
      throw PermissionError(
        .system, "waiting for signals failed", call: "signalfd", errno: error)
    }
  }
}
