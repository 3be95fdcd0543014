import ArgumentParser
import PermissionKit

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks accessors; the exit status says it all.",
    discussion: """
      EXAMPLES
        permcheck camera mic photos
        permcheck check camera --user www-data --json
        permcheck photos=/srv/photos --need rx
        permcheck camera --all --skip-unavailable   for CI: all there are
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, microphone (mic), photos; =PATH for one node or folder.", valueName: "name[=path]"))
  var names: [PathBytes]

  @Flag(help: "Every resource must be usable, not just one.")
  var all = false

  @Flag(help: "Exit with 77 when all that was asked for is unavailable.")
  var skipUnavailable = false

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  func run() throws {
    let system = LinuxSystem()
    let requests = try names.map { try Request($0, .standard) }
    var context = try subject.context(system)
    context.wantsDetail = output.verbose
    let analytics = log.analytics(system)
    let reports = requests.map { $0.accessor(context, analytics).currentAccess() }
    let status = ExitStatus(
      reports.map(\.status), wantsAll: all, skipsUnavailable: skipUnavailable)

    let console = Console(system, output)
    if output.verbose, let failure = analytics.failure {
      console.warn(failure.description)
    }
    switch output.chosen {
    case .human: console.print(HumanFormat(console.style, isVerbose: output.verbose).text(reports))
    case .plain: console.print(PlainFormat.text(reports))
    case .json:
      let asked = try context.subject ?? UserDatabase(system, root: context.root).currentSubject()
      console.print(try JSONFormat.text(reports, subject: asked, status: status))
    }
    try console.finish(status)
  }
}
