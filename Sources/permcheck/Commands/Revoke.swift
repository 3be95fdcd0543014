import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct Revoke: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revokes the access that permcheck request gave.",
    discussion: """
      Undoes only the changes that permcheck made; later changes by others stay.

      EXAMPLES
        permcheck revoke camera
        sudo permcheck revoke mic --user tester
        permcheck revoke --expired
        permcheck revoke --all --dry-run
      """)

  @Argument(
    help: ArgumentHelp("camera, mic, photos or another of permcheck list.", valueName: "name"),
    completion: .accessors)
  var names: [PathBytes] = []

  @Flag(help: "Revoke every grant.")
  var all = false

  @Flag(help: "Revoke the grants whose time is over, see request --for.")
  var expired = false

  @Flag(
    help: "Also drop grants whose file is not found, which would keep the access if it came back.")
  var forget = false

  @Option(
    help: ArgumentHelp("Revoke only the grants to this user.", valueName: "name|uid"),
    completion: .users)
  var user: TextArgument?

  @Option(help: "How to become root if needed: sudo, pkexec, auto (sudo, then pkexec) or none.")
  var via: RootCommand.Via = .auto

  @Flag(name: [.customShort("n"), .long], help: "Show what would be revoked; change nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  @OptionGroup var output: FormatOptions

  func validate() throws {
    if names.isEmpty, !all, !expired {
      throw ValidationError("name the accessors to revoke, or use --all or --expired")
    }
    if [!names.isEmpty, all, expired].count(where: { $0 }) > 1 {
      throw ValidationError("names, --all and --expired cannot be combined")
    }
  }

  func run(_ accessors: Accessors) throws {
    let system = LinuxSystem()
    let console = Console(system, color: output.color, isQuiet: quiet)
    let journal = try GrantJournal.standard(system)
    let isRoot = try system.credentials().isRoot
    var result = RevokeResult(
      users: UserDatabase(system), journal: journal.path, time: system.realtime(),
      isDryRun: dryRun)
    let (uid, isSelected) = try selection(accessors, journal, system)
    let byRoot =
      isRoot
      ? [] : GrantMirror(system).grants(of: try system.credentials().user.real).filter(isSelected)
    if dryRun {
      let journaled = try journal.grants(of: uid)
      result.open = journaled.filter { $0.stage == .missing }
      result.revoked = journaled.filter { isSelected($0) && $0.stage != .missing }
      for (_, grants, isServed) in shares(byRoot, system) {
        if isServed { result.revoked += grants } else { result.open += grants }
      }
    } else {
      var outcome = try journal.undo(of: uid, isSelected)
      if forget {
        let forgotten = try journal.forget(isSelected)
        outcome.grants += forgotten.grants
        outcome.missing = forgotten.missing
      }
      for note in outcome.notes { console.warn(note) }
      result.revoked = outcome.recovered + outcome.grants
      result.open = outcome.missing
      try revoke(byRoot, console, system, &result)
    }
    // A missing grant is neither revoked nor certainly there.
    result.status = result.open.isEmpty ? .authorized : .notDetermined
    console.print(try output.format(console).text(result))
    try console.finish(result.status)
  }

  /// Returns the user of `--user`, and which grants the arguments select.
  private func selection(
    _ accessors: Accessors, _ journal: GrantJournal, _ system: LinuxSystem
  ) throws -> (UInt32?, (Grant) -> Bool) {
    let names = try self.names.map { try name($0, accessors, journal, system) }
    var uid: UInt32?
    if let user {
      do throws(PermissionError) {
        uid = try UserDatabase(system).subject(.user(user.text)).credentials.user.fileSystem
      } catch {
        // A user who is not in the data base may still have grants.
        guard let number = UInt32(user.text) else { throw error }
        uid = number
      }
    }
    let (only, wantsExpired, time) = (uid, expired, system.realtime())
    return (
      uid,
      { grant in
        if let only, grant.uid != only { return false }
        if wantsExpired { return grant.lifetime.expires.map { $0 <= time } ?? false }
        return names.isEmpty || names.contains(grant.accessor)
      }
    )
  }

  /// Returns the name of an accessor; its declaration may be gone, and its grants still there.
  private func name(
    _ argument: PathBytes, _ accessors: Accessors, _ journal: GrantJournal, _ system: LinuxSystem
  ) throws -> String {
    do {
      return try AccessorArgument(argument, accessors).entry.name
    } catch {
      let name = argument.description
      let own = (try? journal.grants()) ?? []
      let byRoot = GrantMirror(system).grants(of: try system.credentials().user.real)
      guard (own + byRoot).contains(where: { $0.accessor == name }) else { throw error }
      return name
    }
  }

  /// Returns the grants that root made by accessor, each with whether the helper can take them back.
  ///
  /// It takes back everything that it gave the user for an accessor, and devices alone.
  private func shares(
    _ grants: [Grant], _ system: any System
  ) -> [(accessor: String, grants: [Grant], isServed: Bool)] {
    guard let uid = grants.first?.uid else { return [] }
    let all = GrantMirror(system).grants(of: uid)
    let isThere = HelperElevation(via, system) != nil
    return Set(grants.map(\.accessor)).sorted().map { name in
      let own = grants.filter { $0.accessor == name }
      let areDevices = own.allSatisfy { grant in
        if case .inode(let change) = grant.change { change.isOfDevice } else { false }
      }
      let isWhole = own.count == all.count { $0.accessor == name }
      return (name, own, isThere && areDevices && isWhole)
    }
  }

  /// Revokes grants that root made, through the helper; tells the administrator's command for others.
  private func revoke(
    _ grants: [Grant], _ console: Console, _ system: any System, _ result: inout RevokeResult
  ) throws {
    for (name, own, isServed) in shares(grants, system) {
      guard isServed, let helper = HelperElevation(via, system) else {
        let user = try UserDatabase(system).subject(.current)
        var words: [PathBytes] = [
          "sudo", Tool.word(system), "revoke", expired ? "--expired" : PathBytes(name), "--user",
        ]
        words.append(PathBytes(user.name ?? "\(user.credentials.user.real)"))
        Console.report(
          "only an administrator may revoke this access to \(name):\n  \(words.map(shellQuoted).joined(separator: " "))",
          system)
        result.open += own
        continue
      }
      do throws(PermissionError) {
        for note in try helper.revoke(name).notes { console.warn(note) }
      } catch {
        console.warn("\(name): \(error.description)")
      }
      let left = Set(GrantMirror(system).grants(of: own[0].uid).map(\.id))
      result.open += own.filter { left.contains($0.id) }
      result.revoked += own.filter { !left.contains($0.id) }
    }
  }
}
