/// Writes JSON documents as UTF-8.
///
/// Strings are written unchanged, except for `"`, `\`, control characters and those that a terminal does
/// not show or that turn text around, such as U+202E, which are escaped. Numbers keep their digits. `JSONReader` reads the same value back.
package struct JSONWriter: Sendable {
  /// Whether each element and member has a line of its own, indented by two spaces a level.
  ///
  /// The form is that of `python3 -m json.tool --indent 2 --no-ensure-ascii`, without the newline
  /// at the end, and but for the escapes.
  package var isPretty: Bool

  /// Whether the members of every object are written in the order of their keys' UTF-8 bytes.
  package var sortsKeys: Bool

  /// Creates a writer, by default for compact documents with members in the order of the value.
  package init(isPretty: Bool = false, sortsKeys: Bool = false) {
    self.isPretty = isPretty
    self.sortsKeys = sortsKeys
  }

  /// Returns the document of a value.
  ///
  /// - Parameter value: Any value of at most `JSONReader.greatestDepth` levels: the writer recurses.
  /// - Returns: UTF-8 without a newline at the end.
  package func bytes(_ value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    write(value, to: &bytes)
    return bytes
  }

  /// Returns the document of a value as a string, see `bytes(_:)`.
  package func text(_ value: JSONValue) -> String { String(decoding: bytes(value), as: UTF8.self) }

  /// Appends the document of a value to a buffer, see `bytes(_:)`.
  package func write(_ value: JSONValue, to bytes: inout [UInt8]) {
    write(value, level: 0, to: &bytes)
  }
}

extension JSONWriter {
  /// Appends a value that is inside `level` arrays and objects.
  private func write(_ value: JSONValue, level: Int, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let bool): bytes += (bool ? "true" : "false").utf8
    case .number(let number): bytes += number.lexeme.utf8
    case .string(let string): write(string, to: &bytes)
    case .array(let array):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in array.enumerated() {
        separate(index, level: level + 1, in: &bytes)
        write(element, level: level + 1, to: &bytes)
      }
      if isPretty && !array.isEmpty { newLine(level, in: &bytes) }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in ordered(object).enumerated() {
        separate(index, level: level + 1, in: &bytes)
        write(member.key, to: &bytes)
        bytes += (isPretty ? ": " : ":").utf8
        write(member.value, level: level + 1, to: &bytes)
      }
      if isPretty && !object.members.isEmpty { newLine(level, in: &bytes) }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Returns the members in the order in which they are written.
  private func ordered(_ object: JSONObject) -> [(key: String, value: JSONValue)] {
    guard sortsKeys else { return object.members }
    return object.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// Appends the comma and the indentation before the element or member with this index.
  private func separate(_ index: Int, level: Int, in bytes: inout [UInt8]) {
    if index > 0 { bytes.append(UInt8(ascii: ",")) }
    if isPretty { newLine(level, in: &bytes) }
  }

  /// Appends a newline and the indentation of a level.
  private func newLine(_ level: Int, in bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
  }

  /// Appends a string with its quotes.
  private func write(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    if !string.utf8.contains(where: Self.isSpecial) {
      bytes += string.utf8
    } else {
      for scalar in string.unicodeScalars {
        if Self.needsEscape(scalar.value) {
          escape(scalar, to: &bytes)
        } else {
          bytes += scalar.utf8
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns whether a byte is, or belongs to, a character that may need an escape.
  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte >= 0x7f
  }

  /// Returns whether a string must contain this character as an escape, or a terminal might act on it or not
  /// show it: the general categories Cc, Cf, Zl and Zp of Unicode.
  private static func needsEscape(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0..<0x20, 0x22, 0x5c, 0x7f...0x9f, 0xad, 0x600...0x605, 0x61c, 0x6dd, 0x70f, 0x890...0x891,
      0x8e2,
      0x180e, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffb, 0x110bd,
      0x110cd,
      0x13430...0x1343f, 0x1bca0...0x1bca3, 0x1d173...0x1d17a, 0xe0000...0xe007f:
      true
    default: false
    }
  }

  /// Appends the escape of a character, the shortest there is.
  private func escape(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch scalar {
    case "\"", "\\": bytes.append(UInt8(truncatingIfNeeded: scalar.value))
    case "\u{8}": bytes.append(UInt8(ascii: "b"))
    case "\u{c}": bytes.append(UInt8(ascii: "f"))
    case "\n": bytes.append(UInt8(ascii: "n"))
    case "\r": bytes.append(UInt8(ascii: "r"))
    case "\t": bytes.append(UInt8(ascii: "t"))
    default:
      // One unit of UTF-16, or a surrogate pair.
      for (index, unit) in scalar.utf16.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: "\\")) }
        let digits = String(unit, radix: 16)
        bytes.append(UInt8(ascii: "u"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        bytes += digits.utf8
      }
    }
  }
}
