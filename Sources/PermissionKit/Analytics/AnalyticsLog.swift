internal import Synchronization

/// The log that accessors write their events to; where they go can be changed while it runs.
public final class AnalyticsLog: Sendable {
  /// The log of every accessor that was given no other: in memory, until another strategy is set.
  public static let shared = AnalyticsLog(InMemoryLogging())

  /// A new log in memory.
  public static var inMemory: AnalyticsLog { AnalyticsLog(InMemoryLogging()) }

  /// A log in a file of JSON lines.
  public static func file(_ path: PathBytes) -> AnalyticsLog { AnalyticsLog(FileLogging(path)) }

  /// A log to standard error.
  public static var standardError: AnalyticsLog { AnalyticsLog(StandardErrorLogging()) }

  /// A log that keeps nothing.
  public static var discard: AnalyticsLog { AnalyticsLog(DiscardLogging()) }

  private struct Contents {
    var strategy: any LoggingStrategy
    var failure: PermissionError?
  }

  private let contents: Mutex<Contents>
  let system: any System

  /// Makes a log that writes to a strategy and takes times and ids from a system.
  public init(_ strategy: any LoggingStrategy, system: any System = Systems.running) {
    contents = Mutex(Contents(strategy: strategy, failure: nil))
    self.system = system
  }

  /// Where events go from now on.
  public var strategy: any LoggingStrategy {
    get { contents.withLock { $0.strategy } }
    set { contents.withLock { $0.strategy = newValue } }
  }

  /// The first failure to keep an event; it has changed no answer.
  public var failure: PermissionError? { contents.withLock { $0.failure } }

  /// Keeps one event.
  public func log(_ event: AccessEvent) {
    let strategy = strategy
    do throws(PermissionError) {
      try strategy.log(event)
    } catch {
      contents.withLock { $0.failure = $0.failure ?? error }
    }
  }

  /// Forgets every event.
  public func clear() throws(PermissionError) { try strategy.clear() }

  /// The events kept, oldest first; none where they cannot be read back.
  public func loggedEvents() throws(PermissionError) -> [AccessEvent] {
    try strategy.loggedEvents()
  }

  func log(_ point: AccessEvent.Point, _ report: AccessReport, duration: Int64) {
    guard !(strategy is DiscardLogging) else { return }
    log(
      AccessEvent(
        time: Timestamp.rfc3339(system.realtime()), event: point, accessor: report.accessor,
        status: report.status, reason: report.mainReason?.code,
        uid: (try? system.credentials())?.user.fileSystem ?? .max, pid: system.getpid(),
        duration: duration))
  }
}
