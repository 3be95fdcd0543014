@_spi(SystemCalls) public import PermissionKit

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
      !report.isRequestable || [.denied, .limited].contains(report.status),
      "\(report.status.rawValue), and yet something is to be requested")
    if let contradiction = contradiction(report) { violations.append(contradiction) }

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
    let isAccess = final.map(\.isGranted) ?? false
    let allowed: [[AccessEvent.Point]] =
      isAccess
      ? [[], [.willReceiveAccess, .didReceiveAccess]]
      : [[.didRejectAccess], [.willReceiveAccess, .didRejectAccess]]
    expect(allowed.contains(points), "the events \(points.map(\.rawValue)) do not fit the outcome")
    return violations
  }

  /// Returns how the status contradicts the resources; nil if it follows from them.
  private static func contradiction(_ report: AccessReport) -> String? {
    var devices: [String: [AuthorizationStatus]] = [:]
    for resource in report.resources {
      devices[resource.device, default: []].append(resource.status)
    }
    if devices.isEmpty { return nil }
    let statuses = devices.values.map { AuthorizationStatus.worst($0) ?? .notDetermined }
    let isUsable = { (status: AuthorizationStatus) in status.isAccess() }
    let status = report.status.rawValue
    switch report.status {
    case .authorized where !statuses.allSatisfy { $0 == .authorized }:
      return "\(status), though a device is not"
    case .limited where !statuses.contains(where: isUsable):
      return "\(status), though no device is usable, not even in part"
    case .limited where statuses.allSatisfy { $0 == .authorized }:
      return "\(status), though every device is authorized"
    case .denied, .restricted, .unavailable, .notDetermined:
      if statuses.contains(where: isUsable) { return "\(status), though a device is usable" }
      return statuses.contains(report.status)
        ? nil : "\(status), though no device has that status"
    default: return nil
    }
  }
}
