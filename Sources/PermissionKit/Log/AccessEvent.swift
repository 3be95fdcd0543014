/// One line of the analytics log: an event of one accessor at one point of the template.
///
/// Its members are those of the JSON in the log, so that a `JSONEncoder` writes what `permcheck log` reads.
public struct AccessEvent: Hashable, Sendable, Codable {
  /// The points of the template at which an event is written.
  public enum Point: String, Hashable, Sendable, CaseIterable, Codable {
    /// A check was made.
    case check
    /// A request will be made.
    case willReceiveAccess
    /// A request was made, and access is granted now.
    case didReceiveAccess
    /// The outcome is that access is not granted.
    case didRejectAccess
  }

  /// The version of this format.
  public var v = 1
  /// The time in RFC 3339, UTC, with microseconds.
  public var time: String
  /// The point of the template.
  public var event: Point
  /// The accessor's name: `camera`.
  public var accessor: String
  /// The status that was known at that point.
  public var status: AuthorizationStatus
  /// The code of the first reason; nil if there is none.
  public var reason: Reason.Code?
  /// The fsuid of the process that wrote the event.
  public var uid: UInt32
  /// The uid of the subject whose access was judged; nil if the accessor does not name it.
  public var subject: UInt32?
  /// The folder that stood for the root directory in a what-if; nil for the machine itself.
  public var root: PathBytes?
  /// The id of the process that wrote the event, see getpid(2).
  public var pid: Int32
  /// The time since the check or the request began, in microseconds.
  public var duration: Int64

  /// Creates an event of the newest version of the format.
  ///
  /// - Parameters:
  ///   - time: The time in RFC 3339, UTC, with microseconds.
  ///   - event: The point of the template.
  ///   - accessor: The accessor's name.
  ///   - status: The status that was known at that point.
  ///   - reason: The code of the first reason.
  ///   - uid: The fsuid of the process.
  ///   - subject: The uid of the subject whose access was judged.
  ///   - root: The folder that stood for the root directory in a what-if.
  ///   - pid: The id of the process.
  ///   - duration: The time since the check or the request began, in microseconds.
  public init(
    time: String, event: Point, accessor: String, status: AuthorizationStatus,
    reason: Reason.Code? = nil, uid: UInt32, subject: UInt32? = nil, root: PathBytes? = nil,
    pid: Int32, duration: Int64
  ) {
    self.time = time
    self.event = event
    self.accessor = accessor
    self.status = status
    self.reason = reason
    self.uid = uid
    self.subject = subject
    self.root = root
    self.pid = pid
    self.duration = duration
  }
}
