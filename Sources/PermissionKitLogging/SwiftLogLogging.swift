#if SwiftLog
  public import Logging
  public import PermissionKit

  /// A strategy that sends each event to a `Logger` of swift-log; exists with the package trait
  /// `SwiftLog`.
  ///
  /// The level is notice if access is refused, otherwise info. The metadata has the members of a
  /// line of `FileLogging`, by their names: `accessor`, `status`, `reason`. Texts have no control
  /// characters, so that a name cannot add a line of its own. The strategy does not wait; a log
  /// handler may.
  public struct SwiftLogLogging: LoggingStrategy {
    private let logger: Logger

    /// Creates a strategy.
    ///
    /// - Parameter logger: The logger that gets the events, at its level or above.
    public init(_ logger: Logger) { self.logger = logger }

    /// Sends one event.
    public func log(_ event: AccessEvent) {
      logger.log(
        level: event.isRefusal ? .notice : .info, "\(Sanitizer.clean(event.sentence))",
        metadata: Self.metadata(event))
    }

    private static func metadata(_ event: AccessEvent) -> Logger.Metadata {
      var metadata: Logger.Metadata = [
        "v": .stringConvertible(event.v), "uid": .stringConvertible(event.uid),
        "pid": .stringConvertible(event.pid), "duration": .stringConvertible(event.duration),
      ]
      if let subject = event.subject { metadata["subject"] = .stringConvertible(subject) }
      let texts = [
        ("time", event.time), ("event", event.event.rawValue), ("accessor", event.accessor),
        ("status", event.status.rawValue), ("reason", event.reason?.rawValue),
        ("root", event.root?.description),
      ]
      for case (let name, let text?) in texts { metadata[name] = .string(Sanitizer.clean(text)) }
      return metadata
    }
  }
#endif
