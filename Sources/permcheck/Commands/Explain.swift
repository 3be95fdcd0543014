import ArgumentParser
import PermissionKit
import PermissionKitPlugins

struct Explain: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows each step of the path, and the smallest fix.",
    discussion: """
      EXAMPLES
        permcheck explain camera
        permcheck explain /srv/photos/2024/a.jpg --user www-data
        permcheck explain ./upload --need rwx --pid 4242
        permcheck explain /srv --json > facts.json   for permcheck evaluate

      An argument with a slash is a path; any other argument is an accessor.
      """)

  @Argument(
    help: ArgumentHelp("An accessor (camera, mic=PATH, …) or a path.", valueName: "name|path"),
    completion: .accessors)
  var names: [PathBytes]

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions

  /// The same question, without the parser.
  var choice: ExplainChoice {
    ExplainChoice(names: names, all: all, subject: subject.choice, output: output.choice)
  }

  func run(_ accessors: Accessors) throws {
    let status = try choice.run(accessors)
    if status != .authorized { throw status.code }
  }
}
