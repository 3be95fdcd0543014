@_spi(SystemCalls) import PermissionKit

/// Holds expectations against what is so.
struct Verifier {
  /// One expectation for one subject.
  struct Item {
    let expectation: Expectation
    let who: Who
    let subject: Subject
  }

  let items: [Item]
  private let system: any System
  private let skipsUnavailable: Bool

  /// Looks up the subjects.
  ///
  /// - Throws: An error if a user or process cannot be looked up.
  init(
    _ expectations: [Expectation], _ system: any System, skipsUnavailable: Bool,
    _ mistakes: inout [Mistake]
  ) throws {
    self.system = system
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
          items.append(Item(expectation: expectation, who: who, subject: subject))
        } catch {
          guard error.code == .unknownUser || error.code == .unknownProcess else { throw error }
          mistakes.append(Mistake(place: place, message: error.description))
        }
      }
    }
    self.items = items
  }

  /// Checks everything, and waits where an expectation says so.
  func run() throws -> [Verdict] {
    var reports = try reports()
    for index in items.indices where items[index].expectation.wait != nil {
      if verdict(index, reports[index]).outcome != .holds { reports[index] = try waited(index) }
    }
    return items.indices.map { verdict($0, reports[$0]) }
  }

  /// Returns factories for everything that is checked, so that it can be watched.
  var factories: [AccessWatcher.Factory] {
    items.map { item in
      func make() throws(PermissionError) -> PermissionAccessor { try accessor(item) }
      return make
    }
  }

  private func verdict(_ index: Int, _ report: AccessReport) -> Verdict {
    let expectation = items[index].expectation
    var outcome = Verdict.Outcome.fails
    let deciding = report.resources.filter { $0.status == report.status }
    let codes = deciding.flatMap(\.reasons).map(\.code)
    let wantsAccess = expectation.statuses.contains { $0.isAccess() }
    let isUnknown = report.resources.contains { $0.status == .notDetermined }
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
    var path: PathBytes?
    switch item.expectation.target {
    case .accessor(let argument):
      path = argument.path
      context.path = path
    case .path(let plain): path = plain
    }
    // Whoever owns a folder on the way could put a link there, so root asks and opens nothing.
    if let path, item.who == .current, item.subject.credentials.user.effective == 0,
      !Self.isRootsPlace(path)
    {
      context.probe = .access
    }
    return context
  }

  /// Whether root alone makes the names on the way: those of devices, /proc and /sys.
  private static func isRootsPlace(_ path: PathBytes) -> Bool {
    let isOpenToAll = ["/dev/shm/", "/dev/mqueue/"].contains { path.hasPrefix($0) }
    let isUp = path.description.split(separator: "/").contains("..")
    return !isOpenToAll && !isUp && ["/dev/", "/proc/", "/sys/"].contains { path.hasPrefix($0) }
  }

  private func accessor(_ item: Item) throws(PermissionError) -> PermissionAccessor {
    var context = context(item)
    context.system = LinuxSystem()
    // The groups of a user, or the ids of a process, may have changed meanwhile.
    try context.judge(item.who)
    switch item.expectation.target {
    case .accessor(let argument): return argument.accessor(context, .discard)
    case .path(let path): return PathAccessor(path, context)
    }
  }

  // MARK: - All checks

  /// The checks of one subject that share their input.
  private struct Group: Hashable {
    let who: Who
    /// The node that an accessor is about; nil for all of its nodes, and for paths.
    let path: PathBytes?
    let probe: Probe.Method
  }

  /// What two items may both ask.
  private struct Question: Hashable {
    let who: Who
    let what: String
    let need: Permissions?
  }

  /// Returns a report for each item; facts are read once for all users.
  private func reports() throws -> [AccessReport] {
    var groups: [Group: [Int]] = [:]
    var order: [Group] = []
    var first: [Question: Int] = [:]
    let same = items.enumerated().map { index, item in
      let question = Question(
        who: item.who, what: item.expectation.what, need: item.expectation.need)
      if let known = first[question] { return known }
      first[question] = index
      return index
    }
    for (index, item) in items.enumerated() where same[index] == index {
      let context = context(item)
      let group = Group(who: item.who, path: context.path, probe: context.probe)
      if groups[group] == nil { order.append(group) }
      groups[group, default: []].append(index)
    }
    var paths = PathTargets()
    var shared: [(context: AccessContext, subject: Subject, targets: [Inspection.Target])] = []
    var sharedItems: [[Int]] = []
    var reports = [AccessReport?](repeating: nil, count: items.count)
    // What is around one process is not around another.
    var sharedScan: [Int32?: SharedScan] = [:]
    for group in order {
      let members = groups[group] ?? []
      var common = context(items[members[0]])
      common.need = nil
      let subject = items[members[0]].subject
      common.sharedScan = sharedScan[subject.process] ?? SharedScan()
      sharedScan[subject.process] = common.sharedScan
      let targets = members.map { target(items[$0], subject, &paths) }
      switch group.who {
      case .user, .ids:
        shared.append((common, subject, targets))
        sharedItems.append(members)
      case .current, .process, .group, .everybody:
        for (index, report) in zip(members, own(common, subject, targets)) {
          reports[index] = report
        }
      }
    }
    for (inspection, members) in zip(try Inspection.shared(shared), sharedItems) {
      for (index, report) in zip(members, ResourceJudge(inspection).reports()) {
        reports[index] = report
      }
    }
    return try items.indices.map { index in
      let judged = isExecutable(items[index]) ? nil : reports[same[index]]
      var report = try judged ?? accessor(items[index]).currentAccess()
      report.accessor = items[index].expectation.what
      return report
    }
  }

  /// Whether a program answers for the accessor of an item.
  private func isExecutable(_ item: Item) -> Bool {
    guard case .accessor(let argument) = item.expectation.target,
      case .executable = argument.entry.origin
    else { return false }
    return true
  }

  /// Returns the reports on what this process, or another one, has access to.
  private func own(
    _ context: AccessContext, _ subject: Subject, _ targets: [Inspection.Target]
  ) -> [AccessReport] {
    do throws(PermissionError) {
      let inspection = try Inspection(context) { _ in targets }
      return ResourceJudge(inspection).reports()
    } catch {
      let reason = Reason(.unreadableFacts, .proven, error.description)
      return targets.map { target in
        let path = target.set.resources.first?.path ?? "/"
        let resource = ResourceReport(
          path: path, label: target.name, device: target.name, need: [], status: .notDetermined,
          reasons: [reason])
        return AccessReport(
          accessor: target.name, status: .notDetermined, resources: [resource], subject: subject)
      }
    }
  }

  private func target(
    _ item: Item, _ subject: Subject, _ paths: inout PathTargets
  ) -> Inspection.Target {
    let context = context(item)
    switch item.expectation.target {
    case .path(let path): return paths.target(path, context)
    case .accessor(let argument):
      let accessor = argument.accessor(context, .discard)
      var set = (accessor as? ResourceAccessor)?.resources(for: subject) ?? ResourceSet()
      if let need = context.need { set.resources = set.resources.map { $0.needing(need) } }
      return Inspection.Target(name: accessor.name, set: set)
    }
  }
}

/// The targets of paths, each of which is looked at once.
private struct PathTargets {
  private struct Key: Hashable {
    let path: PathBytes
    let need: Permissions?
  }
  private var known: [Key: Inspection.Target] = [:]

  mutating func target(_ path: PathBytes, _ context: AccessContext) -> Inspection.Target {
    let key = Key(path: path, need: context.need)
    if let target = known[key] { return target }
    let target = Inspection.Target(path: path, in: context)
    known[key] = target
    return target
  }
}
