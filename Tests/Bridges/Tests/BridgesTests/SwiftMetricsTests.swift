import CoreMetrics
import MetricsTestKit
import PermissionKit
import PermissionKitLogging
import Testing

@Suite struct SwiftMetricsTests {
  private let metrics = TestMetrics()

  /// Each counter as `permcheck log --format openmetrics` writes it.
  private var counts: [String] {
    metrics.counters.map { counter in
      let labels = counter.dimensions.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
      return "\(counter.label){\(labels)} \(counter.totalValue)"
    }.sorted()
  }

  @Test func `Checks are counted by outcome`() {
    for status in AuthorizationStatus.allCases {
      _ = Door(status, SwiftMetricsLogging(factory: metrics)).currentAccess()
    }
    _ = Door(.authorized, name: "gate", SwiftMetricsLogging(factory: metrics)).currentAccess()
    #expect(
      counts == [
        #"permcheck_log_checks{accessor="door",outcome="granted"} 2"#,
        #"permcheck_log_checks{accessor="door",outcome="refused"} 2"#,
        #"permcheck_log_checks{accessor="door",outcome="unavailable"} 1"#,
        #"permcheck_log_checks{accessor="door",outcome="undetermined"} 1"#,
        #"permcheck_log_checks{accessor="gate",outcome="granted"} 1"#,
      ])
    #expect(metrics.recorders.isEmpty && metrics.timers.isEmpty && metrics.meters.isEmpty)
  }

  @Test func `Requests are counted`() throws {
    let door = Door(.denied, SwiftMetricsLogging(factory: metrics))
    for _ in 0..<3 { try door.requestAccessIfNeeded() }
    #expect(
      counts == [
        #"permcheck_log_checks{accessor="door",outcome="refused"} 3"#,
        #"permcheck_log_requests{accessor="door"} 3"#,
      ])
    #expect(door.analytics.failure == nil)
  }

  @Test func `A what-if is not counted`() throws {
    let door = Door(.denied, SwiftMetricsLogging(factory: metrics))
    door.report.root = "/mnt"
    try door.requestAccessIfNeeded()
    #expect(counts.isEmpty)
  }

  @Test func `Hostile text is tamed`() {
    _ = Door(.denied, name: hostile, SwiftMetricsLogging(factory: metrics)).currentAccess()
    #expect(counts == ["permcheck_log_checks{accessor=\"\(tamed)\",outcome=\"refused\"} 1"])
  }

  /// A strategy that is made before the program chooses its backend counts there too.
  @Test func `The backend is that of the program`() {
    let door = Door(.denied, SwiftMetricsLogging())
    withMetricsFactory(metrics) { _ = door.currentAccess() }
    #expect(counts == [#"permcheck_log_checks{accessor="door",outcome="refused"} 1"#])
  }
}
