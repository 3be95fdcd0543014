/// The place where an `AnalyticsLog` writes its events.
///
/// Only `log(_ event:)` is required: the other methods are for places that write several events at once, or
/// can be read back.
public protocol LoggingStrategy: Sendable {
  /// Logs one event.
  ///
  /// - Throws: An error if the event could not be logged. The log reports it; no answer changes.
  func log(_ event: AccessEvent) throws(PermissionError)
  /// Logs several events, in their order.
  ///
  /// - Throws: The first error; the events after it are not logged.
  func log(_ events: [AccessEvent]) throws(PermissionError)
  /// Removes every event that can be removed; by default nothing.
  func clear() throws(PermissionError)
  /// Returns the logged events, oldest first; empty by default, if the place cannot be read back.
  func loggedEvents() throws(PermissionError) -> [AccessEvent]
}

extension LoggingStrategy {
  /// Logs one event after the other.
  public func log(_ events: [AccessEvent]) throws(PermissionError) {
    for event in events { try log(event) }
  }

  /// Removes nothing.
  public func clear() throws(PermissionError) {}

  /// Returns nothing.
  public func loggedEvents() throws(PermissionError) -> [AccessEvent] { [] }
}
