import ArgumentParser
import PermissionKit

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the accessors that can be asked for, or what was granted.")

  @Flag(help: "What permcheck request has given and not taken back.")
  var grants = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let system = LinuxSystem()
    let console = Console(system, output)
    let format = output.format(console)
    if grants {
      let journal = try GrantJournal.standard(system)
      let listing = GrantListing(
        grants: try journal.grants(), users: UserDatabase(system), journal: journal.path)
      console.print(try format.text(listing))
    } else {
      console.print(try format.text(AccessorListing(entries: AccessorRegistry.standard.entries)))
    }
    try console.finish(.authorized)
  }
}
