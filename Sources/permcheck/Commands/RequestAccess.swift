import ArgumentParser
import PermissionKit

struct RequestAccess: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Gives access where it is missing: the least change, undone by permcheck revoke.",
    discussion: """
      Shows what would change, for how long and who else would gain, and asks;
      without a terminal and --yes nothing is changed. What is done is journalled,
      checked, and can be undone.

      EXAMPLES
        permcheck request camera mic --dry-run      what would be done
        sudo permcheck request camera mic --user tester --yes
        permcheck request photos=/srv/photos --need rx --user www-data --for 2h
        permcheck request mic --strategy udev       for every time it is plugged in
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, microphone (mic), photos; =PATH for one node or folder.", valueName: "name[=path]"))
  var names: [PathBytes]

  @Flag(help: "Every resource must be usable, not just one.")
  var all = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @Flag(name: [.customShort("n"), .long], help: "Show the plan and its commands; change nothing.")
  var dryRun = false

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Wanted for so long: 30m, 2h, 1d; undone by permcheck revoke --expired or the next request.",
      valueName: "duration"))
  var duration: Duration?

  @OptionGroup var grants: GrantFlags
  @OptionGroup var subject: SubjectOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions
  @OptionGroup var elevated: ElevatedFlags

  func validate() throws {
    if yes, dryRun { throw ValidationError("--yes and --dry-run contradict each other") }
    if subject.pid != nil { throw ValidationError("request is for users, not for one process") }
    if subject.root != "/" { throw ValidationError("request changes this system, not --root") }
    guard elevated.elevated else { return }
    if subject.user != nil || subject.uid != nil || grants.allowOthers || grants.recursive
      || names.contains(where: { $0.bytes.contains(UInt8(ascii: "=")) })
      || ![nil, "none"].contains(log.log)
    {
      throw ValidationError("--elevated takes names, --need and --strategy alone")
    }
  }

  func run() throws {
    let system = LinuxSystem()
    var context = try subject.context(system)
    context.grants = grants.options(system)
    if elevated.elevated {
      let uid = try elevated.invoker(system)
      context.subject = try UserDatabase(system).subject(userNamed: String(uid))
      context.grants.isConfinedToDevices = true
      context.grants.elevation = nil
      context.grants.lifetime = try elevated.lifetime(system, of: uid)
    }
    if let duration {
      context.grants.lifetime.expires = system.realtime() + duration.microseconds
    }
    let requests = try names.map { try Request($0, .standard) }
    let console = Console(system, output)
    if context.subject == nil, let name = system.getenv("SUDO_USER"), name != "root",
      try system.credentials().user.effective == 0
    {
      console.warn("this asks for root; for \(name) give --user \(name)")
    }
    // Where root writes is not for the one who asked to say.
    let analytics =
      elevated.elevated ? AnalyticsLog(DiscardLogging(), system: system) : log.analytics(system)
    if !dryRun { try GrantFlags.recover(system, console) }
    let outcome = try requestAccess(requests, context, analytics, console)

    let status = ExitStatus(
      outcome.reports.map(\.status), wantsAll: all, skipsUnavailable: false)
    if output.verbose, let failure = analytics.failure { console.warn(failure.description) }
    switch output.chosen {
    case .human:
      if dryRun { console.print(PlanFormat(console.style).text(outcome.plans)) }
      console.print(
        HumanFormat(console.style, isVerbose: output.verbose).text(outcome.reports))
    case .plain: console.print(PlainFormat.text(outcome.reports))
    case .json:
      let asked = try context.subject ?? UserDatabase(system).currentSubject()
      console.print(try JSONFormat.text(outcome, subject: asked, status: status))
    }
    // sudo itself fails with 1: who asked through it must be able to tell.
    try console.finish(elevated.elevated && status == .refused ? .failure : status)
  }

  /// What a request came to.
  struct Outcome {
    var plans: [GrantPlan] = []
    var isApplied = false
    var reports: [AccessReport] = []
  }

  private func requestAccess(
    _ requests: [Request], _ context: AccessContext, _ analytics: AnalyticsLog,
    _ console: Console
  ) throws -> Outcome {
    var outcome = Outcome()
    var context = context
    var isWanted: [Bool] = []
    for request in requests {
      let accessor = request.accessor(context, analytics)
      accessor.acceptsLimited = !all
      let report = accessor.checkAccess()
      outcome.reports.append(report)
      let isAccess = report.status == .authorized || !all && report.status == .limited
      isWanted.append(!isAccess && report.isRequestable)
      guard !isAccess, report.isRequestable else { continue }
      do throws(PermissionError) {
        guard let plan = try (accessor as? ResourceAccessor)?.grantPlan() else {
          console.warn("nothing that could be changed gives access to \(request.entry.name)")
          continue
        }
        outcome.plans.append(plan)
        if let expires = context.grants.lifetime.expires {
          outcome.plans[outcome.plans.count - 1].warnings.append(
            "wanted until \(Timestamp.rfc3339(expires)): the next request then takes it back, or permcheck revoke --expired"
          )
        }
      } catch {
        console.warn("\(request.entry.name): \(error.description)")
      }
    }
    if dryRun || outcome.plans.isEmpty { return outcome }

    let text = PlanFormat(console.errorStyle).question(outcome.plans)
    if !yes {
      guard TerminalConsent(system: context.system).ask(text) else {
        console.warn("nothing was changed: nobody said yes (--yes does not ask)")
        return outcome
      }
    }
    // What was shown is what was agreed to.
    let shown = outcome.plans
    context.grants.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      guard plan.isWithin(shown) else {
        throw PermissionError(
          .changeFailed, "what is to be changed has changed since it was agreed to",
          advice: "ask again")
      }
      return true
    }
    for (index, request) in requests.enumerated() where isWanted[index] {
      let accessor = request.accessor(context, analytics)
      accessor.acceptsLimited = !all
      outcome.reports[index] = try accessor.requestAccessIfNeeded()
      if outcome.plans.contains(where: { $0.accessor == accessor.name && $0.needsNewLogin }),
        let asked = context.subject, asked.source == .user
      {
        // A login of that user would have other groups by now.
        context.subject = try UserDatabase(context.system)
          .subject(userNamed: String(asked.credentials.user.real))
        outcome.reports[index] = request.accessor(context, analytics).currentAccess()
      }
    }
    outcome.isApplied = context.grants.strategy.isCarriedOut
    return outcome
  }
}
