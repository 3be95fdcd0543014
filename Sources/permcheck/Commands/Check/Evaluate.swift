import ArgumentParser
import PermissionDocuments
import PermissionKit

struct Evaluate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate",
    abstract: "Checks the facts that explain --json saved.",
    usage: "permcheck evaluate FACTS [OPTION …]",
    discussion: """
      EXAMPLES
        permcheck explain camera --json > facts.json
        permcheck evaluate facts.json
        permcheck evaluate facts.json --user-facts other.json   for another subject
        permcheck explain camera --json | permcheck evaluate -
      """)

  @Argument(
    help: ArgumentHelp(
      "Output of permcheck explain --json; - reads standard input.", valueName: "facts"),
    completion: .file())
  var file: PathBytes

  @Option(
    help: ArgumentHelp("Check for the subject in this document instead.", valueName: "facts"),
    completion: .file())
  var userFacts: PathBytes?

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let system = LinuxSystem()
    var document = try read(file, system)
    if let userFacts {
      let other = try read(userFacts, system)
      document.subject = other.subject
      document.names.add(other.names, of: other.subject.credentials)
    }
    let explanation = Explanation(
      Inspection(
        saved: document.facts, subject: document.subject, targets: document.targets,
        names: document.names),
      acceptsLimited: !all)
    let output = output.choice
    let status = try ExplainChoice.print(
      explanation, console: Console(system, output), output)
    if status != .authorized { throw status.code }
  }

  private func read(_ path: PathBytes, _ system: any System) throws -> FactsDocument {
    let input = Input(path)
    let (name, bytes) = (input.name, try input.bytes(system))
    do throws(DocumentError) {
      return try FactsDocument(bytes)
    } catch {
      throw ValidationError("\(name) \(error.message)")
    }
  }
}
