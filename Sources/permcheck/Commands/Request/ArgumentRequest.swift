import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// A request for the access that one argument names: prepared, shown, agreed to, then carried out.
///
/// Only this type prepares accessors for `request` and `run`.
struct ArgumentRequest {
  let argument: AccessorArgument
  let accessor: PermissionAccessor
  let prepared: PreparedRequest

  /// Checks access, and finds what a request would change.
  ///
  /// - Parameters:
  ///   - argument: The accessor.
  ///   - context: Who asks, and for what.
  ///   - options: How to request access.
  ///   - runsPrograms: Whether the program of an accessor may request access.
  ///   - analytics: The log of the check and the request.
  init(
    _ argument: AccessorArgument, _ context: AccessContext, _ options: GrantOptions,
    runsPrograms: Bool = true, _ analytics: AnalyticsLog
  ) {
    self.argument = argument
    accessor = argument.accessor(context, analytics)
    var options = options
    let system = context.system
    if !system.isRoot, options.isServed(argument, system) {
      // The plan is what the helper will do.
      options.isConfinedToDevices = true
      options.withheld = argument.entry.withheldFromUsers
    }
    (accessor as? ResourceAccessor)?.grants = options
    if case .executable = argument.entry.origin { accessor.requestsAccess = runsPrograms }
    prepared = accessor.prepare()
  }

  /// The program that requests access; nil for an accessor without one.
  var program: PathBytes? {
    if case .executable(let program) = argument.entry.origin { program } else { nil }
  }

  /// Returns the answer of permcheck-helper after the request, and warns of its notes; nil if it
  /// was not used.
  func helperAnswer(_ system: any System) -> CheckDocument.HelperAnswered? {
    guard let answer = (accessor as? ResourceAccessor)?.answer else { return nil }
    for note in answer.notes { GrantFlags.warn(ofHelper: note, system) }
    return CheckDocument.HelperAnswered(accessor: accessor.name, answer: answer)
  }
}

extension GrantFlags {
  /// Returns the command, for a shell, by which an administrator makes a request, with `more` arguments;
  /// nil if the caller or the helper can make it.
  func administratorCommand(
    _ plan: GrantPlan, _ argument: AccessorArgument, _ options: GrantOptions, _ more: [PathBytes],
    _ system: any System
  ) -> String? {
    let ids = plan.subject.credentials.user
    let isForSelf =
      plan.subject.source == .current
      || plan.subject.source == .user && ids.real == (try? system.credentials())?.user.real
    guard plan.needsRoot, !(isForSelf && options.isServed(argument, system)) else { return nil }
    let line = RequestLine(argument, plan.subject, system).adding(words + more)
    return line.administrators ?? plan.steps.map(\.typed).joined(separator: "\n  ")
  }

  /// The options of the request, for the administrator's command.
  var words: [PathBytes] {
    var words: [PathBytes] = []
    if strategy.strategy.name != GrantStrategies.auto.name {
      words += ["--strategy", PathBytes(strategy.strategy.name)]
    }
    if allowOthers { words.append("--allow-others") }
    for program in despite { words += ["--despite", PathBytes(program.program)] }
    if recursive { words.append("--recursive") }
    return words
  }

  /// Prints the command by which an administrator makes a request, and why only an administrator
  /// can.
  static func report(_ command: String, _ argument: AccessorArgument, _ system: any System) {
    let entry = argument.entry
    var lines = "only an administrator may give access to \(argument.shown)"
    if let risk = entry.declaration?.risk { lines += " (\(Sanitizer.clean(risk)))" }
    lines += ":\n  \(command)"
    if case .file(let path) = entry.origin, !system.isWritableOnlyByRoot(path) {
      lines +=
        "\n  root accepts the declaration only in /etc/permcheck/accessors.d, not in \(Sanitizer.clean(path.description))"
    }
    Console.report(lines, system)
  }

  /// Returns whether the person at the terminal agrees to all plans; prints why if it cannot ask.
  func agrees(
    _ plans: [GrantPlan], _ console: Console, _ system: any System, isQuiet: Bool = false
  ) -> Bool {
    let consent = TerminalConsent(system: system)
    // Nobody knows how long a person thinks.
    defer { system.forget() }
    if consent.ask(HumanFormat(console.errorStyle, isVerbose: false).question(plans)),
      consent.confirm(plans.flatMap { $0.obstacles(despite: accepted) })
    {
      return true
    }
    if isQuiet { return false }
    console.warn(
      consent.canAsk
        ? "cancelled, nothing was changed"
        : "there is no terminal to ask at, so nothing was changed; --yes skips the question")
    return false
  }
}
