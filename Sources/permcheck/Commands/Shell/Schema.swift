import ArgumentParser
import PermissionDocuments
import PermissionKit

struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the JSON Schema of what --json prints.",
    discussion: """
      EXAMPLES
        permcheck schema > permcheck.schema.json
        permcheck schema check
        permcheck schema list --grants

      Without a command it prints the schema of all documents. Within schemaVersion 1
      members and codes may be added; existing ones keep their meaning.
      """)

  @Argument(
    help: ArgumentHelp("Only what this command prints.", valueName: "command"),
    completion: .documents)
  var command: String?

  @Flag(help: "With list: what permcheck list --grants prints.")
  var grants = false

  func run() throws {
    let name = command.map { grants ? "\($0) --grants" : $0 }
    guard let schema = Documents.schema(of: name) else {
      throw ValidationError(
        "permcheck \(Sanitizer.clean(name ?? "")) prints no JSON; known: \(Documents.commandNames.joined(separator: ", "))"
      )
    }
    let console = Console(LinuxSystem())
    console.print(schema)
    try console.finish(.authorized)
  }
}
