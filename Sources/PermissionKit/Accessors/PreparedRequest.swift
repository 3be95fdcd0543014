/// A planned request: `PermissionAccessor.prepare()` returns it, and `carryOut(_:)` carries it out.
public struct PreparedRequest: Sendable {
  /// The report of the check.
  public let report: AccessReport
  /// Whether access is missing, or may end too early, and a request can help.
  public let isNeeded: Bool
  /// The changes, or the error that prevents planning them.
  package let planned: Result<GrantPlan?, PermissionError>
  /// How long it took to prepare, in microseconds.
  let duration: Int64

  init(
    _ report: AccessReport, isNeeded: Bool, planned: Result<GrantPlan?, PermissionError>,
    duration: Int64
  ) {
    self.report = report
    self.isNeeded = isNeeded
    self.planned = planned
    self.duration = duration
  }

  /// The changes and who else gains; nil if there are none, or if they are unknown before the request.
  public var plan: GrantPlan? {
    if case .success(let plan) = planned { plan } else { nil }
  }

  /// The obstacle that a person must remove before the changes can be planned; nil if there is
  /// none.
  public var obstacle: PermissionError? {
    if case .failure(let error) = planned { error } else { nil }
  }
}
