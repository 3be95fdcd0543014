import ArgumentParser
import PermissionDocuments
import PermissionKit

struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the JSON Schema of the documents that --json prints.")

  func run() throws {
    let console = Console(LinuxSystem())
    console.print(Documents.schema)
    try console.finish(.authorized)
  }
}
