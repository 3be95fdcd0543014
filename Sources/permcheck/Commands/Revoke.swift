import ArgumentParser
import PermissionDocuments
import PermissionKit

struct Revoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revokes the access that permcheck request gave.",
    discussion: """
      Undoes only the changes that permcheck made; later changes by others stay.

      EXAMPLES
        permcheck revoke camera
        sudo permcheck revoke mic --user tester
        permcheck revoke --expired
        permcheck revoke --all
      """)

  @Argument(
    help: ArgumentHelp("camera, microphone (mic) or photos.", valueName: "name"),
    completion: .list(AccessorArgument.known))
  var names: [PathBytes] = []

  @Flag(help: "Revoke every grant.")
  var all = false

  @Flag(help: "Revoke the grants whose time is over, see request --for.")
  var expired = false

  @Flag(
    help: "Also drop grants whose file is not found, which would keep the access if it came back.")
  var forget = false

  @Option(
    help: ArgumentHelp("Revoke only the grants to this user.", valueName: "name|uid"))
  var user: TextArgument?

  @Option(help: "How to become root if needed: sudo, pkexec, auto or none.")
  var via: RootCommand.Via = .auto

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  func validate() throws {
    if names.isEmpty, !all, !expired {
      throw ValidationError("name the accessors to revoke, or use --all or --expired")
    }
    if [!names.isEmpty, all, expired].count(where: { $0 }) > 1 {
      throw ValidationError("names, --all and --expired cannot be combined")
    }
  }

  func run() throws {
    let system = LinuxSystem()
    let console = Console(system, isQuiet: quiet)
    let accessors = try names.map { try AccessorArgument($0, .standard).entry.name }
    var uid: UInt32?
    if let user {
      do throws(PermissionError) {
        uid = try UserDatabase(system).subject(userNamed: user.text).credentials.user.fileSystem
      } catch {
        // A user who is not in the data base may still have grants.
        guard let number = UInt32(user.text) else { throw error }
        uid = number
      }
    }
    let journal = try GrantJournal.standard(system)
    let time = system.realtime()
    let wantsExpired = expired
    let isSelected = { (grant: Grant) -> Bool in
      if let uid, grant.uid != uid { return false }
      if wantsExpired { return grant.lifetime.expires.map { $0 <= time } ?? false }
      return accessors.isEmpty || accessors.contains(grant.accessor)
    }
    var outcome = try journal.undo(of: uid, isSelected)
    if forget {
      let forgotten = try journal.forget(isSelected)
      outcome.grants += forgotten.grants
      outcome.missing = forgotten.missing
    }
    for note in outcome.notes { console.warn(note) }
    for grant in outcome.recovered + outcome.grants {
      console.print(
        "revoked  \(Sanitizer.clean("\(grant.accessor)   \(grant.place)   \(grant.change.command.summary)"))\n"
      )
    }
    let byRoot =
      try system.credentials().user.effective == 0 ? [] : try grantsByRoot(system, isSelected)
    if !byRoot.isEmpty { outcome.missing += try revoke(byRoot, console, system) }
    if outcome == .init(), byRoot.isEmpty {
      console.print("nothing to revoke in \(Sanitizer.clean(journal.path.description))\n")
    }
    // A missing grant is neither revoked nor certainly there.
    try console.finish(outcome.missing.isEmpty ? .authorized : .notDetermined)
  }

  /// Returns the open grants that root made for the calling user.
  private func grantsByRoot(
    _ system: any System, _ isSelected: (Grant) -> Bool
  ) throws -> [Grant] {
    GrantMirror(system).grants(of: try system.credentials().user.real).filter(isSelected)
  }

  /// Revokes grants that root made, through the helper; tells the administrator's command for others.
  ///
  /// - Returns: The grants that are still open.
  private func revoke(_ grants: [Grant], _ console: Console, _ system: any System) throws -> [Grant]
  {
    let names = Set(grants.map(\.accessor)).sorted()
    var left: [Grant] = []
    for name in names {
      let own = grants.filter { $0.accessor == name }
      let isServed = own.allSatisfy { grant in
        if case .inode(let change) = grant.change { change.isOfDevice } else { false }
      }
      guard isServed, let helper = HelperElevation(via, system) else {
        let user = try UserDatabase(system).currentSubject()
        let words: [PathBytes] = [
          "sudo", "permcheck", "revoke", PathBytes(name), "--user",
          PathBytes(user.name ?? "\(user.credentials.user.real)"),
        ]
        Console.report(
          "only an administrator may revoke this access to \(name):\n  \(words.map(shellQuoted).joined(separator: " "))",
          system)
        left += own
        continue
      }
      let answer = try helper.revoke(name)
      for note in answer.notes { console.warn(note) }
      for change in answer.changes {
        console.print(
          "revoked  \(Sanitizer.clean("\(name)   \(change.place)   \(change.summary)"))\n")
      }
      if answer.outcome == .missing { left += own }
    }
    return left
  }
}
