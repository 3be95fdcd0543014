/// The settings of a systemd unit that hide devices or folders from its processes.
///
/// - SeeAlso: systemd.unit(5), systemd.exec(5), systemd.resource-control(5)
struct UnitSettings {
  /// The settings whose last assignment takes effect.
  private static let single: Set<String> = [
    "PrivateDevices", "DevicePolicy", "ProtectHome", "ProtectSystem", "RootDirectory", "RootImage",
    "DynamicUser",
  ]
  /// The settings whose assignments add up; an empty assignment clears the earlier ones.
  private static let lists: Set<String> = [
    "DeviceAllow", "SystemCallFilter", "InaccessiblePaths", "ReadOnlyPaths", "TemporaryFileSystem",
  ]
  /// The values that restrict nothing.
  private static let harmless: Set<String> = ["", "no", "false", "0", "off", "auto"]

  private var assignments: [(name: String, value: String)] = []
  /// The assignment of a name from which on they count.
  private var first: [String: Int] = [:]

  /// Adds the assignments of another file of the unit; call this in the order of the files.
  mutating func read(_ file: String) {
    // read_line() of systemd.
    for line in file.parts(byAny: "\n\r\0") {
      let halves = line.parts(by: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(halves[0])
      let isList = Self.lists.contains(name)
      guard isList || Self.single.contains(name) else { continue }
      let value = String(halves.dropFirst().first ?? "")
      if !isList || value.isEmpty { first[name] = assignments.count }
      assignments.append((name, value))
    }
  }

  /// The settings that restrict something, as lines: `PrivateDevices=yes`.
  var restrictive: [String] {
    assignments.enumerated().compactMap { index, line in
      index < first[line.name] ?? 0 || Self.harmless.contains(line.value)
        ? nil : "\(line.name)=\(line.value)"
    }
  }
}

extension UnitSettings {
  /// The most bytes of a file, and the most drop-ins, that are read.
  private static let (mostBytes, mostDropIns) = (1 << 18, 64)

  /// Returns the folders of unit files; the first folder with a file takes precedence, see systemd.unit(5).
  private static func folders(_ unit: SystemdUnit, _ home: PathBytes?) -> [String] {
    guard unit.isOfUser else {
      return [
        "etc/systemd/system.control", "run/systemd/system.control", "run/systemd/transient",
        "etc/systemd/system", "run/systemd/system", "run/systemd/generator",
        "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system",
      ]
    }
    let own = home.map { String($0.description.drop { $0 == "/" }) + "/.config/systemd" }
    return (own.map { ["\($0)/user.control", "\($0)/user"] } ?? []) + [
      "etc/systemd/user", "run/systemd/user", "usr/local/lib/systemd/user", "usr/lib/systemd/user",
    ]
  }

  /// Reads the settings of a unit: its own file, and the drop-ins for it, for names that begin like
  /// its own (`user-.slice.d`), and for its type.
  ///
  ///
  /// - Parameters:
  ///   - unit: The unit.
  ///   - home: The home of the user whose manager has the unit; nil if it is not known.
  ///   - subject: The user who runs the unit, who can change what is below `home`; nil without `home`.
  ///   - root: The folder that stands for `/`.
  ///   - system: The system to read.
  /// - Returns: The settings, whether the file of the unit itself was there, and what could not be seen.
  static func read(
    _ unit: SystemdUnit, home: PathBytes? = nil, of subject: Subject? = nil,
    below root: PathBytes, _ system: any System
  ) -> (settings: UnitSettings, isSeen: Bool, unseen: [Unseen]) {
    let (folders, unit) = (folders(unit, home), unit.name)
    let own = home.map { PathBytes(Array($0.bytes.drop { $0 == UInt8(ascii: "/") })) }
    let atHome = home.flatMap { home in
      subject.map { system.door(to: home.below(root).appending("unit"), of: $0, below: root) }
    }
    // Who may change what is in a home chooses what is there.
    func reader(_ path: PathBytes) -> any System {
      guard let own, let atHome, path.isBelow(own) else { return system }
      return atHome
    }
    var unseen: [Unseen] = []
    func text(_ path: PathBytes) -> String? {
      let look = reader(path).look(at: root.appending(path), limit: mostBytes)
      if let part = look.unseen { unseen.append(part) }
      return look.value.map { String(decoding: $0, as: UTF8.self) }
    }
    func names(_ folder: PathBytes) -> [PathBytes] {
      let (place, reader) = (root.appending(folder), reader(folder))
      let look = reader.look(at: place) { () throws(Errno) in try reader.names(in: place) }
      if let part = look.unseen { unseen.append(part) }
      return look.value ?? []
    }
    var settings = UnitSettings()
    var isSeen = false
    let type = unit.parts(by: ".").last.map(String.init) ?? ""
    let prefixes = unit.indices.filter { unit[$0] == "-" }
      .map { "\(unit[...$0]).\(type)" }.reversed()
    // systemd reads drop-ins in the order of their names, from all folders together.
    var dropIns: [PathBytes: PathBytes] = [:]
    for name in [unit] + prefixes + [type] {
      for folder in folders {
        // The service itself may see other files.
        if !isSeen, name == unit, let file = text(PathBytes("\(folder)/\(unit)")) {
          settings.read(file)
          isSeen = true
        }
        let place = PathBytes("\(folder)/\(name).d")
        for name in names(place) where name.bytes.suffix(5).elementsEqual(".conf".utf8) {
          if dropIns[name] == nil { dropIns[name] = place.appending(name) }
        }
      }
    }
    for (_, path) in dropIns.sorted(by: { $0.key < $1.key }).prefix(mostDropIns) {
      settings.read(text(path) ?? "")
    }
    return (settings, isSeen, unseen)
  }
}

extension UnitSettings {
  /// The effect of a setting on the files below some folders, see systemd.exec(5).
  struct Effect: Hashable {
    /// How the setting hides or protects the files.
    enum Kind: Hashable {
      /// The folder is covered by one that nobody may enter.
      case inaccessible
      /// The folder is covered by an empty file system.
      case empty
      /// The folder is mounted read-only.
      case readOnly
    }

