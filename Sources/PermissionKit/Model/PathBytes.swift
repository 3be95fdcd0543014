/// A path or a file name as the kernel sees it: bytes without NUL, UTF-8 not required.
///
/// Nothing is normalised: `a//b/` stays `a//b/`, for the kernel tells it from `a/b`.
public struct PathBytes: Hashable, Sendable {
  /// The bytes as they are, without the NUL at the end.
  public var bytes: [UInt8]

  /// Takes the bytes as they are.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Takes the UTF-8 of a text as it is; for escapes there is `init(escaped:)`.
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether there is no byte; as a path that gives ENOENT.
  public var isEmpty: Bool { bytes.isEmpty }
  /// Whether it begins with a slash, so that a walk starts at the root directory.
  public var isAbsolute: Bool { bytes.first == UInt8(ascii: "/") }

  /// The bytes after the last slash; everything when there is none.
  public var lastComponent: PathBytes {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return self }
    return PathBytes(Array(bytes[(slash + 1)...]))
  }

  /// The names between slashes, in order; `.` and `..` are names like any other.
  var components: [PathBytes] {
    var names: [PathBytes] = []
    var start = 0
    for index in 0...bytes.count where index == bytes.count || bytes[index] == UInt8(ascii: "/") {
      if index > start { names.append(PathBytes(Array(bytes[start..<index]))) }
      start = index + 1
    }
    return names
  }

  /// This path, a slash unless it ends in one, and `name`.
  public func appending(_ name: PathBytes) -> PathBytes {
    let slash = bytes.last == UInt8(ascii: "/") || bytes.isEmpty
    return PathBytes(bytes + (slash ? [] : [UInt8(ascii: "/")]) + name.bytes)
  }

  /// This path with `suffix` put behind it as it is.
  public func appending(_ suffix: String) -> PathBytes { appending(PathBytes(suffix)) }

  /// Whether the bytes begin so, be it in the middle of a component.
  public func hasPrefix(_ prefix: String) -> Bool { bytes.starts(with: prefix.utf8) }
}

extension PathBytes: ExpressibleByStringLiteral {
  /// Takes the UTF-8 of the literal as it is.
  public init(stringLiteral value: String) { self.init(value) }
}

extension PathBytes: Comparable {
  /// Orders by bytes, whatever the locale.
  public static func < (left: PathBytes, right: PathBytes) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

extension PathBytes: CustomStringConvertible {
  /// The path as text that can be read back: a byte that is not UTF-8, and the backslash itself,
  /// reads `\xNN`.
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

  /// `\xNN` for one byte.
  static func escape(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return #"\x"# + (digits.count == 1 ? "0" : "") + digits
  }

  /// Reads what `description` prints.
  public init(escaped text: String) {
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
  /// This absolute path as it is found below `root`; a relative path stays as it is.
  package func below(_ root: PathBytes) -> PathBytes {
    guard root != "/", isAbsolute else { return self }
    return root.appending(PathBytes(Array(bytes.drop { $0 == UInt8(ascii: "/") })))
  }

  /// The folder that the last component is in: `/` for a path directly below the root, `.` for a
  /// bare name.
  public var parent: PathBytes {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == 0 ? "/" : PathBytes(Array(bytes[..<slash]))
  }
}

extension PathBytes {
  /// Whether it is in the folder, or below one in it.
  func isBelow(_ folder: PathBytes) -> Bool {
    let slash = UInt8(ascii: "/")
    return bytes.starts(with: folder.bytes.last == slash ? folder.bytes : folder.bytes + [slash])
  }
}
