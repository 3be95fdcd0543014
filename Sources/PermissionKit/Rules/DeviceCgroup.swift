/// A cgroup v1 device whitelist, see `devcgroup_check_permission()` in security/device_cgroup.c.
package struct DeviceCgroup: Hashable, Sendable {
  /// One line of devices.allow or devices.deny: `c 81:* rw`.
  package struct Exception: Hashable, Sendable {
    /// Character or block device.
    package var kind: FileKind
    /// Nil stands for `*`.
    package var major: UInt32?
    /// Nil stands for `*`.
    package var minor: UInt32?
    /// Read and write; mknod takes no part in an open.
    package var access: Permissions

    /// Makes one of its parts.
    package init(kind: FileKind, major: UInt32?, minor: UInt32?, access: Permissions) {
      self.kind = kind
      self.major = major
      self.minor = minor
      self.access = access
    }

    func matches(_ kind: FileKind, _ device: DeviceNumber) -> Bool {
      kind == self.kind && (major == nil || major == device.major)
        && (minor == nil || minor == device.minor)
    }
  }

  /// What goes for a device that no exception matches.
  package var allowsByDefault: Bool
  /// What is refused when `allowsByDefault`, what is allowed otherwise.
  package var exceptions: [Exception]

  /// Makes one of its parts.
  package init(allowsByDefault: Bool, exceptions: [Exception]) {
    self.allowsByDefault = allowsByDefault
    self.exceptions = exceptions
  }

  /// Whether `access` (read and write count) to the device is let through.
  func allows(
    _ access: Permissions, _ kind: FileKind, _ device: DeviceNumber
  ) -> Bool {
    let access = access.intersection([.read, .write])
    if allowsByDefault {
      // match_exception_partial(): one bit in common is enough to refuse.
      return !exceptions.contains {
        $0.matches(kind, device) && !$0.access.isDisjoint(with: access)
      }
    }
    // match_exception(): one exception must hold every bit.
    return exceptions.contains { $0.matches(kind, device) && $0.access.isSuperset(of: access) }
  }
}
