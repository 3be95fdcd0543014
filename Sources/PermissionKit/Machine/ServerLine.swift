/// A connection to a server that lists devices, with a limit of time and of bytes.
struct ServerLine: ~Copyable {
  /// The time that a server has for everything, in microseconds.
  static let time: Int64 = 100_000
  /// The most bytes that a server may answer.
  static let size = 1 << 20

  private let system: any System
  private let socket: Descriptor
  private let end: Int64
  private var left = ServerLine.size
  private var received: ArraySlice<UInt8> = []

  /// Connects to a server.
  ///
  /// - Throws: The errno of connect(2).
  init(_ system: any System, _ path: PathBytes) throws(Errno) {
    self.system = system
    end = system.monotonic() + Self.time
    socket = try system.connect(path)
  }

  deinit { system.close(socket) }

  /// Sends all bytes.
  ///
  /// - Throws: ETIMEDOUT if the server takes none of them in time.
  mutating func send(_ bytes: [UInt8]) throws(Errno) {
    var rest = bytes[...]
    while !rest.isEmpty {
      do throws(Errno) {
        rest = rest.dropFirst(try system.send(socket, Array(rest)))
      } catch .EAGAIN {
        try wait(.writable)
      }
    }
  }

  /// Returns the next bytes of the answer.
  ///
  /// - Parameter count: How many bytes.
  /// - Returns: As many bytes.
  /// - Throws: ETIMEDOUT after the limit of time; EFBIG if the answer is too long; EPIPE if the server
  ///   ends it early.
  mutating func receive(_ count: Int) throws(Errno) -> [UInt8] {
    guard count <= left else { throw .EFBIG }
    left -= count
    while received.count < count {
      guard system.monotonic() < end else { throw .ETIMEDOUT }
      do throws(Errno) {
        let part = try system.read(socket, 1 << 16)
        if part.isEmpty { throw .EPIPE }
        received.append(contentsOf: part)
      } catch .EAGAIN {
        try wait(.readable)
      }
    }
    defer { received = received.dropFirst(count) }
    return Array(received.prefix(count))
  }

  private func wait(_ events: PollEvents) throws(Errno) {
    let rest = end - system.monotonic()
    guard rest > 0 else { throw .ETIMEDOUT }
    do throws(Errno) {
      _ = try system.poll([PollRequest(socket, events)], timeout: Int32((rest + 999) / 1000))
    } catch .EINTR {
    }
  }
}

/// A device that a server offers to programs.
struct OfferedDevice: Hashable, Sendable {
  /// The name of the server's own: `alsa_input.pci-0000_00_1f.3.analog-stereo`.
  var name: String
  /// The name for people; the same as `name` if there is none.
  var label: String
  /// Whether the device is muted, so that it records silence.
  var isMuted = false
  /// Whether there is no device behind it: the monitor of a loudspeaker, or a stand-in.
  var isEmpty = false
}
