public import PermissionKit

/// The rules that every accessor must follow, for a test of your own accessor.
public enum AccessorContract: Sendable {
  /// Checks an accessor, requests access once and returns every violation of the rules.
  ///
  /// - Parameter make: Creates the accessor, which must write to the given log.
  /// - Returns: One line for each violation; empty if the accessor follows the rules.
  public static func violations(
    of make: (AnalyticsLog) -> PermissionAccessor
  ) -> [String] {
    let log = AnalyticsLog.inMemory
    let accessor = make(log)
    var violations: [String] = []
    func expect(_ holds: Bool, _ message: String) {
      if !holds { violations.append(message) }
    }

    expect(!accessor.name.isEmpty, "the name is empty")
    expect(accessor.analytics === log, "the accessor writes to another log than it was given")
    let report = accessor.checkAccess()
    expect(report.accessor == accessor.name, "the report names another accessor")
    expect(
      !(report.status == .authorized && report.isRequestable),
      "authorized, and yet something is to be requested")
    expect(
      report.status == .authorized || report.resources.allSatisfy { $0.status != .authorized }
        || report.status == .limited || !report.resources.isEmpty,
      "the status does not follow from the resources")
    expect(
      report.status != .authorized || report.resources.allSatisfy { $0.status == .authorized },
      "authorized, though a resource is not")

    var completions = 0
    var final: AccessReport?
    do throws(PermissionError) {
      final = try accessor.requestAccessIfNeeded { _ in completions += 1 }
      expect(completions == 1, "the completion was called \(completions) times")
    } catch {
      expect(completions == 0, "the completion was called although the request failed")
    }
    let events = (try? log.loggedEvents()) ?? []
    expect(events.first?.event == .check, "the first event is not a check")
    let points = events.dropFirst().map(\.event)
    let isAccess = final.map { $0.status == .authorized || $0.status == .limited } ?? false
    let allowed: [[AccessEvent.Point]] =
      isAccess
      ? [[], [.willReceiveAccess, .didReceiveAccess]]
      : [[.didRejectAccess], [.willReceiveAccess, .didRejectAccess]]
    expect(allowed.contains(points), "the events \(points.map(\.rawValue)) do not fit the outcome")
    return violations
  }
}
