internal import Synchronization

/// Several accessors that are checked or requested together, by a strategy that can be exchanged.
///
/// ```swift
/// var batch = AccessBatch(.failFast)
/// batch.add { CameraAccessor() }
/// batch.add("the microphone") { MicrophoneAccessor() }
/// let result = try batch.requestAccessIfNeeded { print($0) }   // 2/2 the microphone
/// print("\(result.granted) granted, \(result.refused) refused")
/// ```
public struct AccessBatch: Sendable {
  /// Creates an accessor on the thread that uses it, because accessors are not Sendable.
  public typealias Factory = @Sendable () throws(PermissionError) -> PermissionAccessor

  /// The strategy of the next run.
  public var strategy: any BatchStrategy
  private var entries: [(title: String?, make: Factory)] = []

  /// Creates a batch without accessors.
  public init(_ strategy: any BatchStrategy = .sequential) { self.strategy = strategy }

  /// Adds an accessor.
  ///
  /// - Parameters:
  ///   - title: The title for people; nil for the accessor's name.
  ///   - make: Creates the accessor, once in each run.
  public mutating func add(_ title: String? = nil, _ make: @escaping Factory) {
    entries.append((title, make))
  }

  /// Checks access of the accessors.
  ///
  /// - Parameter progress: Called before and after each accessor, never twice at the same time.
  /// - Returns: The reports and their counts.
  /// - Throws: If an accessor cannot be created; later ones are not checked then.
  public func check(
    _ progress: @escaping @Sendable (BatchProgress) -> Void = { _ in }
  ) throws(PermissionError) -> BatchResult {
    try run(progress) { (accessor: PermissionAccessor) in accessor.currentAccess() }
  }

  /// Requests access of the accessors where it is needed.
  ///
  /// - Parameter progress: Called before and after each accessor, never twice at the same time.
  /// - Returns: The final reports and their counts.
  /// - Throws: If a change cannot be made or undone; later accessors are not asked then.
  public func requestAccessIfNeeded(
    _ progress: @escaping @Sendable (BatchProgress) -> Void = { _ in }
  ) throws(PermissionError) -> BatchResult {
    let requestLock = RequestLock()
    return try run(progress) { (accessor) throws(PermissionError) -> AccessReport in
      accessor.requestLock = requestLock
      return try accessor.requestAccessIfNeeded()
    }
  }

  private func run(
    _ progress: @escaping @Sendable (BatchProgress) -> Void,
    _ action: @escaping @Sendable (PermissionAccessor) throws(PermissionError) -> AccessReport
  ) throws(PermissionError) -> BatchResult {
    let run = BatchRun(count: entries.count, progress)
    let entries = entries
    strategy.run(
      BatchSteps(count: entries.count) { index in
        run.step(index, entries[index].title, entries[index].make, action)
      })
    return try run.result()
  }
}

/// The progress of a batch.
public struct BatchProgress: Sendable, CustomStringConvertible {
  /// The title of the accessor, or its name.
  public let title: String
  /// The number of the accessor in the order in which they began, from 1.
  public let number: Int
  /// The number of accessors in the batch.
  public let count: Int
  /// The status of the accessor; nil until it was checked.
  public internal(set) var status: AuthorizationStatus?
  /// The number of accessors so far that have access.
  public internal(set) var granted: Int
  /// The number of accessors so far that are denied or restricted.
  public internal(set) var refused: Int

  /// The number and the title: `2/3 microphone`.
  public var description: String { "\(number)/\(count) \(Sanitizer.clean(title))" }
}

/// The outcome of a batch.
public struct BatchResult: Sendable {
  /// The reports on the accessors that ran, in the order in which the accessors were added.
  public let reports: [AccessReport]
  /// The number of accessors in the batch; those without a report did not run.
  public let count: Int
  /// The number of accessors that have access, see `AccessReport.isGranted`.
  public let granted: Int
  /// The number of accessors that are denied or restricted.
  public let refused: Int

  /// Whether every accessor of the batch has access; false without accessors.
  public var isGranted: Bool { count > 0 && granted == count }
}

/// One run of a batch, on one or several threads.
private final class BatchRun: Sendable {
  private struct State {
    var reports: [AccessReport?]
    /// Whether the step of each accessor has begun.
    var begun: [Bool]
    var began = 0
    var granted = 0
    var refused = 0
    var failure: PermissionError?
  }

  private let state: Mutex<State>
  private let progress: @Sendable (BatchProgress) -> Void

  init(count: Int, _ progress: @escaping @Sendable (BatchProgress) -> Void) {
    state = Mutex(
      State(
        reports: Array(repeating: nil, count: count), begun: Array(repeating: false, count: count)))
    self.progress = progress
  }

  /// Runs one accessor; returns whether there is access.
  func step(
    _ index: Int, _ title: String?, _ make: AccessBatch.Factory,
    _ action: (PermissionAccessor) throws(PermissionError) -> AccessReport
  ) -> Bool {
    do throws(PermissionError) {
      let mayRun = state.withLock { state in
        if state.failure != nil || state.begun[index] { return false }
        state.begun[index] = true
        return true
      }
      if !mayRun { return false }
      // To create an accessor may take as long as a check.
      let early = title.map(begin)
      let accessor = try make()
      let shown = early ?? begin(accessor.name)
      let report = try action(accessor)
      return end(index, report, shown)
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      return false
    }
  }

  private func begin(_ title: String) -> BatchProgress {
    state.withLock { state in
      state.began += 1
      let shown = BatchProgress(
        title: title, number: state.began, count: state.reports.count, granted: state.granted,
        refused: state.refused)
      progress(shown)
      return shown
    }
  }

  private func end(_ index: Int, _ report: AccessReport, _ shown: BatchProgress) -> Bool {
    state.withLock { state in
      state.reports[index] = report
      if report.isGranted { state.granted += 1 }
      if [.denied, .restricted].contains(report.status) { state.refused += 1 }
      var shown = shown
      (shown.status, shown.granted, shown.refused) = (report.status, state.granted, state.refused)
      progress(shown)
    }
    return report.isGranted
  }

  /// Returns the outcome; throws the first error.
  func result() throws(PermissionError) -> BatchResult {
    let state = state.withLock { $0 }
    if let failure = state.failure { throw failure }
    return BatchResult(
      reports: state.reports.compactMap { $0 }, count: state.reports.count,
      granted: state.granted, refused: state.refused)
  }
}

extension Sequence where Element: PermissionAccessor {
  /// Requests access of several accessors, one after the other.
  ///
  /// - Parameter completion: Called with each final report, in order.
  /// - Returns: The final reports, in order.
  /// - Throws: If a change cannot be made or undone; later accessors are not asked then.
  @discardableResult
  public func requestAccessIfNeeded(
    _ completion: (AccessReport) -> Void = { _ in }
  ) throws(PermissionError) -> [AccessReport] {
    var reports: [AccessReport] = []
    for accessor in self { reports.append(try accessor.requestAccessIfNeeded(completion)) }
    return reports
  }
}
