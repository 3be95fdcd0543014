import ArgumentParser
import PermissionKit

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explains the result: each step of the path, and the smallest change that helps.",
    discussion: """
      An argument with a slash is a path; any other argument is an accessor.

      EXAMPLES
        permcheck explain camera
        permcheck explain /srv/photos/2024/a.jpg --user www-data
        permcheck explain ./upload --need rwx --pid 4242
        permcheck explain /srv --json > facts.json   for permcheck evaluate
      """)

  @Argument(
    help: ArgumentHelp("An accessor (camera, mic=PATH, …) or a path.", valueName: "name|path"),
    completion: .list(AccessorArgument.known))
  var names: [PathBytes]

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let system = LinuxSystem()
    let context = try subject.context(system)
    let arguments = try names.map { try Operand($0, through: subject.through) }
    let explanation = try Explainer(context).explain {
      (subject) throws(PermissionError) -> [Inspection.Target] in
      var targets: [Inspection.Target] = []
      for argument in arguments { targets.append(try argument.target(context, subject)) }
      return targets
    }
    let console = Console(system, output)
    if !output.quiet { subject.warnOfRoot(context, console) }
    try Explain.print(explanation, console: console, output, wantsAll: all)
  }

  /// An argument of the command.
  private enum Operand {
    case path(PathBytes)
    case accessor(AccessorArgument)

    init(_ argument: PathBytes, through: Way) throws {
      let name = argument.bytes.prefix { $0 != UInt8(ascii: "=") }
      if argument.isEmpty { throw ValidationError("the path is empty") }
      if name.contains(UInt8(ascii: "/")) || argument == "." || argument == ".." {
        self = .path(argument)
      } else {
        self = .accessor(try AccessorArgument(argument, .standard, through: through))
      }
    }

    func target(
      _ context: AccessContext, _ subject: Subject
    ) throws(PermissionError) -> Inspection.Target {
      switch self {
      case .path(let path): return Inspection.Target(path: context.belowRoot(path), in: context)
      case .accessor(let argument):
        let accessor = argument.accessor(context, .discard)
        guard let set = (accessor as? ResourceAccessor)?.resources(for: subject) else {
          throw PermissionError(
            .invalidArgument, "\(accessor.name) has no resources to explain")
        }
        return Inspection.Target(name: accessor.name, set: set)
      }
    }
  }

  /// Prints an explanation of present or saved facts, and throws the exit status unless it is 0.
  static func print(
    _ explanation: Explainer.Explanation, console: Console, _ output: OutputOptions,
    wantsAll: Bool
  ) throws {
    let status = ExitStatus(
      explanation.reports.map(\.status), wantsAll: wantsAll, skipsUnavailable: false)
    let result = ExplainResult(explanation: explanation, status: status)
    console.print(try output.format(console).text(result))
    try console.finish(status)
  }
}
