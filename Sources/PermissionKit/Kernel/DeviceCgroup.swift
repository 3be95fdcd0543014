/// A cgroup v1 device whitelist, see `devcgroup_check_permission()` in security/device_cgroup.c.
package struct DeviceCgroup: Hashable, Sendable {
  /// One line of devices.allow or devices.deny: `c 81:* rw`.
  package struct Exception: Hashable, Sendable {
    /// The kind of device: character or block.
    package var kind: FileKind
    /// The major number; nil stands for `*`.
    package var major: UInt32?
    /// The minor number; nil stands for `*`.
    package var minor: UInt32?
    /// The read and write permissions; mknod does not matter for an open.
    package var access: Permissions

    /// Creates a line of a device whitelist.
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

  /// Whether a device that no exception matches is allowed.
  package var allowsByDefault: Bool
  /// The exceptions: refused if `allowsByDefault`, allowed otherwise.
  package var exceptions: [Exception]

  /// Creates a whitelist with these values.
  package init(allowsByDefault: Bool, exceptions: [Exception]) {
    self.allowsByDefault = allowsByDefault
    self.exceptions = exceptions
  }

  /// Returns whether the cgroup allows `access` to the device; only read and write count.
  func allows(
    _ access: Permissions, _ kind: FileKind, _ device: DeviceNumber
  ) -> Bool {
    let access = access.intersection([.read, .write])
    if allowsByDefault {
      // match_exception_partial(): one common bit is enough to refuse.
      return !exceptions.contains {
        $0.matches(kind, device) && !$0.access.isDisjoint(with: access)
      }
    }
    // match_exception(): one exception must contain every bit.
    return exceptions.contains { $0.matches(kind, device) && $0.access.isSuperset(of: access) }
  }
}
