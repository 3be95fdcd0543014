import PermissionKit

/// What permcheck check is asked to do.
struct CheckChoice {
  /// The accessors; empty for all.
  var names: [PathBytes] = []
  var all = false
  var skipUnavailable = false
  /// How long to wait for access; nil to answer at once.
  var wait: TimeSpan?
  var subject = SubjectChoice()
  var output = OutputChoice()
  var log = LogChoice()

  /// Checks, prints, and returns the exit status.
  func run(_ accessors: Accessors) throws -> ExitStatus {
    let names = names.isEmpty ? accessors.builtIn.entries.map { PathBytes($0.name) } : names
    let requests = try names.map { try AccessorArgument($0, accessors, through: subject.through) }
    if let wait {
      let context = try subject.context(LinuxSystem())
      try waitForAccess(wait, subject.factories(requests, context, .discard), context.system)
    }
    let system = LinuxSystem.once
    if subject.isOfMany { return try run(for: try subject.each(system), requests, system) }
    var context = try subject.context(system)
    context.wantsDetail = output.verbose
    context.surroundings = Surroundings()
    let analytics = log.analytics(system)
    let factories = subject.factories(requests, context, analytics)
    let reports = try analytics.together { try factories.map { try $0().currentAccess() } }
    let status = status(reports)

    let console = Console(system, output)
    if !output.quiet { subject.warnOfRoot(context, console) }
    log.report(analytics, console, output)
    var result = CheckResult(
      subject: try subject.judged(reports, context), reports: reports, status: status,
      requests: subject.requestLines(requests, reports, context), context: context)
    result.expired = expired(reports, system)
    return try print(&result, console)
  }

  /// Checks for each of several users, prints one result, and returns the exit status.
  private func run(
    for choices: [SubjectChoice], _ requests: [AccessorArgument], _ system: any System
  ) throws -> ExitStatus {
    let surroundings = Surroundings()
    let analytics = log.analytics(system)
    let first = try choices[0].context(system)
    let reports = try analytics.together {
      try choices.flatMap { choice in
        var context = try choice.context(system)
        context.wantsDetail = output.verbose
        context.surroundings = surroundings
        return try choice.factories(requests, context, analytics).map { try $0().currentAccess() }
      }
    }
    let console = Console(system, output)
    log.report(analytics, console, output)
    var result = CheckResult(
      subject: try choices[0].judged(reports, first), reports: reports, status: status(reports),
      context: first)
    result.columns = zip(names.isEmpty ? requests.map { PathBytes($0.name) } : names, requests).map
    {
      Sanitizer.clean($0.0.description)
    }
    return try print(&result, console)
  }

  private func print(_ result: inout CheckResult, _ console: Console) throws -> ExitStatus {
    (result.wantsAll, result.skipsUnavailable) = (all, skipUnavailable)
    let format = output.format(console)
    console.print(try format.text(result))
    try console.flush()
    try output.addSummary(format, Findings(result), LinuxSystem())
    return type(of: format).exit(result)
  }

  /// Returns the grants whose time is over, where access rests on an entry for a user.
  private func expired(_ reports: [AccessReport], _ system: any System) -> [Grant] {
    let resources = reports.flatMap(\.resources)
    guard subject.root == "/",
      resources.contains(where: { $0.decision?.rule.description.hasPrefix("acl-user") == true }),
      let uid = reports.lazy.compactMap(\.subject).first?.credentials.user.fileSystem
    else { return [] }
    let time = system.realtime()
    let own = (try? GrantJournal.standard(system).grants(of: uid)) ?? []
    let paths = Set(resources.map(\.path.description))
    return (own + GrantMirror(system).grants(of: uid)).filter { grant in
      grant.stage == .active && grant.lifetime.expires.map { $0 <= time } ?? false
        && paths.contains(grant.place)
    }
  }

  private func status(_ reports: [AccessReport]) -> ExitStatus {
    ExitStatus(reports.map(\.status), wantsAll: all, skipsUnavailable: skipUnavailable)
  }

  /// Waits until there is access or the time is over.
  private func waitForAccess(
    _ time: TimeSpan, _ factories: [AccessWatcher.Factory], _ system: any System
  ) throws {
    let end = system.monotonic() + time.microseconds
    if status(try factories.map { try $0().currentAccess() }) == .authorized { return }
    let watcher = try AccessWatcher(system, factories)
    while status(watcher.reports) != .authorized {
      guard case .checked = try watcher.next(until: end) else { return }
    }
  }
}
