import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

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
    help: "How to become root if needed: sudo, pkexec, auto (sudo, then pkexec) or none.")
  var via: RootCommand.Via = .auto

  func options(_ system: any System) -> GrantOptions {
    var options = GrantOptions(
      strategy: strategy.strategy, allowsOthers: allowOthers, isRecursive: recursive)
    options.elevation = HelperElevation(via, system)
    return options
  }

  /// Returns the command by which an administrator makes a request; nil if the caller or the helper can
  /// make it.
  ///
  /// - Parameters:
  ///   - plan: The plan of the request.
  ///   - argument: The accessor.
  ///   - options: The options of the request.
  ///   - more: Further arguments of the command.
  ///   - system: The system that the caller runs on.
  /// - Returns: The command, for a shell.
  func administratorCommand(
    _ plan: GrantPlan, _ argument: AccessorArgument, _ options: GrantOptions, _ more: [PathBytes],
    _ system: any System
  ) -> String? {
    let helper = options.elevation as? HelperElevation
    let ids = plan.subject.credentials.user
    let isForSelf =
      plan.subject.source == .current
      || plan.subject.source == .user && ids.real == (try? system.credentials())?.user.real
    guard plan.needsRoot, !(isForSelf && helper?.serves(argument, options) == true) else {
      return nil
    }
    var words: [PathBytes] = []
    if strategy.strategy.name != GrantStrategies.auto.name {
      words += ["--strategy", PathBytes(strategy.strategy.name)]
    }
    if allowOthers { words.append("--allow-others") }
    if recursive { words.append("--recursive") }
    let line = RequestLine(argument, plan.subject, system).adding(words + more)
    return line.administrators ?? plan.steps.map(\.typed).joined(separator: "\n  ")
  }

  /// Tells by which command an administrator makes a request, and why only an administrator.
  static func report(
    _ command: String, _ argument: AccessorArgument, _ system: any System
  ) {
    let entry = argument.entry
    var lines = "only an administrator may give access to \(entry.name)"
    if let risk = entry.declaration?.risk { lines += " (\(Sanitizer.clean(risk)))" }
    lines += ":\n  \(command)"
    if case .file(let path) = entry.origin, !system.isWritableOnlyByRoot(path) {
      lines +=
        "\n  root honours the declaration only in /etc/permcheck/accessors.d, not in \(Sanitizer.clean(path.description))"
    }
    Console.report(lines, system)
  }

  /// Warns of what permcheck-helper noted while it made or undid changes.
  static func warn(ofHelper note: String, _ system: any System) {
    Console.report("warning: permcheck-helper: \(Sanitizer.clean(note))", system)
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

extension GrantOptions {
  /// Returns what permcheck-helper answered to requests with these options since the last call, and
  /// warns of its notes.
  func takeHelperAnswers(_ system: any System) -> [CheckDocument.HelperAnswered] {
    let answers = (elevation as? HelperElevation)?.heard.take() ?? []
    for note in answers.flatMap(\.answer.notes) { GrantFlags.warn(ofHelper: note, system) }
    return answers
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
