/// How long a change lasts.
public enum Persistence: String, Hashable, Sendable, CaseIterable {
  /// Until udev configures the node again: device re-plugged, driver reloaded, change event.
  case untilUdevEvent = "until-udev-event"
  /// Until the next boot, because the file system is in memory.
  case untilReboot = "until-reboot"
  /// Until the user logs out.
  case untilLogout = "until-logout"
  /// Until the process ends, whose own mount namespace it is.
  case untilProcessEnds = "until-process-ends"
  /// Until the service starts again, which creates its socket or its own /dev again.
  case untilServiceRestart = "until-service-restart"
  /// Until the control group is removed, as systemd does when a service stops.
  case untilCgroupIsRemoved = "until-cgroup-is-removed"
  /// Until the container or sandbox ends, to which the file or node belongs.
  case untilContainerEnds = "until-container-ends"
  /// Until the snapshot is deleted; the original does not change.
  case untilSnapshotIsDeleted = "until-snapshot-is-deleted"
  /// Until somebody changes the permissions again.
  case permanent

  /// Returns the shortest of several; `permanent` if there are none.
  package static func shortest(of lasting: some Sequence<Persistence>) -> Persistence {
    let order: [Persistence] = [
      .untilProcessEnds, .untilLogout, .untilServiceRestart, .untilCgroupIsRemoved,
      .untilContainerEnds, .untilUdevEvent, .untilReboot, .untilSnapshotIsDeleted, .permanent,
    ]
    let found = Set(lasting)
    return order.first(where: found.contains) ?? .permanent
  }

  /// Creates the time that mode and ACL of an inode of this kind last on a file system, by the mount point.
  package init(_ kind: FileKind, on fileSystem: String, at point: PathBytes) {
    // Whoever listens there makes the socket when it starts: unix(7).
    if kind == .socket {
      self = .untilServiceRestart
      return
    }
    switch fileSystem {
    // An attribute of sysfs goes with its device.
    case "devtmpfs", "sysfs": self = .untilUdevEvent
    // pam_systemd(8) removes the folder of a user with the last session.
    case "tmpfs" where point.isBelow("/run/user"): self = .untilLogout
    // A terminal goes with whoever opened it.
    case "devpts": self = .untilLogout
    case "tmpfs", "ramfs", "proc", "cgroup", "cgroup2", "debugfs", "tracefs", "configfs",
      "securityfs", "selinuxfs", "bpf", "mqueue", "hugetlbfs", "pstore", "binfmt_misc":
      self = .untilReboot
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
    case .untilProcessEnds: "until the process ends"
    case .untilServiceRestart: "until the service starts again"
    case .untilCgroupIsRemoved: "until the control group is removed"
    case .untilContainerEnds: "until the container or sandbox ends"
    case .untilSnapshotIsDeleted: "until the snapshot is deleted"
    case .permanent: "until you undo it"
    }
  }
}
