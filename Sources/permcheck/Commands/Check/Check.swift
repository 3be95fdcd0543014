import ArgumentParser
import PermissionKit
import PermissionKitPlugins

struct Check: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks access; the exit status is the answer.",
    discussion: """
      EXAMPLES
        permcheck camera mic photos
        permcheck check camera --user www-data --json
        permcheck /srv/photos/2024/a.jpg --user www-data
        permcheck camera mic --user ada --user www-data   a table
        permcheck photos=/srv/photos --group family       each member
        permcheck photos=/srv/photos --need rx --recursive   everything in it
        permcheck camera --all --skip-unavailable   for CI: all cameras there are
        permcheck camera --wait 5s                  waits for udev
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, mic and photos, by default all; or another of permcheck list; NAME=PATH for one node or folder; or any path.",
      valueName: "name|path"),
    completion: .accessors)
  var names: [PathBytes] = []

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Option(
    help: ArgumentHelp("Check for each member of this group.", valueName: "name"),
    completion: .groupNames)
  var group: TextArgument?

  @Flag(help: "Check for every user of this machine.")
  var allUsers = false

  @Flag(help: "Also check everything in a folder; execute is not needed for the files.")
  var recursive = false

  @Flag(help: "Skip devices that are not there; exit with 77 if there is nothing else.")
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
    var subject = subject.choice
    if let group { subject.who = [.group(group.text)] }
    if allUsers { subject.who = [.everybody] }
    return CheckChoice(
      names: names, all: all, recursive: recursive, skipUnavailable: skipUnavailable, wait: wait,
      subject: subject, output: output, log: log.choice)
  }

  func validate() throws {
    let isNamed = subject.who.user != nil || subject.who.uid != nil || subject.view.pid != nil
    if [isNamed, group != nil, allUsers].count(where: { $0 }) > 1 {
      throw ValidationError("--user, --uid, --pid, --group and --all-users cannot be combined")
    }
    if wait != nil, choice.subject.isOfMany {
      throw ValidationError("--wait works for one user only")
    }
    if wait != nil, recursive {
      throw ValidationError(
        "--wait cannot be combined with --recursive, because it sees only changes of the folder itself"
      )
    }
  }

  func run(_ accessors: Accessors) throws {
    let status = try choice.run(accessors)
    if status != .authorized { throw status.code }
  }
}
