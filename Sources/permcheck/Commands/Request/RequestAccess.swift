import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct RequestAccess: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Gives missing access by the smallest change.",
    discussion: """
      EXAMPLES
        permcheck request camera mic --dry-run      shows the plan alone
        sudo permcheck request camera mic --user tester --yes
        permcheck request /srv/photos --need rx --user www-data --for 2h
        permcheck request mic --strategy udev       also after it is plugged in again

      Shows what changes, for how long and who else gains, then asks. Without a
      terminal nothing changes unless --yes is given. The undo line takes it back.
      """)

  @Argument(help: .accessors, completion: .accessors)
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
      "Give access for this long only: 30m, 2h, 1d.",
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
    let system = accessors.system
    let (output, log) = (output.choice, log.choice)
    if grants.recursive { system.raiseFileLimit() }
    var context = try subject.context(system)
    if grants.recursive { context.includeContents() }
    var options = grants.options(system)
    if let duration { options.lifetime.expires = system.realtime() + duration.microseconds }
    let arguments = try names.map {
      try AccessorArgument($0, accessors, through: subject.through, wantsAll: all).absolute(system)
    }
    try accessors.requiresTrust(arguments)
    let console = Console(system, output)
    subject.warnOfRoot(context, console)
    let analytics = log.analytics(system)
    if !dryRun { options.journaled = try GrantFlags.recover(system, console) }
    var result = RequestResult(
      subject: try subject.judged([], context), system: system, isDryRun: dryRun)
    result.context = context
    result.expires = options.lifetime.expires
    result.endsByItself = GrantTimer.isEnabled(system)
    var wanted: [(place: Int, request: ArgumentRequest)] = []
    for argument in arguments {
      let request = ArgumentRequest(argument, context, options, analytics)
      result.reports.append(request.prepared.report)
      if try plan(request, options, console, system, &result) {
        wanted.append((result.reports.count - 1, request))
      }
    }
    if !dryRun, !result.plans.isEmpty,
      yes || grants.agrees(result.plans, console, system)
    {
      try carryOut(wanted, context, options, analytics, &result)
    }

    result.undo += result.helper.compactMap { $0.answer.request.map { undoLine($0, system) } }
    result.status = ExitStatus(result.reports)
    log.report(analytics, console, output)
    console.print(try output.format(console).text(result))
    try console.finish(result.status)
  }

  /// Adds what a request would change to the result; prints the obstacle if there is one.
  ///
  /// - Returns: Whether the request is to be carried out if the person agrees.
  private func plan(
    _ request: ArgumentRequest, _ options: GrantOptions, _ console: Console,
    _ system: any System, _ result: inout RequestResult
  ) throws -> Bool {
    let prepared = request.prepared
    guard prepared.isNeeded else {
      sayWhyNothing(request, options, console)
      return false
    }
    if let program = request.program {
      if let report = try ask(program, request, console, system) {
        result.reports[result.reports.count - 1] = report
      }
      return false
    }
    if let obstacle = prepared.obstacle {
      console.warn("\(request.argument.shown): \(obstacle.description)")
      return true
    }
    guard var plan = prepared.plan else {
      if !system.isRoot, prepared.report.isHidden,
        let line = RequestLine(request.argument, prepared.report.subject ?? result.subject, system)
          .adding(grants.words + administratorOptions).administrators
      {
        GrantFlags.report(line, request.argument, system)
      } else if !prepared.report.isGranted {
        console.warn("no change of permissions gives access to \(request.argument.shown)")
      }
      return true
    }
    let command = grants.administratorCommand(
      plan, request.argument, options, administratorOptions, system)
    if let command {
      GrantFlags.report(command, request.argument, system)
      guard dryRun else { return false }
    }
    if yes, command == nil, grants.isRefused(plan, request.argument.shown, console) { return false }
    // Nobody sees the plan of a request that does not ask.
    if yes, !dryRun {
      if !plan.othersAffected.isEmpty {
        console.note("also get access: \(plan.othersAffected.joined(separator: "; "))")
      }
      for note in plan.warnings { console.note(note) }
    }
    if let end = plan.end { plan.end = "\(end); \(result.howItEnds)" }
    result.plans.append(plan)
    return command == nil
  }

  /// Says why a request changes nothing, if the report does not.
  private func sayWhyNothing(
    _ request: ArgumentRequest, _ options: GrantOptions, _ console: Console
  ) {
    let (report, shown) = (request.prepared.report, request.argument.shown)
    if report.status == .limited, !report.includesContents {
      if !all {
        console.warn("\(shown) is limited, which counts as access; --all requests the rest")
      }
    } else if report.status == .limited || !report.isGranted, !options.allowsOthers,
      let others = report.remedies.first(where: { $0.isGrant && !$0.isFirstStep })?.othersAffected,
      !others.isEmpty
    {
      console.warn(
        "\(shown): nothing is changed, because others would get access, too (\(others.joined(separator: "; "))); --allow-others makes the change anyway"
      )
    } else if report.status == .limited {
      console.warn("no change of permissions gives access to everything in \(shown)")
    }
  }

  /// Lets the program of an accessor request access, if the person at the terminal agrees.
  private func ask(
    _ program: PathBytes, _ request: ArgumentRequest, _ console: Console, _ system: any System
  ) throws(PermissionError) -> AccessReport? {
    let name = request.argument.entry.name
    if duration != nil {
      throw PermissionError(
        .invalidArgument,
        "\(name) is a program, and programs cannot give access for a limited time",
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
    return try request.accessor.carryOut(request.prepared)
  }

  /// The options of this command that an administrator would repeat.
  private var administratorOptions: [PathBytes] {
    var words: [PathBytes] = []
    if let need = subject.need { words += ["--need", PathBytes(need.letters)] }
    if all { words.append("--all") }
    if let duration { words += ["--for", PathBytes("\(duration.microseconds / 1_000_000)s")] }
    return words
  }

  private func carryOut(
    _ wanted: [(place: Int, request: ArgumentRequest)], _ context: AccessContext,
    _ options: GrantOptions, _ analytics: AnalyticsLog, _ result: inout RequestResult
  ) throws {
    var later: AccessContext?
    // Consent covers only the plans that were shown.
    let shown = result.plans
    var options = options
    if !yes { options.despite = nil }
    options.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      guard plan.isCovered(by: shown) else { throw .planChanged }
      return true
    }
    for (place, request) in wanted {
      var request = request
      if let later {
        request = ArgumentRequest(request.argument, later, options, analytics)
      } else {
        (request.accessor as? ResourceAccessor)?.grants = options
      }
      result.reports[place] = try request.accessor.carryOut(request.prepared)
      if let answer = request.helperAnswer(context.system) { result.helper.append(answer) }
      if let made = (request.accessor as? ResourceAccessor)?.made {
        result.undo.append(undoLine(made, context.system))
      }
      if request.prepared.plan?.needsNewLogin == true,
        let asked = context.subject, asked.source == .user
      {
        // A new login of that user has other groups now.
        var context = context
        context.subject = try UserDatabase(context.system)
          .subject(.user(String(asked.credentials.user.real)))
        let outcome = result.reports[place].requestOutcome
        result.reports[place] = request.argument.accessor(context, analytics).currentAccess()
        result.reports[place].requestOutcome = outcome
        later = context
      }
    }
    result.isApplied = options.strategy.isCarriedOut
  }

  /// Returns the command that revokes what this request gave, and nothing else.
  private func undoLine(_ request: String, _ system: any System) -> String {
    let words: [PathBytes] = [Tool.word(system), "revoke", "--request", PathBytes(request)]
    return (system.isRoot ? system.rootWay : .none).line(words)
  }
}
