#if SwiftMetrics
  public import CoreMetrics
  public import PermissionKit

  /// A strategy that counts events in swift-metrics; exists with the package trait `SwiftMetrics`.
  ///
  /// The counters are those of `permcheck log --format openmetrics`: `permcheck_log_checks` by
  /// `accessor` and `outcome` (granted, refused, unavailable, undetermined), and
  /// `permcheck_log_requests` by `accessor`. A what-if is not counted. The strategy does not wait;
  /// a backend may.
  public struct SwiftMetricsLogging: LoggingStrategy {
    private let factory: (any MetricsFactory)?

    /// Creates a strategy.
    ///
    /// - Parameter factory: The backend; nil for that of `MetricsSystem`, at each event.
    public init(factory: (any MetricsFactory)? = nil) { self.factory = factory }

    /// Counts one event.
    public func log(_ event: AccessEvent) {
      if event.root != nil { return }
      let accessor = ("accessor", Sanitizer.clean(event.accessor))
      switch event.event {
      case .check:
        count(AccessEvent.checksMetric, [accessor, ("outcome", Self.outcome(event.status))])
      case .willReceiveAccess: count(AccessEvent.requestsMetric, [accessor])
      case .didReceiveAccess, .didRejectAccess: break
      }
    }

    private func count(_ metric: String, _ labels: [(String, String)]) {
      let factory = factory ?? MetricsSystem.factory
      Counter(label: metric, dimensions: labels, factory: factory).increment()
    }

    /// The outcome as `permcheck log` has it.
    private static func outcome(_ status: AuthorizationStatus) -> String {
      switch status {
      case .authorized, .limited: "granted"
      case .denied, .restricted: "refused"
      case .unavailable: "unavailable"
      case .notDetermined: "undetermined"
      }
    }
  }
#endif
