/// The settings of a systemd unit that hide devices or folders from its processes.
///
/// - SeeAlso: systemd.unit(5), systemd.exec(5), systemd.resource-control(5)
struct UnitSettings {
  /// The settings whose last assignment takes effect.
  private static let single: Set<String> = [
    "PrivateDevices", "DevicePolicy", "ProtectHome", "ProtectSystem", "RootDirectory", "RootImage",
  ]
  /// The settings whose assignments add up; an empty assignment clears the earlier ones.
  private static let lists: Set<String> = [
    "DeviceAllow", "SystemCallFilter", "InaccessiblePaths", "ReadOnlyPaths", "TemporaryFileSystem",
  ]
  /// The values that restrict nothing.
  private static let harmless: Set<String> = ["", "no", "false", "0", "off", "auto"]

  private var assignments: [(name: String, value: String)] = []

  /// Adds the assignments of another file of the unit; call this in the order of the files.
  mutating func read(_ file: String) {
    for line in file.split(separator: "\n") {
      let name = String(line.prefix { $0 != "=" })
      let isList = Self.lists.contains(name)
      guard isList || Self.single.contains(name) else { continue }
      let value = String(line.dropFirst(name.count + 1))
      if !isList || value.isEmpty { assignments.removeAll { $0.name == name } }
      assignments.append((name, value))
    }
  }

  /// The settings that restrict something, as lines: `PrivateDevices=yes`.
  var restrictive: [String] {
    assignments.filter { !Self.harmless.contains($0.value) }.map { "\($0.name)=\($0.value)" }
  }
}
