import JSONSyntax
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// Compares expectations with the actual access.
struct Verifier {
  /// One expectation for one subject.
  struct Item {
    let expectation: Expectation
    let who: Who
    let subject: Subject
    /// The creator of the new files to judge; nil to judge existing files.
    let creator: FileCreator?
    let operation: NamedOperation?
  }

  let items: [Item]
  private let system: any System
  private let accessors: Accessors
  private let skipsUnavailable: Bool

  /// Looks up the subjects.
  ///
  /// - Throws: An error if a user or process cannot be looked up.
  init(
    _ expectations: [Expectation], _ system: any System, _ accessors: Accessors,
    skipsUnavailable: Bool, _ mistakes: inout [Mistake]
  ) throws {
    self.system = system
    self.accessors = accessors
    self.skipsUnavailable = skipsUnavailable
    let users = UserDatabase(system)
    var known: [Who: Subject] = [:]
    var items: [Item] = []
    for expectation in expectations {
      for (who, place) in expectation.subjects {
        do throws(PermissionError) {
          var subject = known[who]
          if subject == nil { subject = try users.subject(who) }
          known[who] = subject
          guard let subject else { continue }
          var creator: FileCreator?
          if let future = expectation.future {
            var context = AccessContext(system: system)
            if who != .current { context.subject = subject }
            creator = try FileCreator(user: future.creator, umask: future.umask, context)
          }
          var operation: NamedOperation?
          if let (name, target) = expectation.operation {
            operation = try NamedOperation(name, target: target, AccessContext(system: system))
          }
          items.append(
            Item(
              expectation: expectation, who: who, subject: subject, creator: creator,
              operation: operation))
        } catch {
          guard error.code == .unknownUser || error.code == .unknownProcess else { throw error }
          mistakes.append(Mistake(place: place, message: error.description))
        }
      }
    }
    self.items = items
  }

  /// Checks all expectations, and waits if an expectation asks for it.
  func run() throws -> [Verdict] {
    var reports = reports()
    for index in items.indices where items[index].expectation.wait != nil {
      if verdict(index, reports[index]).outcome != .holds { reports[index] = try waited(index) }
    }
    return items.indices.map { verdict($0, reports[$0]) }
  }

  /// Returns a factory for each accessor that is checked, for `AccessWatcher`.
  var factories: [AccessWatcher.Factory] {
    items.map { item in
      func make() throws(PermissionError) -> PermissionAccessor {
        var context = context(item)
        context.system = LinuxSystem()
        // The groups of a user, or the ids of a process, may have changed meanwhile.
        try context.judge(item.who)
        return accessor(item, context)
      }
      return make
    }
  }

  private func verdict(_ index: Int, _ report: AccessReport) -> Verdict {
    let expectation = items[index].expectation
    var outcome = Verdict.Outcome.fails
    let deciding = report.resources.filter { $0.status == report.status }
    let codes = deciding.flatMap(\.reasons).map(\.code)
    let wantsAccess = expectation.statuses.contains { $0.isAccess() }
    let isUnknown = report.resources.contains {
      $0.status == .notDetermined || $0.contents?.isUnknown == true
    }
    if report.status == .notDetermined || isUnknown && !wantsAccess {
      // A device that cannot be told may be usable.
      outcome = .undetermined
    } else if expectation.statuses.contains(report.status) {
      if expectation.reason.map(codes.contains) ?? true { outcome = .holds }
    } else if report.isOfAbsentDevice, skipsUnavailable {
      outcome = .skipped
    }
    return Verdict(
      name: expectation.name, line: expectation.place.line, who: items[index].who.words,
      words: expectation.words, wanted: expectation.wanted, reason: expectation.reason,
      wantsAccess: wantsAccess,
      report: report, outcome: outcome)
  }

  /// Checks one item again until it holds or its time is over.
  private func waited(_ index: Int) throws -> AccessReport {
    let item = items[index]
    let end = system.monotonic() + (item.expectation.wait?.microseconds ?? 0)
    let watcher = try AccessWatcher(LinuxSystem(), logs: false, [factories[index]])
    while verdict(index, watcher.reports[0]).outcome != .holds {
      guard case .checked = try watcher.next(until: end) else { break }
    }
    var report = watcher.reports[0]
    report.accessor = item.expectation.what
    return report
  }

  // MARK: - One check

  private func context(_ item: Item) -> AccessContext {
    var context = AccessContext(system: system, need: item.expectation.need)
    if item.who != .current { context.subject = item.subject }
    if item.expectation.isRecursive { context.includeContents() }
    if let operation = item.operation { context.question = .operation(operation) }
    if let creator = item.creator { context.question = .newFiles(by: creator) }
    switch item.expectation.target {
    case .accessor(let argument): context.path = argument.path
    case .path(let path): context.path = path
    }
    return context
  }

  /// Returns the accessor that permcheck check would use for an item.
  private func accessor(_ item: Item, _ context: AccessContext) -> PermissionAccessor {
    switch item.expectation.target {
    case .accessor(let argument): argument.accessor(context, .discard)
    case .path(let path): PathAccessor(context.knowing(accessors), shown: path, analytics: .discard)
    }
  }

  // MARK: - All checks

  /// The question that two expectations can share: every value that decides, and no text about it.
  private struct Question: Hashable {
    let who: Who
    /// The name of the accessor; nil for a path.
    let accessor: ExactString?
    let path: PathBytes?
    let need: Permissions?
    let isRecursive: Bool
    let future: FutureChoice?
    let operation: NamedOperation.Name?
    let target: PathBytes?

    init(_ item: Item) {
      let expectation = item.expectation
      who = item.who
      switch expectation.target {
      case .accessor(let argument):
        (accessor, path) = (ExactString(argument.name), argument.path)
      case .path(let place): (accessor, path) = (nil, place)
      }
      need = expectation.need
      isRecursive = expectation.isRecursive
      future = expectation.future
      operation = expectation.operation?.name
      target = expectation.operation?.target
    }
  }

  /// Returns a report for each item; equal questions are checked once.
  private func reports() -> [AccessReport] {
    var known: [Question: AccessReport] = [:]
    return items.map { item in
      let question = Question(item)
      if let report = known[question] { return report }
      var report = accessor(item, context(item)).currentAccess()
      report.accessor = item.expectation.what
      known[question] = report
      return report
    }
  }
}
