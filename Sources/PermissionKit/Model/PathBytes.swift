/// A path or a file name as the kernel sees it: bytes without NUL, UTF-8 not required.
///
/// Nothing is normalised: `a//b/` stays `a//b/`, because the kernel treats `a/b` differently.
public struct PathBytes: Hashable, Sendable {
  /// The bytes, without the NUL at the end.
  public var bytes: [UInt8]

  /// Creates a path from these bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Creates a path from the UTF-8 bytes of a text; to read escapes, use `init(escaped:)`.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether the path has no bytes; the kernel answers ENOENT to an empty path.
  public var isEmpty: Bool { bytes.isEmpty }
  /// Whether the path begins with a slash, so that a walk starts at the root directory.
  public var isAbsolute: Bool { bytes.first == UInt8(ascii: "/") }

  /// The bytes after the last slash; the whole path if there is no slash.
  public var lastComponent: PathBytes {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return PathBytes(Array(bytes[(slash + 1)...]))
  }

  /// The names between slashes, in order, including `.` and `..`.
  package var components: [PathBytes] {
    var names: [PathBytes] = []
    var start = 0
    for index in 0...bytes.count where index == bytes.count || bytes[index] == UInt8(ascii: "/") {
      if index > start { names.append(PathBytes(Array(bytes[start..<index]))) }
      start = index + 1
    }
    return names
  }

  /// Returns this path and `name`, with one slash between them.
  ///
  /// Adds no slash if this path is empty or already ends in one.
  public func appending(_ name: PathBytes) -> PathBytes {
    let slash = bytes.last == UInt8(ascii: "/") || bytes.isEmpty
    return PathBytes(bytes + (slash ? [] : [UInt8(ascii: "/")]) + name.bytes)
  }

  /// Returns `appending(_:)` of the UTF-8 bytes of this text.
  public func appending(_ suffix: String) -> PathBytes { appending(PathBytes(suffix)) }

  /// Returns whether the bytes begin with `prefix`, even in the middle of a component.
  package func hasPrefix(_ prefix: String) -> Bool { bytes.starts(with: prefix.utf8) }
}

extension PathBytes: ExpressibleByStringLiteral {
  /// Creates a path from the UTF-8 bytes of the literal.
  public init(stringLiteral value: String) { self.init(value) }
}

extension PathBytes: Comparable {
  /// Compares bytes; the locale does not matter.
  public static func < (left: PathBytes, right: PathBytes) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

extension PathBytes: CustomStringConvertible {
  /// The path as text that `init(escaped:)` can read back.
  ///
  /// Writes `\xNN` for a byte that is not UTF-8 and for the backslash itself.
  public var description: String {
    if bytes.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\\") }) {
      return String(decoding: bytes, as: UTF8.self)
    }
    var text = ""
    var rest = bytes[...]
    while let byte = rest.first {
      var decoder = UTF8()
      var iterator = rest.makeIterator()
      if case .scalarValue(let scalar) = decoder.decode(&iterator) {
        text += scalar == "\\" ? Self.escape(byte) : String(scalar)
        rest = rest.dropFirst(UTF8.width(scalar))
      } else {
        text += Self.escape(byte)
        rest = rest.dropFirst()
      }
    }
    return text
  }

  /// Returns `\xNN` for one byte.
  static func escape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return #"\x"# + (digits.count == 1 ? "0" : "") + digits
  }

  /// Creates a path from the text that `description` returns.
  package init(escaped text: String) {
    var bytes: [UInt8] = []
    let source = Array(text.utf8)
    var index = 0
    while index < source.count {
      if source[index] == UInt8(ascii: "\\"), index + 3 < source.count,
        source[index + 1] == UInt8(ascii: "x"),
        let value = UInt8(
          String(decoding: source[(index + 2)...(index + 3)], as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        index += 4
      } else {
        bytes.append(source[index])
        index += 1
      }
    }
    self.init(bytes)
  }
}

extension PathBytes {
  /// Returns the path that this absolute path has below `root`; a relative path stays the same.
  package func below(_ root: PathBytes) -> PathBytes {
    guard root != "/", isAbsolute else { return self }
    return root.appending(PathBytes(Array(bytes.drop { $0 == UInt8(ascii: "/") })))
  }

  /// The path without slashes at the end, except for a path of slashes, which becomes `/`.
  var withoutTrailingSlashes: PathBytes {
    var bytes = self.bytes
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return PathBytes(bytes)
  }

  /// The folder of the last component.
  ///
  /// It is `/` for a path directly below the root and `.` for a name without a slash.
  public var parent: PathBytes {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == 0 ? "/" : PathBytes(Array(bytes[..<slash]))
  }
}

extension PathBytes {
  /// Returns whether two paths have the same names in the same order: `/a//b/` and `/a/./b`.
  ///
  /// Follows no links, and does not resolve `..`.
  package func isSpelledLike(_ other: PathBytes) -> Bool {
    func names(_ path: PathBytes) -> [PathBytes] { path.components.filter { $0 != "." } }
    return isAbsolute == other.isAbsolute && names(self) == names(other)
  }

  /// Returns whether this path is inside `folder`, at any depth.
  func isBelow(_ folder: PathBytes) -> Bool {
    let slash = UInt8(ascii: "/")
    return bytes.starts(with: folder.bytes.last == slash ? folder.bytes : folder.bytes + [slash])
  }
}

extension PathBytes: Codable {
  /// Reads the text that `description` writes.
  public init(from decoder: any Decoder) throws {
    self.init(escaped: try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes `description`, which can be read back.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
