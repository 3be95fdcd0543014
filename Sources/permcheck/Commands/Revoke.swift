import ArgumentParser
import PermissionKit

struct Revoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Revokes the access that permcheck request gave.",
    discussion: """
      Undoes only the changes that permcheck made; later changes by others stay.

      EXAMPLES
        permcheck revoke camera
        sudo permcheck revoke mic --user tester
        permcheck revoke --expired
        permcheck revoke --all
      """)

  @Argument(help: ArgumentHelp("camera, microphone (mic) or photos.", valueName: "name"))
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
  var via: RootCommand.Via = .none

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  @OptionGroup var elevated: ElevatedFlags

  func validate() throws {
    if names.isEmpty, !all, !expired {
      throw ValidationError("name the accessors to revoke, or use --all or --expired")
    }
    if [!names.isEmpty, all, expired].count(where: { $0 }) > 1 {
      throw ValidationError("names, --all and --expired cannot be combined")
    }
    if elevated.elevated, user != nil { throw ValidationError("--elevated accepts only names") }
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
    if elevated.elevated { uid = try elevated.invoker(system) }
    let journal = try GrantJournal.standard(system)
    let time = system.realtime()
    let (wantsExpired, process) = (expired, elevated.process)
    let isSelected = { (grant: Grant) -> Bool in
      if let uid, grant.uid != uid { return false }
      if let process, grant.lifetime.process?.pid != process { return false }
      if wantsExpired { return grant.lifetime.expires.map { $0 <= time } ?? false }
      return accessors.isEmpty || accessors.contains(grant.accessor)
    }
    var outcome = try journal.undo(isSelected)
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
    if via != .none, !elevated.elevated {
      try elevate(accessors, system)
    } else if outcome.grants.isEmpty, outcome.recovered.isEmpty {
      console.print("nothing to revoke in \(Sanitizer.clean(journal.path.description))\n")
    }
    // A missing grant is neither revoked nor certainly there.
    try console.finish(outcome.missing.isEmpty ? .authorized : .notDetermined)
  }

  /// Revokes, as root, the grants that root made for this user.
  private func elevate(_ accessors: [String], _ system: any System) throws {
    let arguments: [PathBytes] =
      all ? ["--all"] : expired ? ["--expired"] : accessors.map { PathBytes($0) }
    try ElevatedPermcheck(via, system)?.revoke(arguments)
  }
}
