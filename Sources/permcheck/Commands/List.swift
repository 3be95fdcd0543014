import ArgumentParser
import PermissionKit

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the accessors, or the grants that permcheck request made.")

  @Flag(help: "List the grants that are not revoked.")
  var grants = false

  @OptionGroup var output: FormatOptions

  func run() throws {
    let system = LinuxSystem()
    let console = Console(system, color: output.color)
    let format = output.format(console)
    if grants {
      let journal = try GrantJournal.standard(system)
      var grants = try journal.grants()
      let own = try system.credentials().user.real
      // An ordinary user also sees what root granted.
      if own != 0 { grants += GrantMirror(system).grants(of: own) }
      let listing = GrantListing(
        grants: grants, users: UserDatabase(system), journal: journal.path,
        time: system.realtime())
      console.print(try format.text(listing))
    } else {
      console.print(try format.text(AccessorListing(entries: AccessorRegistry.standard.entries)))
    }
    try console.finish(.authorized)
  }
}
