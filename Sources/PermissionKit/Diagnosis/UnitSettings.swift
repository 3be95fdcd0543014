/// The settings of a systemd unit that take devices or folders away from its processes.
///
/// - SeeAlso: systemd.unit(5), systemd.exec(5), systemd.resource-control(5)
struct UnitSettings {
  /// Settings of which the last assignment counts.
  private static let single: Set<String> = [
    "PrivateDevices", "DevicePolicy", "ProtectHome", "ProtectSystem", "RootDirectory", "RootImage",
  ]
  /// Settings whose assignments add up; an empty one takes back those before.
  private static let lists: Set<String> = [
    "DeviceAllow", "SystemCallFilter", "InaccessiblePaths", "ReadOnlyPaths", "TemporaryFileSystem",
  ]
  private static let harmless: Set<String> = ["", "no", "false", "0", "off", "auto"]

  private var assignments: [(name: String, value: String)] = []

  /// Takes the assignments of one more file of the unit, after those of the files before.
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

  /// What is taken away, as the files have it: `PrivateDevices=yes`.
  var telling: [String] {
    assignments.filter { !Self.harmless.contains($0.value) }.map { "\($0.name)=\($0.value)" }
  }
}
