/// A place in a document, and the arrays and objects that are open at this place.
///
/// Every method receives the document as a parameter: a stored span needs a lifetime annotation, which is still
/// experimental in Swift 6.3.
struct JSONParser: Sendable {
  /// The greatest number of open arrays and objects.
  private let maximumDepth: Int
  /// The number of bytes that were read.
  var offset = 0
  /// The open arrays and objects, the innermost last.
  private var containers: [JSONContainer] = []

  /// Creates a parser at the start of a document.
  init(maximumDepth: Int) { self.maximumDepth = maximumDepth }

  /// Reads the document from its start to its end.
  mutating func document(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
      throw JSONError(.byteOrderMark, at: 0)
    }
    while true {
      guard var value = try beginning(bytes) else { continue }
      while let innermost = containers.indices.last {
        containers[innermost].append(value)
        guard let container = try continuation(bytes) else { break }
        value = container
      }
      if containers.isEmpty {
        skipSpace(bytes)
        guard offset == bytes.count else { throw JSONError(.trailingBytes, at: offset) }
        return value
      }
    }
  }

  /// Reads a value up to its end, or up to the first value that an array or object contains.
  ///
  /// - Returns: The value; nil when an array or object was opened.
  private mutating func beginning(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue? {
    let first = try next(bytes)
    guard first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else {
      return try scalar(first, bytes)
    }
    guard containers.count < maximumDepth else { throw JSONError(.tooDeep, at: offset) }
    offset += 1
    let container = JSONContainer(isObject: first == UInt8(ascii: "{"))
    if try next(bytes) == container.closingByte {
      offset += 1
      return container.value
    }
    containers.append(container)
    if container.isObject { try key(bytes) }
    return nil
  }

  /// Reads what follows a value in an array or object, up to the next value or the end.
  ///
  /// - Returns: The array or object when it ended; nil when another value follows.
  private mutating func continuation(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue? {
    let innermost = containers.count - 1
    let closingByte = containers[innermost].closingByte
    switch try next(bytes) {
    case closingByte:
      offset += 1
      return containers.removeLast().value
    case UInt8(ascii: ","):
      offset += 1
      if try next(bytes) == closingByte { throw JSONError(.trailingComma, at: offset) }
      if containers[innermost].isObject { try key(bytes) }
      return nil
    default: throw JSONError(.unexpectedByte, at: offset)
    }
  }

  /// Reads the key of a member and its colon.
  private mutating func key(_ bytes: Span<UInt8>) throws(JSONError) {
    let quote = try next(bytes)
    guard quote == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: offset) }
    let start = offset
    guard containers[containers.count - 1].begin(key: try string(bytes)) else {
      throw JSONError(.duplicateKey, at: start)
    }
    guard try next(bytes) == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: offset) }
    offset += 1
  }

  /// Reads a value that is not an array or object; its first byte decides the type.
  private mutating func scalar(
    _ first: UInt8, _ bytes: Span<UInt8>
  ) throws(JSONError) -> JSONValue {
    switch first {
    case UInt8(ascii: "\""): return .string(try string(bytes))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return .number(try number(bytes))
    case UInt8(ascii: "t"):
      try literal("true", bytes)
      return .bool(true)
    case UInt8(ascii: "f"):
      try literal("false", bytes)
      return .bool(false)
    case UInt8(ascii: "n"):
      try literal("null", bytes)
      return .null
    default: throw JSONError(.unexpectedByte, at: offset)
    }
  }
}

// MARK: - Bytes

extension JSONParser {
  /// Returns the byte at `offset`; nil at the end of the document.
  func peek(_ bytes: Span<UInt8>) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Returns the byte at `offset`, which the document must have.
  func byte(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
    guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
    return bytes[offset]
  }

  /// Skips white space and returns the byte after, which the document must have.
  mutating func next(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
    skipSpace(bytes)
    return try byte(bytes)
  }

  /// Skips the four bytes that RFC 8259 calls white space.
  mutating func skipSpace(_ bytes: Span<UInt8>) {
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        offset += 1
      default: return
      }
    }
  }
}
