import ArgumentParser
import PermissionKit

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks whether accessors can be used; the exit status gives the answer.",
    discussion: """
      EXAMPLES
        permcheck camera mic photos
        permcheck check camera --user www-data --json
        permcheck photos=/srv/photos --need rx
        permcheck camera --all --skip-unavailable   for CI: all cameras there are
        permcheck camera --wait 5                   waits for udev
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, microphone (mic) or photos; =PATH checks one node or folder.",
      valueName: "name[=path]"))
  var names: [PathBytes]

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Flag(help: "Exit with 77 if everything is unavailable.")
  var skipUnavailable = false

  @Option(
    help: ArgumentHelp(
      "Wait up to this long for access: 5, 0.5, 2m.", valueName: "duration"))
  var wait: TimeSpan?

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  func run() throws {
    let system = LinuxSystem()
    let requests = try names.map { try AccessorArgument($0, .standard) }
    var context = try subject.context(system)
    context.wantsDetail = output.verbose
    let analytics = log.analytics(system)
    if let wait { try waitForAccess(wait, subject.factories(requests, context, .discard), system) }
    let factories = subject.factories(requests, context, analytics)
    let reports = try factories.map { try $0().currentAccess() }
    let status = status(reports)

    let console = Console(system, output)
    if output.verbose, let failure = analytics.failure {
      console.warn(failure.description)
    }
    let commands = names.map { subject.requestCommand($0, context) }
    let result = CheckResult(
      subject: try subject.judged(reports, context), reports: reports, status: status,
      requests: commands)
    console.print(try output.format(console).text(result))
    try console.finish(status)
  }

  private func status(_ reports: [AccessReport]) -> ExitStatus {
    ExitStatus(reports.map(\.status), wantsAll: all, skipsUnavailable: skipUnavailable)
  }

  /// Waits until there is access or the time is over.
  private func waitForAccess(
    _ time: TimeSpan, _ factories: [AccessWatcher.Factory], _ system: any System
  ) throws {
    let end = system.monotonic() + time.microseconds
    if status(try factories.map { try $0().currentAccess() }) == .authorized { return }
    let watcher = try AccessWatcher(system, factories)
    while status(watcher.reports) != .authorized {
      guard case .checked = try watcher.next(until: end) else { return }
    }
  }
}
