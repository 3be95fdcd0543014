/// A permission that a program can check and request: the base class of every accessor.
///
/// `requestAccessIfNeeded(_:)` is the template method. It checks access. If access is missing and a
/// request can help, it calls `willReceiveAccess()`, requests access and checks again. At the end it calls
/// one of `didHaveAccess()`, `didReceiveAccess()` and `didRejectAccess()`. The template itself writes an
/// event to the analytics log at each check, request and end, so a subclass cannot omit one.
///
/// A program that shows first what would change calls the halves of the template, `prepare()` and
/// `carryOut(_:)`.
///
/// A subclass overrides `checkAccess()`, and `requestAccess(_:)` if it can request access. Hooks are
/// empty and need no `super`. Without an override there is no access.
///
/// An accessor belongs to no actor: in a module with the default isolation MainActor, a subclass is
/// `nonisolated`. Nor is it Sendable. Share a factory instead, see `AccessorRegistry`, or a
/// `PermissionGate`.
open class PermissionAccessor: CustomStringConvertible {
  /// The name of the accessor: `camera`.
  public let name: String
  /// The log that receives the events of the template.
  public let analytics: AnalyticsLog
  /// Whether the status `limited` counts as access: in `hasAccess()`, for the hooks, and in
  /// `AccessReport.isGranted` of every report.
  ///
  /// It never does where everything in a folder was asked about, see `AccessContext.includeContents()`.
  public var acceptsLimited = true
  /// Whether missing access is requested; otherwise the template only checks and calls the hooks.
  public var requestsAccess = true
  /// Makes the requests of a batch wait for one another; nil outside of a batch.
  final var requestLock: RequestLock?
  /// The newest report of the template: in hooks, and after them.
  ///
  /// In `willReceiveAccess()` the report of the check. In the hook at the end the final report, with the
  /// outcome of the request. Nil before the first check.
  public private(set) final var latestReport: AccessReport?
  /// The changes of the newest request, also in hooks.
  ///
  /// Nil if nothing is requested, or if the changes are unknown before the request.
  public private(set) final var latestPlan: GrantPlan?
  /// The request that is being carried out; nil outside of `carryOut(_:)`.
  private(set) final var prepared: PreparedRequest?
  /// Whether the check that runs belongs to a request.
  private(set) final var isPreparing = false

  /// Creates an accessor.
  ///
  /// - Parameters:
  ///   - name: The name of the accessor.
  ///   - analytics: The log that receives the events.
  public init(name: String, analytics: AnalyticsLog = .shared) {
    self.name = name
    self.analytics = analytics
  }

  // MARK: The template

  /// Checks access, and requests it if it is missing and a request can help.
  ///
  /// - Parameter completion: Called once with the final report, after all hooks.
  /// - Returns: The final report. A denial is a report, not an error.
  /// - Throws: If a change cannot be made or undone.
  @discardableResult
  public final func requestAccessIfNeeded(
    _ completion: (AccessReport) -> Void = { _ in }
  ) throws(PermissionError) -> AccessReport {
    let report = try carryOut(prepare())
    completion(report)
    return report
  }

  /// The first half of the template: checks access, and finds what a request would change.
  ///
  /// - Returns: The report, and the changes to show to the person who decides.
  public final func prepare() -> PreparedRequest {
    let start = analytics.system.monotonic()
    isPreparing = requestsAccess
    var report = currentAccess()
    isPreparing = false
    let isNeeded =
      requestsAccess && (report.isGranted ? endsTooEarly : report.requestability.isPossible)
    var planned: Result<GrantPlan?, PermissionError> = .success(nil)
    if isNeeded {
      do throws(PermissionError) {
        planned = .success(try plannedChanges())
      } catch {
        planned = .failure(error)
      }
      if !report.isGranted, let known = requestability(of: planned) {
        report.requestability = known
        latestReport = report
      }
    }
    return PreparedRequest(
      report, isNeeded: isNeeded, planned: planned,
      duration: analytics.system.monotonic() - start)
  }

  /// The second half of the template: requests access, checks again and calls the hooks.
  ///
  /// - Parameter prepared: What `prepare()` of this accessor returned; nothing else is changed.
  /// - Returns: The final report. A denial is a report, not an error.
  /// - Throws: If a change cannot be made or undone.
  @discardableResult
  public final func carryOut(_ prepared: PreparedRequest) throws(PermissionError) -> AccessReport {
    let start = analytics.system.monotonic() - prepared.duration
    self.prepared = prepared
    defer { self.prepared = nil }
    var report = prepared.report
    (latestReport, latestPlan) = (report, prepared.plan)
    if report.isGranted {
      defer { didHaveAccess() }
      if prepared.isNeeded {
        report.requestOutcome = try withRequestLock { () throws(PermissionError) in
          try keepAccess()
        }
        latestReport = report
      }
      return report
    }
    if prepared.isNeeded {
      do throws(PermissionError) {
        report = try requested(report, since: start)
      } catch {
        didRejectAccess()
        write(.didRejectAccess, report, since: start)
        throw error
      }
      latestReport = report
    }
    if report.isGranted {
      didReceiveAccess()
      write(.didReceiveAccess, report, since: start)
    } else {
      didRejectAccess()
      write(.didRejectAccess, report, since: start)
    }
    return report
  }

