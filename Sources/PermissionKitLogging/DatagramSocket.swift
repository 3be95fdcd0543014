@_spi(SystemCalls) import PermissionKit

/// A socket of a logging daemon, which gets each message in a datagram.
struct DatagramSocket: Sendable {
  let path: PathBytes
  let system: any System

  /// Sends one message without waiting.
  ///
  /// An event is far smaller than the 200 kB that a datagram may have: its longest part is one path.
  ///
  /// - Throws: If there is no daemon, or it takes no message now.
  func send(_ bytes: [UInt8]) throws(PermissionError) {
    var call = "connect"
    do throws(Errno) {
      let socket = try system.connectDatagram(path)
      defer { system.close(socket) }
      call = "send"
      _ = try system.send(socket, bytes)
    } catch {
      throw PermissionError(
        .system, "\(path) accepts no event of the analytics log", path: path, call: call,
        errno: error,
        advice: "see whether the daemon runs, or choose another log")
    }
  }
}
