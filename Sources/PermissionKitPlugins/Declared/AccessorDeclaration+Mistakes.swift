internal import PermissionKit

extension AccessorDeclaration {
  /// A value that a declaration cannot have.
  public struct Mistake: Hashable, Sendable {
    /// The key of the value, as a file has it: `nodes`.
    public let key: String
    /// The index in the list of the key; nil for the whole value.
    public let index: Int?
    /// The mistake, for people.
    public let message: String

    /// Creates a mistake with these values.
    package init(key: String, index: Int?, message: String) {
      self.key = key
      self.index = index
      self.message = message
    }
  }

  /// The words that cannot be names, because they are commands or mean something else.
  private static let words = [
    "check", "explain", "request", "revoke", "run", "watch", "verify", "audit", "evaluate", "list",
    "log", "schema", "help", "all", "path",
  ]

  /// The mistakes of the declaration; empty if it can be used.
  public var mistakes: [Mistake] {
    var found: [Mistake] = []
    func wrong(_ key: String, _ index: Int?, _ message: String) {
      found.append(Mistake(key: key, index: index, message: message))
    }
    func checkName(_ name: String, _ key: String, _ index: Int? = nil) {
      if !Self.isName(name) {
        wrong(
          key, index,
          "a name consists of lower-case letters, digits and hyphens, and starts with a letter")
      } else if Self.words.contains(name) {
        wrong(key, index, "\"\(name)\" is a word that permcheck uses itself")
      }
    }
    checkName(name, "name")
    for (index, alias) in aliases.enumerated() {
      checkName(alias, "aliases", index)
      if alias == name || aliases[..<index].contains(alias) {
        wrong("aliases", index, "\"\(alias)\" is listed twice")
      }
    }
    for (key, text) in [("summary", summary), ("hint", hint), ("risk", risk)] {
      guard let text else { continue }
      if text.isEmpty || text.utf8.count > 200 || Sanitizer.clean(text) != text {
        wrong(key, nil, "\(key) is one line of at most 200 bytes")
      }
    }
    if need?.isEmpty == true { wrong("need", nil, "need is a combination of r, w and x") }
    checkPlace(wrong)
    checkDevices(wrong)
    return found
  }

  private func checkPlace(_ wrong: (String, Int?, String) -> Void) {
    switch place {
    case .nodes(let patterns):
      if patterns.isEmpty { wrong("nodes", nil, "the list is empty") }
      for (index, pattern) in patterns.enumerated() {
        let path = PathBytes(pattern)
        if !pattern.hasPrefix("/dev/") || !Self.isPath(path) {
          wrong("nodes", index, "a node is a path below /dev, without . and ..")
        } else if !Glob.isValid(path) || pattern.has("#") || pattern.has("**") {
          wrong("nodes", index, "not a pattern; known: *, ? and [a-z]")
        }
      }
    case .deviceClass(let name):
      if !Self.isSysfsName(name) { wrong("class", nil, "a class is a name in /sys/class") }
    case .directory(let path):
      let isOfHome = path == "~" || path.hasPrefix("~/")
      let rest = PathBytes(isOfHome ? "/" + path.dropFirst(2) : path)
      if !Self.isPath(rest), rest != "/" {
        wrong("directory", nil, "a directory starts with / or ~/, without . and ..")
      }
    case .userFolder(let key):
      let known = UserFolder.Key.allCases.map(\.rawValue)
      if !known.contains(key) { wrong("xdg", nil, "known: \(known.joined(separator: ", "))") }
    case .socket(let path):
      // sun_path of unix(7) has 108 bytes, the last of them NUL.
      if !Self.isPath(PathBytes(path)) || path.utf8.count > 107 {
        wrong("socket", nil, "a socket is a path of at most 107 bytes, without . and ..")
      }
    }
  }

  private func checkDevices(_ wrong: (String, Int?, String) -> Void) {
    if !isOfDevices {
      let only = "this key requires nodes or class"
      if subsystem != nil { wrong("subsystem", nil, only) }
      if !numbers.isEmpty { wrong("numbers", nil, only) }
      if property != nil { wrong("property", nil, only) }
      if !companions.isEmpty { wrong("companions", nil, only) }
      if uses != nil { wrong("uses", nil, only) }
      if grant != .none { wrong("grant", nil, "permcheck-helper changes only device nodes") }
    }
    if !isProbed, probe != .open {
      wrong("probe", nil, "this key requires nodes, class or socket")
    }
    if let subsystem, !Self.isSysfsName(subsystem) {
      wrong("subsystem", nil, "a subsystem is a name that sysfs shows, such as tty")
    }
    if let property {
      if DeviceCatalog.Property(property) == nil || Sanitizer.clean(property) != property {
        wrong("property", nil, "a property is KEY or KEY=VALUE")
      }
    }
    if let uses, CapabilitySet(name: uses) == nil {
      wrong("uses", nil, "a capability is named as in capabilities(7), without CAP_: net_admin")
    }
    for (index, text) in numbers.enumerated() where DeviceFamily.Numbers(text) == nil {
      wrong("numbers", index, "expected numbers such as 188:*, 4:64-255 or 10:200")
    }
    for (index, path) in companions.enumerated()
    where !path.hasPrefix("/dev/") || !Self.isPath(PathBytes(path))
      || Glob.isPattern(PathBytes(path))
    {
      wrong("companions", index, "a companion is one path below /dev, without . and ..")
    }
    if grant == .acl, subsystem == nil || numbers.isEmpty || !isOfNodes {
      wrong("grant", nil, "grant = \"acl\" needs nodes, subsystem and numbers")
    }
    // What udev says of a number may be older than the device that has the number now.
    if grant == .acl, property != nil {
      wrong("grant", nil, "grant = \"acl\" cannot be combined with property")
    }
  }

  private var isOfNodes: Bool { if case .nodes = place { true } else { false } }

  /// Returns whether a text can be the name of an accessor.
  package static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= 32 else { return false }
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    return letters.contains(first)
      && name.utf8.allSatisfy {
        letters.contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || $0 == UInt8(ascii: "-")
      }
  }

  /// Returns whether this is one name of sysfs.
  private static func isSysfsName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 64 && name.isPlainName
  }

  /// Returns whether a path is absolute, printable, and without `.` and `..`.
  private static func isPath(_ path: PathBytes) -> Bool {
    let names = path.components
    return path.isAbsolute && path.bytes.count < 4096 && !names.isEmpty && names.count <= 16
      && !names.contains(".") && !names.contains("..")
      && Sanitizer.clean(path.description) == path.description
      && !path.bytes.contains(UInt8(ascii: "\\"))
  }
}
