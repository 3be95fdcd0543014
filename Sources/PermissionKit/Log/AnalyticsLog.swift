internal import Synchronization

/// The log of accessors' events, whose strategy can be changed while it is in use.
public final class AnalyticsLog: Sendable {
  /// The log of every accessor without a log of its own; keeps events in memory by default.
  public static let shared = AnalyticsLog(InMemoryLogging())

  /// Creates a log in memory.
  public static var inMemory: AnalyticsLog { AnalyticsLog(InMemoryLogging()) }

  /// Creates a log in a file of JSON lines.
  public static func file(_ path: PathBytes) -> AnalyticsLog { AnalyticsLog(FileLogging(path)) }

  /// Creates a log on standard error.
  public static var standardError: AnalyticsLog { AnalyticsLog(StandardErrorLogging()) }

  /// Creates a log that discards every event.
  public static var discard: AnalyticsLog { AnalyticsLog(DiscardLogging()) }

  private struct Contents {
    var strategy: any LoggingStrategy
    /// The events that are written at the end of `together`; nil outside.
    var held: [AccessEvent]?
    var failure: PermissionError?
  }

  private let contents: Mutex<Contents>
  package let system: any System
  private let reportsFailure: Bool

  /// Creates a log that uses this strategy, and takes times and ids from this system.
  public init(_ strategy: any LoggingStrategy, system: any System = Systems.running) {
    contents = Mutex(Contents(strategy: strategy, failure: nil))
    self.system = system
    reportsFailure = true
  }

  /// Creates a log.
  ///
  /// - Parameters:
  ///   - strategy: What keeps the events.
  ///   - system: The system that knows times and ids.
  ///   - reportsFailure: Whether the first failure is reported on standard error; otherwise the caller
  ///     does that.
  package init(_ strategy: any LoggingStrategy, system: any System, reportsFailure: Bool) {
    contents = Mutex(Contents(strategy: strategy, failure: nil))
    self.system = system
    self.reportsFailure = reportsFailure
  }

  /// The strategy for the following events.
  public var strategy: any LoggingStrategy {
    get { contents.withLock { $0.strategy } }
    set { contents.withLock { $0.strategy = newValue } }
  }

  /// The first failure to log an event, which is also reported on standard error.
  ///
  /// A failure never changes an answer.
  public var failure: PermissionError? { contents.withLock { $0.failure } }

  /// Logs one event.
  public func log(_ event: AccessEvent) {
    let isHeld = contents.withLock {
      $0.held?.append(event)
      return $0.held != nil
    }
    if !isHeld { write([event]) }
  }

  /// Calls `body`, and logs its events at the end, all at once.
  package func together<Result>(_ body: () throws -> Result) rethrows -> Result {
    let isOutermost = contents.withLock { contents in
      defer { contents.held = contents.held ?? [] }
      return contents.held == nil
    }
    defer {
      if isOutermost {
        let events = contents.withLock { contents in
          defer { contents.held = nil }
          return contents.held ?? []
        }
        write(events)
      }
    }
    return try body()
  }

  private func write(_ events: [AccessEvent]) {
    let strategy = strategy
    do throws(PermissionError) {
      try strategy.log(events)
    } catch {
      let isFirst = contents.withLock { contents in
        defer { contents.failure = contents.failure ?? error }
        return contents.failure == nil
      }
      if isFirst, reportsFailure { report(error) }
    }
  }

  private func report(_ failure: PermissionError) {
    let program = LinuxSystem.arguments.first?.lastComponent.description ?? "PermissionKit"
    let line = "\(program): warning: an event was not logged: \(failure.description)"
    // Standard error is the last place to say it.
    _ = try? system.write(.standardError, Array((Sanitizer.clean(line) + "\n").utf8))
  }

  /// Removes every event.
  public func clear() throws(PermissionError) { try strategy.clear() }

  /// Returns the logged events, oldest first; empty if the strategy cannot read events back.
  public func loggedEvents() throws(PermissionError) -> [AccessEvent] {
    try strategy.loggedEvents()
  }

  func log(_ point: AccessEvent.Point, _ report: AccessReport, duration: Int64) {
    guard !(strategy is DiscardLogging) else { return }
    let event = AccessEvent(
      time: Timestamp.rfc3339(system.realtime()), event: point, accessor: report.accessor,
      status: report.status, reason: report.mainReason?.code,
      uid: (try? system.credentials())?.user.fileSystem ?? .max,
      subject: report.subject?.credentials.user.fileSystem, root: report.root,
      pid: system.getpid(), duration: duration)
    log(event)
  }
}
