import ArgumentParser
import PermissionKit

struct Revoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Takes back what permcheck request has given.",
    discussion: """
      Undoes only what is still as it was left; what somebody else has changed since stays.

      EXAMPLES
        permcheck revoke camera
        sudo permcheck revoke mic --user tester
        permcheck revoke --expired
        permcheck revoke --all
      """)

  @Argument(help: ArgumentHelp("camera, microphone (mic), photos.", valueName: "name"))
  var names: [PathBytes] = []

  @Flag(help: "Everything that was given.")
  var all = false

  @Flag(help: "What is over by now, see request --for.")
  var expired = false

  @Option(
    help: ArgumentHelp("Only what was given to this user.", valueName: "name|uid"))
  var user: TextArgument?

  @Option(help: "Who does what is for root to do: sudo, pkexec, auto or none.")
  var via: RootCommand.Via = .none

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  @OptionGroup var elevated: ElevatedFlags

  func validate() throws {
    if names.isEmpty, !all, !expired {
      throw ValidationError("name what is to be revoked, or give --all or --expired")
    }
    if [!names.isEmpty, all, expired].count(where: { $0 }) > 1 {
      throw ValidationError("names, --all and --expired contradict each other")
    }
    if elevated.elevated, user != nil { throw ValidationError("--elevated takes names alone") }
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
        // Whoever is gone from the data base, or never was in it, may still have been given something.
        guard let number = UInt32(user.text) else { throw error }
        uid = number
      }
    }
    if elevated.elevated { uid = try elevated.invoker(system) }
    let journal = try GrantJournal.standard(system)
    let time = system.realtime()
    let (wantsExpired, process) = (expired, elevated.process)
    let outcome = try journal.undo { grant in
      if let uid, grant.uid != uid { return false }
      if let process, grant.lifetime.process?.pid != process { return false }
      if wantsExpired { return grant.lifetime.expires.map { $0 <= time } ?? false }
      return accessors.isEmpty || accessors.contains(grant.accessor)
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
    try console.finish(.authorized)
  }

  /// Has root take back what root gave to this user.
  private func elevate(_ accessors: [String], _ system: any System) throws {
    let arguments: [PathBytes] =
      all ? ["--all"] : expired ? ["--expired"] : accessors.map { PathBytes($0) }
    try ElevatedPermcheck(via, system)?.revoke(arguments)
  }
}
