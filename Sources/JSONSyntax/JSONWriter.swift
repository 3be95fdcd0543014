/// Writes JSON documents as UTF-8.
///
/// Strings are written unchanged, except for `"`, `\` and control characters. Numbers keep their
/// digits. `JSONReader` reads the same value back.
package struct JSONWriter: Sendable {
  /// Whether each element and member has a line of its own, indented by two spaces a level.
  ///
  /// The form is that of `python3 -m json.tool --indent 2 --no-ensure-ascii`, without the newline
  /// at the end.
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
    if string.utf8.contains(where: Self.needsEscape) {
      for byte in string.utf8 {
        if Self.needsEscape(byte) { escape(byte, to: &bytes) } else { bytes.append(byte) }
      }
    } else {
      bytes += string.utf8
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns whether a string must contain this byte as an escape.
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Appends the escape of a quote, a backslash or a control character, the shortest there is.
  private func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
    default:
      bytes += "u00".utf8
      if byte < 0x10 { bytes.append(UInt8(ascii: "0")) }
      bytes += String(byte, radix: 16).utf8
    }
  }
}
