import ArgumentParser
import PermissionKit

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks whether accessors can be used; the exit status gives the answer.",
    discussion: """
      EXAMPLES
        permcheck camera mic photos
        permcheck check camera --user www-data --json
        permcheck photos=/srv/photos --need rx
        permcheck camera --all --skip-unavailable   for CI: all cameras there are
        permcheck camera --wait 5s                  waits for udev
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, microphone (mic) or photos, by default all; =PATH checks one node or folder.",
      valueName: "name[=path]"),
    completion: .accessors)
  var names: [PathBytes] = []

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Flag(help: "Exit with 77 if everything is unavailable.")
  var skipUnavailable = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Wait up to this long for access: 5, 0.5, 2m.", valueName: "duration"))
  var wait: TimeSpan?

  @OptionGroup var result: ResultOptions
  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  /// The same check, without the parser.
  var choice: CheckChoice {
    var output = output.choice
    output.file = result.file
    return CheckChoice(
      names: names, all: all, skipUnavailable: skipUnavailable, wait: wait,
      subject: subject.choice, output: output, log: log.choice)
  }

  func run() throws {
    let status = try choice.run()
    if status != .authorized { throw status.code }
  }
}
