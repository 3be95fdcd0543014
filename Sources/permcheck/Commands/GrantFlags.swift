import ArgumentParser
import PermissionKit

/// The options of commands that grant access.
struct GrantFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What to change: acl, group, udev, none (only show) or auto (the smallest change).",
      valueName: "strategy"))
  var strategy = StrategyName.auto

  @Flag(help: "Also make changes that give access to others; the plan names them.")
  var allowOthers = false

  @Flag(help: "Include everything in a folder; change nothing if a part cannot be granted.")
  var recursive = false

  @Option(
    help: "How to become root if needed: sudo, pkexec, auto or none.")
  var via: RootCommand.Via = .auto

  func options(_ system: any System) -> GrantOptions {
    var options = GrantOptions(
      strategy: strategy.strategy, allowsOthers: allowOthers, isRecursive: recursive)
    options.elevation = ElevatedPermcheck(via, system)
    return options
  }

  /// Undoes expired and unfinished grants of earlier runs, and warns about each.
  static func recover(_ system: any System, _ console: Console) throws {
    let outcome = try GrantJournal.standard(system).recover()
    for note in outcome.notes { console.warn(note) }
    for grant in outcome.recovered {
      console.warn(
        "revoked an expired or unfinished grant: \(grant.change.command.summary) of \(grant.place)")
    }
  }
}

/// An argument that names a grant strategy.
struct StrategyName: ExpressibleByArgument {
  let strategy: any GrantStrategy

  static let auto = StrategyName(strategy: GrantStrategies.auto)

  private init(strategy: any GrantStrategy) { self.strategy = strategy }

  init?(argument: String) {
    guard let strategy = GrantStrategies.named(argument) else { return nil }
    self.strategy = strategy
  }

  var defaultValueDescription: String { strategy.name }
  static var allValueStrings: [String] { GrantStrategies.names }
}

/// The hidden options for a permcheck that sudo or pkexec started on behalf of a user.
struct ElevatedFlags: ParsableArguments {
  @Flag(help: .hidden)
  var elevated = false

  @Option(name: .customLong("while"), help: .hidden)
  var process: Int32?

  /// Returns the uid of the user who started sudo or pkexec.
  ///
  /// - Parameter system: The system that has the environment.
  /// - Returns: A uid that is not 0.
  /// - Throws: If sudo or pkexec did not start this process.
  func invoker(_ system: any System) throws -> UInt32 {
    let names = ["SUDO_UID", "PKEXEC_UID"]
    let set = names.compactMap { system.getenv($0)?.description }
    guard try system.credentials().user.effective == 0, set.count == 1, let uid = UInt32(set[0]),
      uid != 0, uid != .max
    else {
      throw PermissionError(
        .invalidArgument, "only permcheck itself uses --elevated, through sudo or pkexec")
    }
    return uid
  }

  /// Returns the lifetime of a grant that ends with the process of `--while`.
  func lifetime(_ system: any System, of uid: UInt32) throws -> Grant.Lifetime {
    guard let process else { return Grant.Lifetime() }
    guard let mark = system.mark(of: process),
      try system.status(of: PathBytes("/proc/\(process)")).uid == uid
    else { throw PermissionError(.unknownProcess, "you have no process \(process)") }
    return Grant.Lifetime(process: mark)
  }
}
