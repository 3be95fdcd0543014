import ArgumentParser
import FoundationEssentials
import PermissionKit

struct Evaluate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Judges facts that permcheck explain --json saved, anywhere, without privileges.",
    discussion: """
      EXAMPLES
        permcheck explain camera --json > facts.json
        permcheck evaluate facts.json
        permcheck evaluate facts.json --user-facts other.json   for another subject
        permcheck explain camera --json | permcheck evaluate -
      """)

  @Argument(
    help: ArgumentHelp(
      "What permcheck explain --json printed; - is standard input.", valueName: "facts"))
  var file: PathBytes

  @Option(help: ArgumentHelp("Judge for the subject of this document instead.", valueName: "facts"))
  var userFacts: PathBytes?

  @Flag(help: "Every resource must be usable, not just one.")
  var all = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let system = LinuxSystem()
    var document = try read(file, system)
    if let userFacts { document.credentials = try read(userFacts, system).credentials }
    let explanation = Explainer.explain(
      document.targets.map(\.target), subject: document.credentials.subject, facts: document.facts)
    try Explain.print(explanation, console: Console(system, output), output, wantsAll: all)
  }

  private func read(_ path: PathBytes, _ system: any System) throws -> FactsDocument {
    let name = path == "-" ? "standard input" : Sanitizer.clean(path.description)
    do {
      let bytes = try system.contents(of: path == "-" ? "/dev/stdin" : path, limit: 1 << 28)
      let document = try JSONDecoder().decode(FactsDocument.self, from: Data(bytes))
      guard document.schemaVersion == 1 else {
        throw ValidationError("\(name): schemaVersion \(document.schemaVersion) is not 1")
      }
      let asked = document.targets.flatMap(\.resources)
      guard document.facts.isConsistent, asked.allSatisfy({ !$0.need.isEmpty }) else {
        throw ValidationError("\(name): the facts contradict themselves")
      }
      return document
    } catch let error as Errno {
      throw ValidationError("\(name) cannot be read (\(error))")
    } catch is DecodingError {
      throw ValidationError("\(name) is no document of permcheck explain --json")
    }
  }
}
