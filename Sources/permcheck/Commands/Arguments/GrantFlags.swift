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

  @Option(
    help: ArgumentHelp(
      "Allow that this program then refuses a file.", valueName: "program"),
    completion: .list(ProgramRules.programs))
  var despite: [ProgramArgument] = []

  @Flag(help: "Include everything in a folder: all of it or nothing.")
  var recursive = false

  @Option(
    help: "How to become root if needed; auto is sudo, then pkexec.")
  var via: RootCommand.Via = .auto

  func validate() throws {
    for program in despite { try program.validate("--despite") }
  }

  func options(_ system: any System) -> GrantOptions {
    var options = GrantOptions(
      strategy: strategy.strategy, allowsOthers: allowOthers, isRecursive: recursive)
    options.elevation = HelperElevation(via, system)
    options.despite = accepted
    return options
  }

  /// The programs whose refusal is accepted.
  var accepted: Set<String> { Set(despite.map(\.program)) }

  /// Prints why a plan is not carried out without a question, and returns whether that is so.
  func isRefused(_ plan: GrantPlan, _ shown: String, _ console: Console) -> Bool {
    let obstacles = plan.obstacles(despite: accepted)
    for obstacle in obstacles {
      console.warn(
        "\(shown): nothing is changed, because \(obstacle.words); --despite \(obstacle.program) makes the change anyway"
      )
    }
    return !obstacles.isEmpty
  }

  /// Warns of a note that permcheck-helper made while it made or undid changes.
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

/// The timer of systemd that ends grants whose time is over, see Scripts/install.
enum GrantTimer {
  /// Returns whether the caller's systemd has started the timer.
  static func isEnabled(_ system: any System) -> Bool {
    func isThere(_ path: PathBytes) -> Bool {
      // A link may lead to a place that this process does not see; it is there all the same.
      guard let file = try? system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      else { return false }
      system.close(file)
      return true
    }
    guard isThere("/run/systemd/system") else { return false }
    let isRoot = system.isRoot
    let wanted = "/etc/systemd/\(isRoot ? "system" : "user")/timers.target.wants"
    // systemd makes the stamp when it starts a persistent timer, see systemd.timer(5).
    return isThere(PathBytes("\(wanted)/permcheck-expire.timer"))
      && stamps(system, isRoot: isRoot).contains {
        isThere($0.appending("stamp-permcheck-expire.timer"))
      }
  }

  private static func stamps(_ system: any System, isRoot: Bool) -> [PathBytes] {
    if isRoot { return ["/var/lib/systemd/timers"] }
    let data = system.getenv("XDG_DATA_HOME")
    let home = system.getenv("HOME")?.appending(".local/share")
    return [data, home].compactMap { $0 }.filter(\.isAbsolute).map {
      $0.appending("systemd/timers")
    }
  }
}
