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

  /// Parses devices.list; nil if the cgroup allows what it does not list, for it then does not show what it refuses:
  /// devcgroup_seq_show() in security/device_cgroup.c.
  package init?(list: [UInt8]) {
    var exceptions: [Exception] = []
    for line in list.split(separator: UInt8(ascii: "\n")) {
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") }
        .map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 4, words[0] == "c" || words[0] == "b" else { return nil }
      let numbers = words[1...2].map { $0 == "*" ? UInt32?.none : UInt32($0) ?? .max }
      var access: Permissions = []
      if words[3].utf8.contains(UInt8(ascii: "r")) { access.insert(.read) }
      if words[3].utf8.contains(UInt8(ascii: "w")) { access.insert(.write) }
      exceptions.append(
        Exception(
          kind: words[0] == "c" ? .characterDevice : .blockDevice, major: numbers[0],
          minor: numbers[1], access: access))
    }
    self.init(allowsByDefault: false, exceptions: exceptions)
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
