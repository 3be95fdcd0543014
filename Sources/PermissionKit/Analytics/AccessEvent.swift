/// One line of the analytics log: what happened to one accessor at one point of the template.
public struct AccessEvent: Hashable, Sendable {
  /// The points of the template at which an event is written.
  public enum Point: String, Hashable, Sendable, CaseIterable {
    /// Access was looked at.
    case check
    /// A request is about to be made.
    case willReceiveAccess
    /// A request was made, and there is access now.
    case didReceiveAccess
    /// The outcome is not access.
    case didRejectAccess
  }

  /// The version of this format.
  public var v = 1
  /// When, in RFC 3339, UTC, with microseconds.
  public var time: String
  /// The point of the template that was reached.
  public var event: Point
  /// The accessor's name: `camera`.
  public var accessor: String
  /// The status as it was known at that point.
  public var status: AuthorizationStatus
  /// The code of the first reason; nil when there is none.
  public var reason: Reason.Code?
  /// The fsuid of the process that asked.
  public var uid: UInt32
  /// The process that asked, see getpid(2).
  public var pid: Int32
  /// Since the check or the request began, in microseconds.
  public var duration: Int64

  /// Makes one of its parts, in the newest version of the format.
  package init(
    time: String, event: Point, accessor: String, status: AuthorizationStatus,
    reason: Reason.Code? = nil, uid: UInt32, pid: Int32, duration: Int64
  ) {
    self.time = time
    self.event = event
    self.accessor = accessor
    self.status = status
    self.reason = reason
    self.uid = uid
    self.pid = pid
    self.duration = duration
  }
}
