/// Makes the names of devices and files, which can be any text, harmless for a terminal.
package enum Sanitizer: Sendable {
  /// Returns `text` with control and invisible characters escaped.
  package static func clean(_ text: String) -> String {
    // Most text is printable ASCII, which needs no table.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    return text.unicodeScalars.map { isHarmful($0) ? escaped($0) : String($0) }.joined()
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Invisible, or able to turn the text around. The joiners U+200C and U+200D belong to words.
    case .format: scalar.value != 0x200c && scalar.value != 0x200d
    // The last two of each plane are no characters; XML and YAML refuse them.
    case .unassigned: scalar.value & 0xfffe == 0xfffe
    default: false
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": return "\\n"
    case "\t": return "\\t"
    case "\r": return "\\r"
    default: return "\\u{\(String(scalar.value, radix: 16))}"
    }
  }
}
