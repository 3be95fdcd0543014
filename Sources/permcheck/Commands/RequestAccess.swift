import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct RequestAccess: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Gives missing access by the smallest change; permcheck revoke undoes it.",
    discussion: """
      Shows what changes, for how long and who else gains, then asks. Without a
      terminal nothing changes unless --yes is given. Each change is written to a
      journal, checked, and can be undone.

      EXAMPLES
        permcheck request camera mic --dry-run      shows the plan alone
        sudo permcheck request camera mic --user tester --yes
        permcheck request photos=/srv/photos --need rx --user www-data --for 2h
        permcheck request mic --strategy udev       also after it is plugged in again

      The exit status is that of permcheck check afterwards; 1 if root, sudo or
      polkit refused.
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, mic, photos or another of permcheck list; =PATH requests one node or folder.",
      valueName: "name[=path]"),
    completion: .accessors)
  var names: [PathBytes]

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @Flag(name: [.customShort("n"), .long], help: "Show the plan and its commands; change nothing.")
  var dryRun = false

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp(
      "Grant for this long: 30m, 2h, 1d. The timer of Scripts/install ends it, or the next request, or permcheck revoke --expired.",
      valueName: "duration"))
  var duration: TimeSpan?

  @OptionGroup var grants: GrantFlags
  @OptionGroup var who: WhoArguments<Granting>
  @OptionGroup(visibility: .hidden) var view: ViewOptions

  private var subject: SubjectChoice { who.choice(view) }

  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  func validate() throws {
    if yes, dryRun { throw ValidationError("--yes and --dry-run cannot be combined") }
    if duration?.microseconds == 0 { throw ValidationError("--for 0: expected a time, such as 2h") }
    if view.pid != nil {
      throw ValidationError("request does not work with --pid, only for users")
    }
    if subject.root != "/" {
      throw ValidationError("request does not work with --root, only on this system")
    }
  }

  func run(_ accessors: Accessors) throws {
    let system = LinuxSystem()
    let (output, log) = (output.choice, log.choice)
    if grants.recursive { system.raiseFileLimit() }
    let context = try subject.context(system)
    var options = grants.options(system)
    if let duration { options.lifetime.expires = system.realtime() + duration.microseconds }
    let arguments = try names.map { try AccessorArgument($0, accessors, through: subject.through) }
    try accessors.requiresTrust(arguments)
    let console = Console(system, output)
    subject.warnOfRoot(context, console)
    let analytics = log.analytics(system)
    if !dryRun { try GrantFlags.recover(system, console) }
    var result = RequestResult(subject: try subject.judged([], context), isDryRun: dryRun)
    result.context = context
    result.expires = options.lifetime.expires
    result.endsByItself = GrantTimer.isEnabled(system)
    let isWanted = try plan(arguments, context, options, console, &result)
    if !dryRun, !result.plans.isEmpty, agrees(result.plans, console, system) {
      try carryOut(arguments, isWanted, context, options, analytics, &result)
    }

    result.helper = options.takeHelperAnswers(system)
    result.status = ExitStatus(
      result.reports.map(\.status), wantsAll: all, skipsUnavailable: false)
    log.report(analytics, console, output)
    console.print(try output.format(console).text(result))
    try console.finish(result.status)
  }

  private func accessor(
    _ argument: AccessorArgument, _ context: AccessContext, _ options: GrantOptions,
    _ analytics: AnalyticsLog
  ) -> PermissionAccessor {
    let accessor = argument.accessor(context, analytics)
    accessor.acceptsLimited = !all
    (accessor as? ResourceAccessor)?.grants = options
    return accessor
  }

  /// Checks access, and plans the changes that are missing.
  ///
  /// - Returns: For each argument, whether access is missing and a request can help.
  private func plan(
    _ arguments: [AccessorArgument], _ context: AccessContext, _ options: GrantOptions,
    _ console: Console, _ result: inout RequestResult
  ) throws -> [Bool] {
    var isWanted: [Bool] = []
    for argument in arguments {
      let accessor = accessor(argument, context, options, .discard)
      let report = accessor.checkAccess()
      result.reports.append(report)
      let isAccess = report.status.isAccess(acceptsLimited: !all)
      let resources = accessor as? ResourceAccessor
      let mayHelp = isAccess ? resources?.hasShorterGrants ?? false : report.isRequestable
      var wants = mayHelp
      defer { isWanted.append(wants) }
      if !mayHelp, report.status == .limited, resources?.hasShorterGrants == false {
        console.warn(
          "\(accessor.name) is limited, which counts as access; --all requests the rest")
      }
      guard mayHelp else { continue }
      if case .executable(let program) = argument.entry.origin {
        wants = false
        if let report = try request(argument, program, context, console) {
          result.reports[result.reports.count - 1] = report
        }
        continue
      }
      do throws(PermissionError) {
        guard var plan = try resources?.grantPlan() else {
          if !isAccess {
            console.warn("no change of permissions gives access to \(accessor.name)")
          }
          continue
        }
        let more: [PathBytes] = administratorOptions
        if let command = grants.administratorCommand(
          plan, argument, options, more, context.system)
        {
          GrantFlags.report(command, argument, context.system)
          wants = false
          guard dryRun else { continue }
        }
        if let expires = options.lifetime.expires {
          let how =
            result.endsByItself
            ? "then ends by itself"
            : "the next request or permcheck revoke --expired then undoes it"
          plan.warnings.append("expires at \(Timestamp.rfc3339(expires)); \(how)")
        }
        result.plans.append(plan)
      } catch {
        console.warn("\(accessor.name): \(error.description)")
      }
    }
    return isWanted
  }

  /// Lets the program of an accessor request access, if the person at the terminal agrees.
  private func request(
    _ argument: AccessorArgument, _ program: PathBytes, _ context: AccessContext,
    _ console: Console
  ) throws(PermissionError) -> AccessReport? {
    let (name, system) = (argument.entry.name, context.system)
    if duration != nil {
      throw PermissionError(
        .invalidArgument, "\(name) is a program, which cannot be told to end access after a time",
        advice: "leave out --for")
    }
    let shown = Sanitizer.clean(program.description)
    if dryRun {
      console.warn("\(name): \(shown) would be asked to request access")
      return nil
    }
    guard yes || TerminalConsent(system: system).ask("\(shown) requests access for \(name).\n")
    else {
      console.warn("nothing was requested for \(name); --yes skips the question")
      return nil
    }
    let analytics = log.choice.analytics(system)
    let accessor = argument.accessor(context, analytics)
    accessor.acceptsLimited = !all
    return try accessor.requestAccessIfNeeded()
  }

  /// The options of this command that an administrator would repeat.
  private var administratorOptions: [PathBytes] {
    var words: [PathBytes] = []
    if let need = subject.need { words += ["--need", PathBytes(need.letters)] }
    if all { words.append("--all") }
    if let duration { words += ["--for", PathBytes("\(duration.microseconds / 1_000_000)s")] }
    return words
  }

  /// Returns whether the person at the terminal agrees, or `--yes` is given.
  private func agrees(_ plans: [GrantPlan], _ console: Console, _ system: any System) -> Bool {
    let text = HumanFormat(console.errorStyle, isVerbose: false).question(plans)
    if yes || TerminalConsent(system: system).ask(text) { return true }
    let isAsked = TerminalConsent(system: system).canAsk
    console.warn(
      isAsked
        ? "cancelled, nothing was changed"
        : "there is no terminal to ask at, so nothing was changed; --yes skips the question")
    return false
  }

  private func carryOut(
    _ arguments: [AccessorArgument], _ isWanted: [Bool], _ context: AccessContext,
    _ options: GrantOptions, _ analytics: AnalyticsLog, _ result: inout RequestResult
  ) throws {
    var (context, options) = (context, options)
    // Consent covers only the plans that were shown.
    let shown = result.plans
    options.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      guard plan.isCovered(by: shown) else { throw .planChanged }
      return true
    }
    for (index, argument) in arguments.enumerated() where isWanted[index] {
      let accessor = accessor(argument, context, options, analytics)
      result.reports[index] = try accessor.requestAccessIfNeeded()
      if shown.contains(where: { $0.accessor == accessor.name && $0.needsNewLogin }),
        let asked = context.subject, asked.source == .user
      {
        // A new login of that user has other groups now.
        context.subject = try UserDatabase(context.system)
          .subject(.user(String(asked.credentials.user.real)))
        let outcome = result.reports[index].requestOutcome
        result.reports[index] = argument.accessor(context, analytics).currentAccess()
        result.reports[index].requestOutcome = outcome
      }
    }
    result.isApplied = options.strategy.isCarriedOut
    for (index, argument) in arguments.enumerated()
    where isWanted[index] && [.granted, .askedRoot].contains(result.reports[index].requestOutcome) {
      let line = undoLine(argument.entry.name, context)
      if !result.undo.contains(line) { result.undo.append(line) }
    }
  }

  /// Returns the command that takes back what this request gave.
  private func undoLine(_ accessor: String, _ context: AccessContext) -> String {
    var words: [PathBytes] = [
      Tool.word(context.system), "revoke", PathBytes(accessor),
    ]
    if case .user(let user) = subject.who[0] { words += ["--user", PathBytes(user)] }
    return
      ((context.system.isRoot && context.system.getenv("SUDO_USER") != nil ? ["sudo"] : []) + words)
      .map(shellQuoted).joined(separator: " ")
  }
}
