@_spi(SystemCalls) public import PermissionKit

/// A strategy that sends each event to the syslog daemon, as syslog(3) does: facility user, RFC
/// 3164.
///
/// The strategy never waits: if the daemon does not accept the event, it is lost.
public struct SyslogLogging: LoggingStrategy {
  private let identifier: String
  private let socket: DatagramSocket
  private let system: any System

  /// Creates a strategy; nothing is opened before the first event.
  ///
  /// - Parameters:
  ///   - identifier: The name of the program, before its process id.
  ///   - socket: The socket of the daemon.
  ///   - system: The system that has the socket.
  public init(
    identifier: String, socket: PathBytes = "/dev/log", system: any System = Systems.running
  ) {
    self.identifier = identifier
    self.socket = DatagramSocket(path: socket, system: system)
    self.system = system
  }

  /// Sends one event in one datagram, in one line.
  public func log(_ event: AccessEvent) throws(PermissionError) {
    var text = Sanitizer.clean(event.sentence)
    if let subject = event.subject { text += " subject=\(subject)" }
    if let root = event.root { text += " root=\(Sanitizer.clean(root.description))" }
    // LOG_USER is facility 1.
    let head = "<\(8 + event.priority)>\(time) \(Sanitizer.clean(identifier))[\(event.pid)]: "
    try socket.send(Array((head + text).utf8))
  }

  /// The local time as syslog(3) writes it: `Nov  2 03:04:05`.
  private var time: String {
    let now = system.realtime()
    let clock = system.localtime(now)
    let local = Timestamp.rfc3339(now + Int64(clock.offset) * 1_000_000)
    let names = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let parts = local.prefix(10).parts(by: "-").compactMap { Int($0) }
    guard parts.count == 3, names.indices.contains(parts[1] - 1) else { return local }
    func two(_ number: Int, _ fill: String) -> String { (number < 10 ? fill : "") + "\(number)" }
    return "\(names[parts[1] - 1]) \(two(parts[2], " ")) "
      + "\(two(clock.hour, "0")):\(two(clock.minute, "0")):\(two(clock.second, "0"))"
  }
}
