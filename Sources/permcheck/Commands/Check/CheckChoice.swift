@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// The arguments of permcheck check.
struct CheckChoice {
  /// The accessors; empty for all.
  var names: [PathBytes] = []
  var all = false
  /// Whether everything in a folder is checked.
  var recursive = false
  var skipUnavailable = false
  /// How long to wait for access; nil to answer at once.
  var wait: TimeSpan?
  var subject = SubjectChoice()
  var output = OutputChoice()
  var log = LogChoice()

  /// Checks, prints, and returns the exit status.
  func run(_ accessors: Accessors) throws -> ExitStatus {
    let names = names.isEmpty ? accessors.builtIn.entries.map { PathBytes($0.name) } : names
    let requests = try names.map {
      try AccessorArgument($0, accessors, through: subject.through, wantsAll: all)
    }
    if let wait {
      let context = try subject.context(LinuxSystem())
      let factories = subject.watched(requests, context, .discard)
      try AccessWatcher.wait(wait, context.system, factories) { self.status($0) == .authorized }
    }
    let system = accessors.system
    if subject.isOfMany { return try run(for: try subject.each(system), requests, system) }
    var context = try subject.context(system)
    // One subject for all accessors, also where it is this process.
    context.subject = try Inspection.subject(context)
    context.wantsDetail = output.verbose
    if recursive { context.includeContents() }
    let analytics = log.analytics(system)
    let console = Console(system, output)
    var batch = AccessBatch()
    for request in requests {
      batch.add(request.text.description) { [context] in request.accessor(context, analytics) }
    }
    let reports = subject.knowingHelper(
      try CheckProgress.run(batch, analytics, system, console), requests, system)
    let status = status(reports)

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
    for cases: [(who: Who, context: AccessContext)], _ requests: [AccessorArgument],
    _ system: any System
  ) throws -> ExitStatus {
    let analytics = log.analytics(system)
    let first = cases[0].context
    var batch = AccessBatch()
    for (who, context) in cases {
      var context = context
      context.wantsDetail = output.verbose
      if recursive { context.includeContents() }
      for request in requests {
        batch.add("\(request.text) for \(who.words)") { [context] in
          request.accessor(context, analytics)
        }
      }
    }
    let console = Console(system, output)
    let reports = try CheckProgress.run(batch, analytics, system, console)
    log.report(analytics, console, output)
    var result = CheckResult(
      subject: try subject.judged(reports, first), reports: reports, status: status(reports),
      context: first)
    result.columns = zip(names.isEmpty ? requests.map { PathBytes($0.name) } : names, requests).map
    {
      Sanitizer.clean($0.0.description)
    }
    return try print(&result, console)
  }

  private func print(_ result: inout CheckResult, _ console: Console) throws -> ExitStatus {
    result.skipsUnavailable = skipUnavailable
    if let context = result.context {
      result.usersComplete = subject.warnOfUnlisted(context, console)
    }
    let format = output.format(console)
    console.print(try format.text(result))
    try console.flush()
    try output.addSummary(format, Findings(result), LinuxSystem())
    return type(of: format).exit(result)
  }

  /// Returns the grants that have ended but whose ACL entries, or owning groups, still give the access, on a file or on a
  /// folder of its path.
  private func expired(_ reports: [AccessReport], _ system: any System) -> [Grant] {
    let resources = reports.flatMap(\.resources)
    guard subject.root == "/",
      resources.contains(where: { $0.status == .authorized || $0.status == .limited }),
      let uid = reports.lazy.compactMap(\.subject).first?.credentials.user.fileSystem
    else { return [] }
    let time = system.realtime()
    func ended(_ grants: [Grant]) -> [Grant] {
      grants.filter {
        $0.uid == uid && $0.stage == .active && $0.lifetime.hasEnded(at: time, system)
      }
    }
    let journal = try? GrantJournal.standard(system)
    var own = ended((try? journal?.grants(of: uid)) ?? [])
    // Somebody else may have taken it back, or its file is gone.
    if !own.isEmpty { own = ended((try? journal?.grantsNow().grants) ?? []) }
    // Root's own journal is what the mirror shows.
    let isRoot = (try? system.credentials().isRoot) == true
    let ended = own + (isRoot ? [] : ended(GrantMirror(system).grants(of: uid)))
    if ended.isEmpty { return [] }
    var paths: Set<PathBytes> = []
    for resource in resources {
      var path = resource.path
      while paths.insert(path).inserted { path = path.parent }
    }
    let inodes = Set(
      paths.compactMap { try? system.examiner(of: $0)?.status(of: $0) }.map(InodeIdentity.init))
    return ended.filter { $0.changedInode.map(inodes.contains) == true }
  }

  private func status(_ reports: [AccessReport]) -> ExitStatus {
    ExitStatus(reports, skipsAbsent: skipUnavailable)
  }
}
