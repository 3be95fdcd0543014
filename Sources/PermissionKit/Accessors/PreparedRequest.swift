/// What a request would do: `PermissionAccessor.prepare()` finds it, and `carryOut(_:)` does it.
public struct PreparedRequest: Sendable {
  /// The report of the check.
  public let report: AccessReport
  /// Whether access is missing, or may end too early, and a request can help.
  public let isNeeded: Bool
  /// The changes, or what keeps them from being planned.
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

  /// What would change and who else would gain; nil if nothing would, or if it cannot be told before.
  public var plan: GrantPlan? {
    if case .success(let plan) = planned { plan } else { nil }
  }

  /// What a person must resolve before the changes can be planned; nil if there is nothing.
  public var obstacle: PermissionError? {
    if case .failure(let error) = planned { error } else { nil }
  }
}
