import ArgumentParser
import PermissionKit

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows why: the walk to each resource or path, and the least change that helps.",
    discussion: """
      An argument with a slash is a path, any other an accessor.

      EXAMPLES
        permcheck explain camera
        permcheck explain /srv/photos/2024/a.jpg --user www-data
        permcheck explain ./upload --need rwx --pid 4242
        permcheck explain /srv --json > facts.json     see permcheck evaluate
      """)

  @Argument(
    help: ArgumentHelp("Accessors (camera, mic=PATH, …) and paths.", valueName: "name|path"))
  var names: [PathBytes]

  @Flag(help: "Every resource must be usable, not just one.")
  var all = false

  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let system = LinuxSystem()
    let context = try subject.context(system)
    let targets = try names.map { try target($0, context) }
    let explanation = try Explainer(context).explain(targets)
    try Explain.print(explanation, console: Console(system, output), output, wantsAll: all)
  }

  private func target(
    _ argument: PathBytes, _ context: AccessContext
  ) throws -> Explainer.Target {
    let name = argument.bytes.prefix { $0 != UInt8(ascii: "=") }
    if argument.isEmpty { throw ValidationError("an empty path names nothing") }
    if name.contains(UInt8(ascii: "/")) || argument == "." || argument == ".." {
      return Explainer.Target(
        path: context.belowRoot(argument), need: context.need, in: context.system)
    }
    let request = try Request(argument, .standard)
    var own = context
    own.path = request.path.map(context.belowRoot)
    let users = UserDatabase(context.system, root: context.root)
    let accessor = request.entry.make(own, .discard)
    let subject = if let given = context.subject { given } else { try users.currentSubject() }
    guard let resources = (accessor as? ResourceAccessor)?.resources(for: subject) else {
      throw ValidationError("\(request.entry.name) has no resources that could be explained")
    }
    return Explainer.Target(name: request.entry.name, set: resources)
  }

  /// Prints explanations, of this machine's or of saved facts.
  static func print(
    _ explanation: Explainer.Explanation, console: Console, _ output: OutputOptions,
    wantsAll: Bool
  ) throws {
    let status = ExitStatus(
      explanation.reports.map(\.status), wantsAll: wantsAll, skipsUnavailable: false)
    switch output.chosen {
    case .human:
      console.print(WalkFormat(console.style, explanation.subject).text(explanation.reports))
    case .plain: console.print(PlainFormat.text(explanation.reports))
    case .json: console.print(try JSONFormat.text(explanation, status: status))
    }
    try console.finish(status)
  }
}
