/// One check of an accessor: the report, and everything that the report depends on.
final class CheckSnapshot {
  let report: AccessReport
  /// The process whose root and mounts are checked; nil for this process.
  let process: Int32?
  /// Whether the kernel reports every change that can change the report.
  let isFullyWatched: Bool
  /// The facts behind the report; nil if there was nothing to judge.
  let facts: AccessFacts?
  /// The other inputs of the report: folders of devices, settings, users and groups.
  private let inputs: Inputs
  private let analytics: AnalyticsLog
  private let duration: Int64
  private let system: any System

  private struct Inputs {
    var root: PathBytes
    var sources: [PathBytes]
    /// The paths that the report lists as missing.
    var absent: [PathBytes]
    var facts: AccessFacts?
    var listed: Set<Int> = []
    /// The contents of /etc/passwd and /etc/group before and after the check.
    ///
    /// A change during the check counts for this check or for the next one.
    var databases: Set<[[UInt8]?]> = []
    /// The contents of the files that configure where folders are.
    var settings: [[UInt8]?] = []
  }

  /// Checks the accessor and reads the inputs of the report.
  init(_ accessor: PermissionAccessor, _ system: any System) {
    self.system = system
    let root = (accessor as? ResourceAccessor)?.context.root ?? "/"
    let before = Self.database(below: root, system)
    let start = system.monotonic()
    report = accessor.judgedAccess()
    duration = system.monotonic() - start
    analytics = accessor.analytics
    let accessor = accessor as? ResourceAccessor
    facts = accessor?.inspection.flatMap { $0.hasFacts ? $0.facts : nil }
    let subject = accessor?.inspection?.subject
    process = subject?.process
    // No event tells that a program begins to listen on a socket that is there.
    isFullyWatched =
      subject != nil && process == nil
      && !report.resources.contains { $0.reasons.contains { $0.code == .noListener } }
    inputs = Self.read(
      Inputs(
        root: root,
        sources: accessor.flatMap { accessor in subject.map(accessor.sources) } ?? [],
        absent: report.resources.filter { $0.decision == nil }.map(\.path), databases: [before]),
      subject, system)
  }

  /// Checks the same accessor again.
  ///
  /// If the accessor cannot be created, because the user or the process is gone, the new report is
  /// `notDetermined`.
  func again(_ make: AccessWatcher.Factory) -> CheckSnapshot {
    do throws(PermissionError) {
      return CheckSnapshot(try make(), system)
    } catch {
      return CheckSnapshot(self, unknown: error)
    }
  }

  private init(_ last: CheckSnapshot, unknown error: PermissionError) {
    system = last.system
    report = AccessReport(
      accessor: last.report.accessor, status: .notDetermined,
      resources: [
        ResourceReport(
          path: error.path ?? "/", label: last.report.accessor, device: last.report.accessor,
          need: [], status: .notDetermined,
          reasons: [Reason(.unreadableFacts, .proven, error.description)])
      ])
    duration = 0
    analytics = last.analytics
    // Nothing was read, so the next check is compared with the older facts.
    facts = last.facts
    process = last.process
    // The missing user or process may come back.
    isFullyWatched = false
    inputs = Self.read(last.inputs, nil, system)
  }

  private static func database(below root: PathBytes, _ system: any System) -> [[UInt8]?] {
    let reader = system.machine(below: root)
    return files(below: root).map { try? reader.contents(of: $0) }
  }

  private static func files(below root: PathBytes) -> [PathBytes] {
    [root.appending("etc/passwd"), root.appending("etc/group")]
  }

  /// Reads the inputs of a check, the settings only if their user is known.
  private static func read(
    _ sought: Inputs, _ subject: Subject?, _ system: any System
  ) -> Inputs {
    let database = files(below: sought.root)
    var found = sought
    guard var reader = try? FactsReader(system, root: sought.root) else {
      return found
    }
    for path in sought.absent + database { reader.read(path) }
    let ends = sought.sources.compactMap { reader.read($0) }
    let facts = reader.facts
    found.listed = Set(ends.filter { facts.inodes[$0].kind == .directory })
    func contents(_ path: PathBytes) -> [UInt8]? {
      subject.flatMap {
        try? system.door(to: path, of: $0, below: sought.root).contents(of: path, limit: 1 << 16)
      }
    }
    found.databases.insert(Self.database(below: sought.root, system))
    found.settings = ends.filter { facts.inodes[$0].kind == .regular }.map { facts.path(of: $0) }
      .map(contents)
    found.facts = facts
    return found
  }

  /// The inodes to watch so that no change of the report is missed.
  var scopes: [InodeWatches.Scope] {
    var scopes: [InodeWatches.Scope] = []
    if let facts {
      scopes.append(
        .init(facts: facts, prefix: process.map { PathBytes("/proc/\($0)/root") } ?? ""))
    }
    if let facts = inputs.facts {
      scopes.append(.init(facts: facts, listed: inputs.listed, readsFiles: true))
    }
    return scopes
  }

  /// Writes the check to the accessor's log.
  func log() { analytics.log(.check, report, duration: duration) }

  /// Returns why `new` has another result than this check, and the path of the cause.
  func cause(
    of new: CheckSnapshot, changed: Set<PathBytes>, others: [PathBytes]
  ) -> (ChangeCause, PathBytes?) {
    let paths = (Set(report.resources.map(\.path)), Set(new.report.resources.map(\.path)))
    if inputs.settings != new.inputs.settings, paths.0 != paths.1 {
      return (.settings, nil)
    }
    let finder = CauseFinder(
      old: .init([facts, inputs.facts].compactMap { $0 }),
      new: .init([new.facts, new.inputs.facts].compactMap { $0 }))
    let isDatabaseChanged = inputs.databases.union(new.inputs.databases).count > 1
    // The facts contain the files of the data base too. A content change of these files outranks a
    // mode or owner change.
    if let (cause, path) = finder.cause(of: Array(changed), not: others),
      !isDatabaseChanged || !Self.files(below: inputs.root).contains(path)
    {
      return (cause, path)
    }
    if isDatabaseChanged { return (.groupDatabase, nil) }
    return inputs.settings == new.inputs.settings ? (.other, nil) : (.settings, nil)
  }
}
