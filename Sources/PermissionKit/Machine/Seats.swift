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
    self.system = system.machine(below: root)
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

  /// Returns whether the user is active at the device's seat now, and udev does not give the device
  /// to the active user.
  func isAt(_ uid: UInt32, withoutGiving device: DeviceNumber) -> Bool {
    let own = all.filter { $0.active == uid }
    guard !own.isEmpty, !isTagged(device) else { return false }
    let seat = seat(of: device)
    return own.contains { $0.name == seat }
  }

  /// The file of udev's data base on a device, below the root.
  private func data(of device: DeviceNumber) -> PathBytes {
    PathBytes("run/udev/data/c\(device.major):\(device.minor)")
  }

  /// Returns the name of the seat of a device; logind serves each device at one seat alone.
  func seat(of device: DeviceNumber) -> String {
    let bytes = (try? system.contents(of: root.appending(data(of: device)), limit: 1 << 16)) ?? []
    let line = bytes.split(separator: UInt8(ascii: "\n")).first {
      $0.starts(with: "E:ID_SEAT=".utf8)
    }
    return line.map { String(decoding: $0.dropFirst(10), as: UTF8.self) } ?? "seat0"
  }

  /// Returns whether logind may have given the device to this user after a time.
  ///
  /// It gives devices to the user whose session becomes active, and then writes the file of the seat
  /// (seat_save() in systemd's src/login/logind-seat.c); and udev gives a device that it sets up, and
  /// then writes the device's file (device_update_db()). A program that uses the device changes its
  /// node's times as well, so these say nothing.
  ///
  /// - Parameters:
  ///   - device: The number of the node.
  ///   - uid: The user.
  ///   - time: In nanoseconds since 1970; nil if unknown.
  /// - Returns: Whether an entry of the user may be the seat's.
  func mayHaveGiven(_ device: DeviceNumber, to uid: UInt32, since time: Int64?) -> Bool {
    let seat = seat(of: device)
    guard isTagged(device), all.contains(where: { $0.active == uid && $0.name == seat }) else {
      return false
    }
    let files = [PathBytes("run/systemd/seats/\(seat)"), data(of: device)]
    return files.contains { file in
      guard let time, let written = try? system.status(of: root.appending(file)).changed else {
        return time == nil
      }
      return written >= time
    }
  }
}
