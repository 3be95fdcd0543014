import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// The options of commands that grant access.
struct GrantFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What to change; auto is the smallest change, none changes nothing.",
      valueName: "strategy"))
  var strategy = StrategyName.auto

  @Flag(help: "Also make changes that give access to others; the plan names them.")
  var allowOthers = false

  @Flag(help: "Include everything in a folder: all of it or nothing.")
  var recursive = false

  @Option(
    help: "How to become root if needed; auto is sudo, then pkexec.")
  var via: RootCommand.Via = .auto

  func options(_ system: any System) -> GrantOptions {
    var options = GrantOptions(
      strategy: strategy.strategy, allowsOthers: allowOthers, isRecursive: recursive)
    options.elevation = HelperElevation(via, system)
    return options
  }

  /// Warns of what permcheck-helper noted while it made or undid changes.
  static func warn(ofHelper note: String, _ system: any System) {
    Console.warn("permcheck-helper: \(note)", system)
  }

  /// Undoes expired and unfinished grants of earlier runs, and warns about each.
  ///
  /// - Returns: The grants that are open after that.
  static func recover(_ system: any System, _ console: Console) throws -> GrantLedger {
    let outcome = try GrantJournal.standard(system).sweeping.recover()
    for note in outcome.notes { console.warn(note) }
    for grant in outcome.recovered {
      console.warn(
        "revoked an expired or unfinished grant: \(grant.change.command.summary) of \(grant.place)")
    }
    return outcome.open
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
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