    /// The setting, as a line: `ProtectHome=yes`.
    let setting: String
    let kind: Kind
    /// The folders that the setting affects.
    let folders: [PathBytes]
    /// The fewest lines of a drop-in that give the service one path.
    let lines: [String]
  }

  /// Returns the effects of settings on a path; empty if none affects it.
  static func effects(_ settings: [String], on path: PathBytes) -> [Effect] {
    settings.flatMap { effects($0, of: settings, on: path) }.filter { effect in
      effect.folders.contains { $0 == "/" || path == $0 || path.isBelow($0) }
    }
  }

  private static func effects(
    _ setting: String, of all: [String], on path: PathBytes
  ) -> [Effect] {
    let name = String(setting.prefix { $0 != "=" })
    let value = String(setting.dropFirst(name.count + 1))
    func effect(_ kind: Effect.Kind, _ folders: [PathBytes], _ lines: String...) -> Effect {
      Effect(setting: setting, kind: kind, folders: folders, lines: lines)
    }
    // The list starts anew, with the folders that have nothing to do with the path.
    func cleared(_ kind: Effect.Kind) -> Effect {
      let others = all.filter { $0.hasPrefix("\(name)=") }
        .flatMap { folders(String($0.dropFirst(name.count + 1))) }
        .filter { path != $0 && !path.isBelow($0) }
      return Effect(
        setting: setting, kind: kind, folders: folders(value),
        lines: ["\(name)="] + others.map { "\(name)=\($0)" })
    }
    let homes: [PathBytes] = ["/home", "/root", "/run/user"]
    let writable = "ReadWritePaths=\(path)"
    let bound = "BindPaths=\(path)"
    switch name {
    case "ProtectHome" where value == "read-only": return [effect(.readOnly, homes, writable)]
    case "ProtectHome" where value == "tmpfs": return [effect(.empty, homes, bound)]
    case "ProtectHome": return [effect(.inaccessible, homes, "ProtectHome=tmpfs", bound)]
    case "ProtectSystem" where value == "strict", "DynamicUser":
      // The homes are ProtectHome='s.
      let isHome = homes.contains { path == $0 || path.isBelow($0) }
      return isHome && name == "ProtectSystem" ? [] : [effect(.readOnly, ["/"], writable)]
    case "ProtectSystem":
      let folders: [PathBytes] = ["/usr", "/boot", "/efi"] + (value == "full" ? ["/etc"] : [])
      return [effect(.readOnly, folders, writable)]
    case "ReadOnlyPaths" where !folders(value).contains(path):
      return [effect(.readOnly, folders(value), writable)]
    case "InaccessiblePaths": return [cleared(.inaccessible)]
    case "ReadOnlyPaths": return [cleared(.readOnly)]
    // Of devices a program needs more than one node.
    case "TemporaryFileSystem" where path.isBelow("/dev"): return [cleared(.empty)]
    case "TemporaryFileSystem": return [effect(.empty, folders(value), bound)]
    default: return []
    }
  }

  /// Returns the folders of a list: without quotes, the prefixes `-` and `+`, and options after a
  /// colon.
  private static func folders(_ value: String) -> [PathBytes] {
    var items = [""]
    var quote: Character?
    for character in value {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "\"" || character == "'" {
        quote = character
      } else if quote == nil, character == " " {
        items.append("")
      } else {
        items[items.count - 1].append(character)
      }
    }
    return items.filter { !$0.isEmpty }.map { item in
      PathBytes(String(item.drop { $0 == "-" || $0 == "+" }.prefix { $0 != ":" }))
    }
  }
}
