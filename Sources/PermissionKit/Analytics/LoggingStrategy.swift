/// Where the events of an `AnalyticsLog` go.
public protocol LoggingStrategy: Sendable {
  /// Keeps one event.
  ///
  /// - Throws: Where it could not be kept. That is reported, and changes no answer.
  func log(_ event: AccessEvent) throws(PermissionError)
  /// Forgets every event.
  func clear() throws(PermissionError)
  /// The events kept, oldest first; none where they cannot be read back.
  func loggedEvents() throws(PermissionError) -> [AccessEvent]
}
