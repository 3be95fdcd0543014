extension System {
  /// Locks a file for this process, see flock(2), and waits while another process has the lock.
  ///
  /// - Parameters:
  ///   - file: The open file.
  ///   - deadline: How long to wait, by `monotonic()`.
  /// - Throws: EAGAIN if another process still has the lock then.
  package func flock(_ file: Descriptor, until deadline: Int64) throws(Errno) {
    var pause: Int32 = 1
    while true {
      do throws(Errno) {
        return try flock(file)
      } catch .EAGAIN where monotonic() < deadline {
        _ = try? poll([], timeout: pause)
        pause = min(pause * 2, 20)
      } catch .EINTR {
      }
    }
  }

  /// Returns the process that has a lock by flock(2), from /proc/locks; nil if that is not shown.
  func lockHolder(of file: Descriptor) -> Int32? {
    guard let status = try? statx(file),
      let bytes = try? contents(of: "/proc/locks", limit: 1 << 24)
    else { return nil }
    // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
    func hex(_ number: UInt32) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
    let device = status.fileSystem
    let place = "\(hex(device.major)):\(hex(device.minor)):\(status.inode)"
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      guard fields.count > 5, fields[1] == "FLOCK", fields[5] == place else { continue }
      return Int32(fields[4])
    }
    return nil
  }
}
