/// A cgroup v1 device whitelist, see `devcgroup_check_permission()` in security/device_cgroup.c.
public struct DeviceCgroup: Hashable, Sendable, Codable {
  /// One line of devices.allow or devices.deny: `c 81:* rw`.
  public struct Exception: Hashable, Sendable, Codable {
    /// Character or block device.
    public var kind: FileKind
    /// Nil stands for `*`.
    public var major: UInt32?
    /// Nil stands for `*`.
    public var minor: UInt32?
    /// Read and write; mknod takes no part in an open.
    public var access: Permissions

    /// Makes one of its parts.
    public init(kind: FileKind, major: UInt32?, minor: UInt32?, access: Permissions) {
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
  public var allowsByDefault: Bool
  /// What is refused when `allowsByDefault`, what is allowed otherwise.
  public var exceptions: [Exception]

  /// Makes one of its parts.
  public init(allowsByDefault: Bool, exceptions: [Exception]) {
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
