/// A unit of systemd that a process belongs to: a slice, a scope or a service.
struct SystemdUnit: Hashable {
  let name: String
  /// Whether the unit belongs to the manager of a user instead of that of the system.
  let isOfUser: Bool

  /// The section of a unit file that its settings are in: `Service`.
  var section: String {
    let type = name.parts(by: ".").last.map(String.init) ?? ""
    return type.prefix(1).uppercased() + type.dropFirst()
  }

  /// Returns a command of systemctl(1) for its manager.
  func systemctl(_ words: String...) -> [PathBytes] {
    (["systemctl"] + (isOfUser ? ["--user"] : []) + words).map { PathBytes($0) }
  }

  /// Returns the units around a process, outermost first; empty where systemd does not run.
  ///
  /// Cgroups below a service or scope belong to it, except below the manager of a user, which has units.
  ///
  /// - Parameter cgroups: /proc/PID/cgroup.
  /// - Returns: The units.
  static func units(_ cgroups: String) -> [SystemdUnit] {
    let lines = cgroups.parts(by: "\n")
    // Of version 1 systemd has a hierarchy of its own.
    guard
      let line = lines.first(where: { $0.has(":name=systemd:") })
        ?? lines.first(where: { $0.hasPrefix("0::") })
    else { return [] }
    var units: [SystemdUnit] = []
    var isOfUser = false
    for name in line.drop(while: { $0 != "/" }).parts(by: "/") {
      let isSlice = name.hasSuffix(".slice")
      guard isSlice || name.hasSuffix(".service") || name.hasSuffix(".scope") else { break }
      units.append(SystemdUnit(name: String(name), isOfUser: isOfUser))
      if !isOfUser, name.hasPrefix("user@"), name.hasSuffix(".service") {
        isOfUser = true
      } else if !isSlice {
        break
      }
    }
    return units
  }
}

/// The settings of a system unit about devices, see systemd.resource-control(5).
///
/// The manager of a user has no right to refuse devices.
struct DevicePolicy {
  let unit: SystemdUnit
  /// The settings about devices, as lines: `DevicePolicy=closed`.
  let settings: [String]

  /// Reads the policies of the units around a process, those that refuse some device.
  ///
  /// - Parameters:
  ///   - process: The process; nil for this one.
  ///   - system: The system to read.
  /// - Returns: The policies, outermost first.
  static func policies(_ process: Int32?, _ system: any System) -> [DevicePolicy] {
    let file = PathBytes("/proc/\(process.map(String.init) ?? "self")/cgroup")
    guard let text = try? system.contents(of: file, limit: 1 << 18) else { return [] }
    return SystemdUnit.units(String(decoding: text, as: UTF8.self))
      .compactMap { $0.isOfUser ? nil : DevicePolicy($0, system) }
  }

  /// Reads the policy of a unit; nil if it allows every device, or its files cannot be seen.
  init?(_ unit: SystemdUnit, _ system: any System) {
    self.init(unit, UnitSettings.read(unit, below: "/", system).settings)
  }

  /// Creates the policy of a unit with these settings; nil if they allow every device.
  init?(_ unit: SystemdUnit, _ all: UnitSettings) {
    self.unit = unit
    settings = all.restrictive.filter { line in
      // Each of them allows nothing but pseudo devices, and what DeviceAllow= adds.
      ["DevicePolicy=", "DeviceAllow=", "PrivateDevices="].contains { line.hasPrefix($0) }
    }
    if settings.isEmpty { return nil }
  }

  /// The devices that may be opened for reading and writing: the path of a node, or `char-` and a pattern
  /// for the name of a driver.
  private var allowed: [Substring] {
    settings.compactMap { line in
      guard line.hasPrefix("DeviceAllow=") else { return nil }
      let words = line.dropFirst(12).parts(by: " ")
      let access = words.count > 1 ? words[1] : "rwm"
      return access.has("r") && access.has("w") ? words.first : nil
    }
  }

  /// Returns whether it allows a character device to be opened for reading and writing.
  func allows(_ device: DeviceNumber, _ system: any System) -> Bool {
    allowed.contains { name in
      name.hasPrefix("/")
        ? (try? system.status(of: PathBytes(String(name))))?.device == device
        : Self.drivers(device, system).contains { Self.allows("char-\($0)", name) }
    }
  }

  /// Returns whether it allows all devices of a driver: `char-alsa`.
  func allows(driver: String) -> Bool { allowed.contains { Self.allows(driver, $0) } }

  private static func allows(_ driver: String, _ pattern: Substring) -> Bool {
    Glob.matches(Array(driver.utf8)[...], Array(pattern.utf8)[...])
  }

  /// The names in /proc/devices for the major number of a character device.
  private static func drivers(_ device: DeviceNumber, _ system: any System) -> [String] {
    guard let text = try? system.contents(of: "/proc/devices", limit: 1 << 18) else { return [] }
    let lines = String(decoding: text, as: UTF8.self).parts(by: "\n")
      .prefix { !$0.hasPrefix("Block") }
    return lines.compactMap { line in
      let words = line.parts(by: " ")
      return words.count == 2 && UInt32(words[0]) == device.major ? String(words[1]) : nil
    }
  }
}
