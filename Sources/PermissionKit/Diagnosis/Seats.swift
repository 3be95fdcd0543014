/// The seats and their active users, from the files of logind.
///
/// - SeeAlso: sd-login(3), `70-uaccess.rules` of systemd
struct Seats {
  /// A seat and its active user.
  struct Seat {
    var name: String
    /// The uid of the active session; nil if no session is active.
    var active: UInt32?
  }

  let system: any System
  let root: PathBytes

  init(_ system: any System, root: PathBytes = "/") {
    self.system = system
    self.root = root
  }

  /// The seats, from the files of /run/systemd/seats; empty without logind.
  var all: [Seat] {
    let folder = root.appending("run/systemd/seats")
    return ((try? system.names(in: folder)) ?? []).compactMap { name in
      guard let bytes = try? system.contents(of: folder.appending(name), limit: 1 << 16) else {
        return nil
      }
      var seat = Seat(name: name.description)
      for line in bytes.split(separator: UInt8(ascii: "\n"))
      where line.starts(with: "ACTIVE_UID=".utf8) {
        seat.active = UInt32(String(decoding: line.dropFirst(11), as: UTF8.self))
      }
      return seat
    }
  }

  /// Returns whether udev gives the device to the active user of its seat (TAG+="uaccess").
  func isTagged(_ device: DeviceNumber) -> Bool {
    let tag = root.appending(
      PathBytes("run/udev/tags/uaccess/c\(device.major):\(device.minor)"))
    return (try? system.status(of: tag)) != nil
  }

  /// Returns whether logind gives the device to this user now.
  func give(_ device: DeviceNumber, to uid: UInt32) -> Bool {
    isTagged(device) && all.contains { $0.active == uid }
  }
}