  /// Makes a request, checks again, and returns the new report.
  private func requested(
    _ report: AccessReport, since start: Int64
  ) throws(PermissionError) -> AccessReport {
    let requested = try withRequestLock { () throws(PermissionError) in
      try Withdrawal.current?.checkIsOpen()
      willReceiveAccess()
      write(.willReceiveAccess, report, since: start)
      return try requestAccess(report)
    }
    // Only the new check decides, not the report of the request.
    var new = judgedAccess()
    new.requestOutcome = requested.requestOutcome ?? (new.isGranted ? .granted : nil)
    return new
  }

  /// Calls `body` while no other accessor of the batch makes a request.
  private func withRequestLock<Result: Sendable>(
    _ body: () throws(PermissionError) -> Result
  ) throws(PermissionError) -> Result {
    guard let requestLock else { return try body() }
    return try requestLock.withLock(body)
  }

  /// Checks access and writes the result to the analytics log.
  ///
  /// - Returns: The report of the check.
  public final func currentAccess() -> AccessReport {
    let start = analytics.system.monotonic()
    let report = judgedAccess()
    latestReport = report
    write(.check, report, since: start)
    return report
  }

  /// Returns whether there is access now.
  ///
  /// - Returns: `isGranted` of the report of the check.
  public final func hasAccess() -> Bool { currentAccess().isGranted }

  /// Checks access without writing to the log, and sets whether the status counts as access.
  package final func judgedAccess() -> AccessReport {
    var report = checkAccess()
    report.acceptsLimited = acceptsLimited
    return report
  }

  private func write(_ point: AccessEvent.Point, _ report: AccessReport, since start: Int64) {
    analytics.log(point, report, duration: analytics.system.monotonic() - start)
  }

  // MARK: Methods to override

  /// Checks access: for a subclass to override.
  ///
  /// Programs call `currentAccess()` or `hasAccess()`, which log.
  ///
  /// - Returns: The report; its status is `notDetermined` if access cannot be determined. The template
  ///   requests access only if `requestability` says that it is possible.
  open func checkAccess() -> AccessReport {
    let reason = Reason(.unreadableFacts, .proven, "\(name) does not override checkAccess()")
    let resource = ResourceReport(
      path: "/", label: name, device: name, need: [], status: .notDetermined, reasons: [reason])
    return AccessReport(accessor: name, status: .notDetermined, resources: [resource])
  }

  /// Requests the access that is missing: for a subclass to override.
  ///
  /// Programs call `requestAccessIfNeeded(_:)`, which checks, logs and calls the hooks.
  ///
  /// - Parameter report: The report of the check before the request.
  /// - Returns: The report with `requestOutcome` set; the template always checks again.
  /// - Throws: If a change cannot be made or undone.
  open func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
    report
  }

  /// Announces that a change begins now.
  ///
  /// A `requestAccess(_:)` that waits for somebody calls this after the wait. After this call a
  /// `PermissionGate` waits for the end of the change, even if every caller has left.
  ///
  /// - Throws: `withdrawn` if nobody waits for the request any more, so that nothing may be changed.
  public final func beginChange() throws(PermissionError) {
    try Withdrawal.current?.beginChange()
  }

  /// Whether present access may end before the requested access would.
  package var endsTooEarly: Bool { false }

  /// Returns what a request would change; nil if nothing, or if the changes are unknown before the request.
  ///
  /// - Throws: If there is an obstacle that a person must resolve.
  package func plannedChanges() throws(PermissionError) -> GrantPlan? { nil }

  /// Returns who can carry out the plan; nil if the plan does not decide it.
  package func requestability(
    of planned: Result<GrantPlan?, PermissionError>
  ) -> Requestability? { nil }

  /// Extends access that `endsTooEarly`.
  ///
  /// - Returns: What was done.
  /// - Throws: If a change cannot be made.
  package func keepAccess() throws(PermissionError) -> RequestOutcome? { nil }

  // MARK: Hooks

  /// Called immediately before a request.
  open func willReceiveAccess() {}
  /// Called at the end if there was access at the first check, so that nothing had to be requested.
  open func didHaveAccess() {}
  /// Called at the end if a request was made and there is access now.
  open func didReceiveAccess() {}
  /// Called at the end if there is no access; `latestReport` says why.
  open func didRejectAccess() {}

  /// The name of the accessor; a subclass may return more.
  open var description: String { name }
}

@available(*, unavailable)
extension PermissionAccessor: Sendable {}
