public import PermissionKit

/// A strategy that sends each event to the journal of systemd, by its native protocol.
///
/// An event has the fields `PERMISSION_EVENT`, `_ACCESSOR`, `_STATUS`, `_REASON`, `_SUBJECT`,
/// `_ROOT` and `_DURATION_USEC`, so that `journalctl PERMISSION_STATUS=denied` finds it. The
/// journal itself adds the sender. The strategy never waits: if the journal does not accept the
/// event, it is lost.
///
/// - SeeAlso: systemd.io/JOURNAL_NATIVE_PROTOCOL, systemd-journald.service(8)
public struct JournaldLogging: LoggingStrategy {
  private let identifier: String
  private let socket: DatagramSocket

  /// Creates a strategy; nothing is opened before the first event.
  ///
  /// - Parameters:
  ///   - identifier: The name of the program, SYSLOG_IDENTIFIER.
  ///   - socket: The socket of the journal.
  ///   - system: The system that has the socket.
  public init(
    identifier: String, socket: PathBytes = "/run/systemd/journal/socket",
    system: any System = Systems.running
  ) {
    self.identifier = identifier
    self.socket = DatagramSocket(path: socket, system: system)
  }

  /// Sends one event in one datagram.
  public func log(_ event: AccessEvent) throws(PermissionError) {
    var fields = [
      ("MESSAGE", event.sentence), ("PRIORITY", "\(event.priority)"),
      ("SYSLOG_IDENTIFIER", identifier), ("PERMISSION_EVENT", event.event.rawValue),
      ("PERMISSION_ACCESSOR", event.accessor), ("PERMISSION_STATUS", event.status.rawValue),
      ("PERMISSION_DURATION_USEC", "\(event.duration)"),
    ]
    if let reason = event.reason { fields.append(("PERMISSION_REASON", reason.rawValue)) }
    if let subject = event.subject { fields.append(("PERMISSION_SUBJECT", "\(subject)")) }
    if let root = event.root { fields.append(("PERMISSION_ROOT", root.description)) }
    try socket.send(fields.flatMap { Self.field($0.0, $0.1) })
  }

  /// Returns a field; a value of several lines has its length before it, in 64 bits, little-endian.
  private static func field(_ name: String, _ value: String) -> [UInt8] {
    let bytes = Array(value.utf8)
    let newline = UInt8(ascii: "\n")
    guard bytes.contains(newline) else {
      return Array(name.utf8) + [UInt8(ascii: "=")] + bytes + [newline]
    }
    let length = (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
    return Array(name.utf8) + [newline] + length + bytes + [newline]
  }
}

extension AccessEvent {
  /// The event as a sentence.
  var sentence: String {
    let reason = reason.map { " (\($0.rawValue))" } ?? ""
    return "\(event.rawValue) \(accessor): \(status.rawValue)\(reason)"
  }

  /// Whether the event reports refused access.
  var isRefusal: Bool { [.denied, .restricted].contains(status) }

  /// The level of syslog(3): notice (5) where access is refused, otherwise info (6).
  var priority: Int { isRefusal ? 5 : 6 }
}
