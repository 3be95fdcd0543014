import ArgumentParser
import PermissionKit

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the accessors that can be asked for, or what was granted.")

  @Flag(help: "What permcheck request has given and not taken back.")
  var grants = false

  @OptionGroup var output: OutputOptions

  private struct Item: Encodable {
    let name: String
    let aliases: [String]
    let summary: String
  }

  func run() throws {
    if grants { return try listGrants(LinuxSystem()) }
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

  private struct GrantItem: Encodable {
    let id: String
    let accessor: String
    let uid: UInt32
    let user: String
    let place: String
    let change: String
    let command: [String]
    let time: String
    let expires: String?
    let pid: Int32?
    let stage: String
  }

  private func listGrants(_ system: any System) throws {
    let console = Console(system, output)
    let users = UserDatabase(system)
    let journal = try GrantJournal.standard(system)
    let items = try journal.grants().map { grant in
      GrantItem(
        id: grant.id, accessor: grant.accessor, uid: grant.uid, user: users.userName(grant.uid),
        place: grant.place, change: grant.change.command.summary,
        command: grant.change.command.arguments.map(\.description), time: grant.time,
        expires: grant.lifetime.expires.map(Timestamp.rfc3339),
        pid: grant.lifetime.process?.pid, stage: grant.stage.rawValue)
    }
    let rows = items.map { item in
      [
        item.accessor, item.user, item.place, item.change, "since \(item.time)",
        item.expires.map { "until \($0)" } ?? item.pid.map { "with process \($0)" } ?? "",
      ].map(Sanitizer.clean)
    }
    switch output.chosen {
    case .json: console.print(try JSONFormat.text(GrantListing(grants: items)))
    case .plain: console.print(rows.map { $0.joined(separator: "\t") + "\n" }.joined())
    case .human where rows.isEmpty:
      console.print("nothing is granted by \(Sanitizer.clean(journal.path.description))\n")
    case .human: console.print(Table(rows).text)
    }
    try console.finish(.authorized)
  }

  private struct GrantListing: Encodable {
    var schemaVersion = 1
    let grants: [GrantItem]
  }
}
