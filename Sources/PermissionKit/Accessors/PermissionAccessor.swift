/// A permission that a program can check and request: the base class of every accessor.
///
/// `requestAccessIfNeeded(_:)` is the template method. It checks access. If access is missing and a
/// request can help, it calls `willReceiveAccess()`, requests access, checks again, and calls
/// `didReceiveAccess()` or `didRejectAccess()`. The template itself writes an event to the analytics
/// log at each of these points, so a subclass cannot omit one.
///
/// A program that shows first what would change calls the halves of the template, `prepare()` and
/// `carryOut(_:)`.
///
/// A subclass overrides `checkAccess()`, and `requestAccess(_:)` if it can request access. Hooks are
/// empty and need no `super`. Without an override there is no access.
///
/// An accessor is not Sendable. Share a factory instead, see `AccessorRegistry`, or a
/// `PermissionGate`.
open class PermissionAccessor: CustomStringConvertible {
  /// The name of the accessor: `camera`.
  public let name: String
  /// The log that receives the events of the template.
  public let analytics: AnalyticsLog
  /// Whether the status `limited` counts as access, in `hasAccess()` and for the hooks.
  ///
  /// It never does where everything in a folder was asked about, see `AccessContext.includeContents()`.
  public var acceptsLimited = true
  /// Whether missing access is requested; otherwise the template only checks and calls the hooks.
  public var requestsAccess = true
  /// Lets the requests of a batch wait for one another; nil outside of a batch.
  final var requestLock: RequestLock?
  /// What is carried out at present; nil outside of `carryOut(_:)`.
  private(set) final var prepared: PreparedRequest?

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
    let report = currentAccess()
    let isNeeded = requestsAccess && (isAccess(report) ? endsTooEarly : report.isRequestable)
    var planned: Result<GrantPlan?, PermissionError> = .success(nil)
    if isNeeded {
      do throws(PermissionError) {
        planned = .success(try plannedChanges())
      } catch {
        planned = .failure(error)
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
    if isAccess(report) {
      if prepared.isNeeded {
        report.requestOutcome = try withRequestLock { () throws(PermissionError) in
          try keepAccess()
        }
      }
      return report
    }
    if prepared.isNeeded {
      let requested: AccessReport
      do throws(PermissionError) {
        requested = try withRequestLock { () throws(PermissionError) in
          willReceiveAccess()
          write(.willReceiveAccess, report, since: start)
          return try requestAccess(report)
        }
      } catch {
        didRejectAccess()
        write(.didRejectAccess, report, since: start)
        throw error
      }
      // Only the new check decides, not the report of the request.
      report = checkAccess()
      report.requestOutcome = requested.requestOutcome ?? (isAccess(report) ? .granted : nil)
    }
    if isAccess(report) {
      didReceiveAccess()
      write(.didReceiveAccess, report, since: start)
    } else {
      didRejectAccess()
      write(.didRejectAccess, report, since: start)
    }
    return report
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
    let report = checkAccess()
    write(.check, report, since: start)
    return report
  }

  /// Returns whether there is access now.
  ///
  /// - Returns: True for `authorized`, and for `limited` if `acceptsLimited` is set.
  public final func hasAccess() -> Bool { isAccess(currentAccess()) }

  /// Returns whether the report counts as access.
  package final func isAccess(_ report: AccessReport) -> Bool {
    report.status.isAccess(acceptsLimited: acceptsLimited && !report.includesContents)
  }

  private func write(_ point: AccessEvent.Point, _ report: AccessReport, since start: Int64) {
    analytics.log(point, report, duration: analytics.system.monotonic() - start)
  }

  // MARK: Methods to override

  /// Checks access.
  ///
  /// - Returns: The report; its status is `notDetermined` if access cannot be determined. The template
  ///   requests access only if `isRequestable` is set.
  open func checkAccess() -> AccessReport {
    let reason = Reason(.unreadableFacts, .proven, "\(name) does not override checkAccess()")
    let resource = ResourceReport(
      path: "/", label: name, device: name, need: [], status: .notDetermined, reasons: [reason])
    return AccessReport(accessor: name, status: .notDetermined, resources: [resource])
  }

  /// Requests the access that is missing.
  ///
  /// - Parameter report: The report of the check before the request.
  /// - Returns: The report with `requestOutcome` set; the template always checks again.
  /// - Throws: If a change cannot be made or undone.
  open func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
    report
  }

  /// Whether access that is there may end before what a request would give.
  package var endsTooEarly: Bool { false }

  /// Returns what a request would change; nil if nothing, or if it cannot be told before.
  ///
  /// - Throws: If there is an obstacle that a person must resolve.
  package func plannedChanges() throws(PermissionError) -> GrantPlan? { nil }

  /// Makes access last that `endsTooEarly`.
  ///
  /// - Returns: What was done.
  /// - Throws: If a change cannot be made.
  package func keepAccess() throws(PermissionError) -> RequestOutcome? { nil }

  // MARK: Hooks

  /// Called immediately before a request.
  open func willReceiveAccess() {}
  /// Called after a request if there is access now.
  open func didReceiveAccess() {}
  /// Called whenever there is no access at the end.
  open func didRejectAccess() {}

  /// The name of the accessor; a subclass may return more.
  open var description: String { name }
}

@available(*, unavailable)
extension PermissionAccessor: Sendable {}
