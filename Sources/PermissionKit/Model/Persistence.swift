/// How long a change lasts.
public enum Persistence: String, Hashable, Sendable, CaseIterable {
  /// Until udev configures the node again: device re-plugged, driver reloaded, change event.
  case untilUdevEvent = "until-udev-event"
  /// Until the next boot, because the file system is in memory.
  case untilReboot = "until-reboot"
  /// Until the user logs out.
  case untilLogout = "until-logout"
  /// Until somebody changes the permissions again.
  case permanent

  /// Returns the shortest of several; `permanent` if there are none.
  package static func shortest(of lasting: some Sequence<Persistence>) -> Persistence {
    let order: [Persistence] = [.untilLogout, .untilUdevEvent, .untilReboot, .permanent]
    let found = Set(lasting)
    return order.first(where: found.contains) ?? .permanent
  }

  /// Creates the time that mode and ACL of an inode last on a file system of this type.
  init(fileSystem: String) {
    switch fileSystem {
    case "devtmpfs": self = .untilUdevEvent
    case "tmpfs", "ramfs": self = .untilReboot
    default: self = .permanent
    }
  }
}

extension Persistence {
  /// The text for people: `until the device is re-plugged or changed`.
  package var words: String {
    switch self {
    case .untilUdevEvent: "until the device is re-plugged or changed"
    case .untilReboot: "until the next boot"
    case .untilLogout: "until logout"
    case .permanent: "until you undo it"
    }
  }
}
