import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct List: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the names to check, or the grants.",
    discussion: """
      An accessor is built in, shipped, or declared by a file of /etc/permcheck/accessors.d
      or ~/.config/permcheck/accessors.d, or a program of PATH: permcheck-accessor-NAME.
      """)

  @Flag(help: "List the grants that are not revoked.")
  var grants = false

  @Flag(help: .init("Print every name and alias, one a line.", visibility: .hidden))
  var names = false

  @OptionGroup var output: FormatOptions

  func run(_ accessors: Accessors) throws {
    let system = accessors.system
    let console = Console(system, color: output.color)
    let format = output.format(console)
    if grants {
      let journal = try GrantJournal.standard(system)
      var (grants, damage) = try journal.grantsNow()
      let own = try system.credentials().user.real
      // An ordinary user also sees what root granted.
      if own != 0 { grants += GrantMirror(system).grants(of: own) }
      let listing = GrantListing(
        grants: grants, users: UserDatabase(system), journal: journal.path,
        time: system.realtime())
      console.print(try format.text(listing))
      if let damage {
        console.warn(damage.description)
        return try console.finish(.notDetermined)
      }
    } else if names {
      for name in accessors.names { console.print(name + "\n") }
    } else {
      console.print(
        try format.text(AccessorListing(entries: accessors.all.entries + accessors.executables)))
    }
    try console.finish(.authorized)
  }
}
