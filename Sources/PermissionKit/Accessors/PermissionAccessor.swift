/// A permission that a program can look at and ask for: the template that every accessor follows.
///
/// `requestAccessIfNeeded(_:)` is the template method. It checks; when access is missing and a
/// request could help, it calls `willReceiveAccess()`, requests, checks again, and ends in
/// `didReceiveAccess()` or `didRejectAccess()`. It writes an event to the analytics log at each of
/// these points itself, so a subclass cannot lose one. A subclass answers one question,
/// `checkAccess()`, and may know how to ask, `requestAccess(_:)`; its hooks need no `super`. What
/// is not overridden is denied.
///
/// Not Sendable: an accessor belongs to whoever made it. Share a factory instead, see
/// `AccessorRegistry`, or a `PermissionGate`.
open class PermissionAccessor: CustomStringConvertible {
  /// The name by which the accessor is asked for: `camera`.
  public let name: String
  /// Where the template writes its events.
  public let analytics: AnalyticsLog
  /// Whether `limited` counts as access, in `hasAccess()` and for the hooks.
  public var acceptsLimited = true

  /// Names an accessor and says where its events go.
  public init(name: String, analytics: AnalyticsLog = .shared) {
    self.name = name
    self.analytics = analytics
  }

  // MARK: The template

  /// Checks access and, where it is missing and a request could help, requests it.
  ///
  /// - Parameter completion: Called once, with the final report, after all hooks.
  /// - Returns: The same report. A denial is a report, not an error.
  /// - Throws: Where a change could not be made or undone.
  @discardableResult
  public final func requestAccessIfNeeded(
    _ completion: (AccessReport) -> Void = { _ in }
  ) throws(PermissionError) -> AccessReport {
    let start = analytics.system.monotonic()
    var report = currentAccess()
    if !isAccess(report) {
      if report.isRequestable {
        willReceiveAccess()
        write(.willReceiveAccess, report, since: start)
        let requested: AccessReport
        do throws(PermissionError) {
          requested = try requestAccess(report)
        } catch {
          didRejectAccess()
          write(.didRejectAccess, report, since: start)
          throw error
        }
        // What the request says of access does not count; what is so now does.
        report = checkAccess()
        report.requestOutcome = requested.requestOutcome
      }
      if isAccess(report) {
        didReceiveAccess()
        write(.didReceiveAccess, report, since: start)
      } else {
        didRejectAccess()
        write(.didRejectAccess, report, since: start)
      }
    }
    completion(report)
    return report
  }

  /// Checks access and writes the outcome to the analytics log.
  public final func currentAccess() -> AccessReport {
    let start = analytics.system.monotonic()
    let report = checkAccess()
    write(.check, report, since: start)
    return report
  }

  /// Whether there is access now: `authorized` or, where `acceptsLimited` is set, `limited`.
  public final func hasAccess() -> Bool { isAccess(currentAccess()) }

  private func isAccess(_ report: AccessReport) -> Bool {
    report.status == .authorized || acceptsLimited && report.status == .limited
  }

  private func write(_ point: AccessEvent.Point, _ report: AccessReport, since start: Int64) {
    analytics.log(point, report, duration: analytics.system.monotonic() - start)
  }

  // MARK: What a subclass answers

  /// Finds out how access stands.
  ///
  /// - Returns: The report; what cannot be told is `notDetermined`, for nothing is thrown.
  open func checkAccess() -> AccessReport {
    AccessReport(accessor: name, status: .notDetermined)
  }

  /// Asks for the access that `report` says is missing.
  ///
  /// - Returns: The report, with `requestOutcome` set; the template checks again in any case.
  /// - Throws: Where a change could not be made or undone.
  open func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
    report
  }

  // MARK: Hooks

  /// Called just before an actual request.
  open func willReceiveAccess() {}
  /// Called when a request was made and there is access now.
  open func didReceiveAccess() {}
  /// Called whenever the outcome is not access.
  open func didRejectAccess() {}

  /// The name, unless a subclass says more.
  open var description: String { name }
}

@available(*, unavailable)
extension PermissionAccessor: Sendable {}
