import ArgumentParser
import PermissionKit

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the accessors that can be asked for.")

  @OptionGroup var output: OutputOptions

  private struct Item: Encodable {
    let name: String
    let aliases: [String]
    let summary: String
  }

  func run() throws {
    let console = Console(LinuxSystem(), output)
    let items = AccessorRegistry.standard.entries.map {
      Item(name: $0.name, aliases: $0.aliases, summary: $0.summary)
    }
    switch output.chosen {
    case .json: console.print(try JSONFormat.text(Listing(accessors: items)))
    case .plain:
      console.print(
        items.map {
          [$0.name, $0.aliases.joined(separator: ","), $0.summary].joined(separator: "\t")
        }
        .map { $0 + "\n" }.joined())
    case .human:
      console.print(
        Table(
          items.map { item in
            [
              console.style.bold(item.name),
              item.aliases.isEmpty ? "" : "(\(item.aliases.joined(separator: ", ")))", item.summary,
            ]
          }
        ).text)
    }
    try console.finish(.authorized)
  }
}
