/// Reads the part of TOML 1.0 (toml.io) that a declaration can be written in: keys with texts and lists of texts.
///
/// Other values are read as `other`, and tables in a value are refused: with either there is no
/// declaration. So there is no document that this reader and a whole reader of TOML take for two
/// declarations, which a test holds to toml++.
package struct DeclarationSyntax {
  /// Where a key or a value begins, both from 1.
  package struct Place: Hashable, Sendable, Comparable {
    /// The line.
    package var line: Int
    /// The column, in characters.
    package var column: Int

    /// Creates a place.
    package init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }

    package static func < (left: Place, right: Place) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  /// A value, and where it is written.
  package struct Value: Sendable {
    /// What a value is.
    package enum Content: Sendable {
      /// A text.
      case text(String)
      /// The values of a list.
      case list([Value])
      /// What no key of a declaration has: a number, a date, a table.
      case other
    }

    /// What the value is.
    package let content: Content
    /// Where the value is written.
    package let place: Place
  }

  /// A key with its value.
  package struct Member: Sendable {
    /// The key.
    package let key: String
    /// Where the key is written.
    package let place: Place
    /// The value.
    package let value: Value
  }

  /// A document that is not of this form.
  package struct SyntaxError: Error {
    /// Where the error is.
    package let place: Place
    /// What is wrong, for people.
    package let message: String
  }

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var place = Place(line: 1, column: 1)
  private var members: [Member] = []

  /// The most lists in lists; one is enough for a declaration.
  private static let mostDepth = 8

  /// Reads a document.
  ///
  /// - Parameter bytes: The document; UTF-8.
  /// - Returns: The members, in their order.
  /// - Throws: If the document is not of this form.
  package static func members(_ bytes: [UInt8]) throws(SyntaxError) -> [Member] {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    let text = String(decoding: bytes, as: UTF8.self)
    var reader = DeclarationSyntax(scalars: Array(text.unicodeScalars))
    // A repaired text has other bytes than the document.
    if !text.utf8.elementsEqual(bytes) {
      while let next = reader.next, next != "\u{fffd}" { reader.advance() }
      throw reader.error("this is not UTF-8")
    }
    try reader.document()
    return reader.members
  }

  private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

  // MARK: - Characters

  /// The next character; nil at the end.
  private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where index < scalars.count {
      if scalars[index] == "\n" {
        place = Place(line: place.line + 1, column: 1)
      } else {
        place.column += 1
      }
      index += 1
    }
  }

  private func follows(_ text: String.UnicodeScalarView) -> Bool {
    scalars[index...].starts(with: text)
  }

  private mutating func skip(_ text: String) -> Bool {
    guard follows(text.unicodeScalars) else { return false }
    advance(text.unicodeScalars.count)
    return true
  }

  private mutating func skipNewline() -> Bool { skip("\n") || skip("\r\n") }

  private func error(_ message: String, _ place: Place? = nil) -> SyntaxError {
    SyntaxError(place: place ?? self.place, message: message)
  }

  private func unexpected() -> SyntaxError {
    error(next == nil ? "unexpected end-of-file" : "this character cannot stand here")
  }

  /// Whether a character may stand in a text or a comment: no control character but the tab.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\t" || scalar.value >= 0x20 && scalar.value != 0x7f
  }

  // MARK: - The document

  private mutating func document() throws(SyntaxError) {
    var isOfDocument = true
    while true {
      try skipBlanks(andLines: true)
      guard next != nil else { return }
      if next == "[" {
        isOfDocument = false
        try header()
      } else {
        let (key, place, isWhole) = try key()
        guard skip("=") else { throw unexpected() }
        try skipBlanks()
        let value = try value()
        if isOfDocument { try add(key, place, isWhole ? value : other(value.place)) }
      }
      try skipBlanks()
      guard next == nil || skipNewline() else { throw unexpected() }
    }
  }

  private func other(_ place: Place) -> Value { Value(content: .other, place: place) }

  private mutating func add(
    _ key: String, _ place: Place, _ value: Value
  ) throws(SyntaxError) {
    if members.contains(where: { $0.key == key }) {
      throw error("cannot redefine the key \(key)", value.place)
    }
    members.append(Member(key: key, place: place, value: value))
  }

  /// Reads the line that begins a table, which is a key that no declaration has.
  private mutating func header() throws(SyntaxError) {
    let start = place
    let brackets = skip("[[") ? "]]" : "]"
    if brackets == "]" { advance() }
    try skipBlanks()
    let (key, place, _) = try key()
    guard skip(brackets) else { throw unexpected() }
    try add(key, place, other(start))
  }

  /// Skips blanks and a comment; with lines, any number of both.
  private mutating func skipBlanks(andLines lines: Bool = false) throws(SyntaxError) {
    repeat {
      while next == " " || next == "\t" { advance() }
      guard next == "#" else { continue }
      while let scalar = next, scalar != "\n", !follows("\r\n".unicodeScalars) {
        guard Self.isPrintable(scalar) else { throw unexpected() }
        advance()
      }
    } while lines && skipNewline()
  }

  /// Reads a key and the blanks after it.
  ///
  /// - Returns: The key or its first part, the place, and whether the key has no other part.
  private mutating func key() throws(SyntaxError) -> (String, Place, Bool) {
    let start = place
    var parts: [String] = []
    repeat {
      while next == " " || next == "\t" { advance() }
      if next == "\"" || next == "'" {
        parts.append(try text(isOneLine: true))
      } else {
        let part = word { $0 == "_" || $0 == "-" }
        guard !part.isEmpty else { throw unexpected() }
        parts.append(part)
      }
      while next == " " || next == "\t" { advance() }
    } while skip(".")
    return (parts[0], start, parts.count == 1)
  }

  /// Reads letters and digits of ASCII, and other characters that are allowed.
  private mutating func word(_ isAllowed: (Unicode.Scalar) -> Bool) -> String {
    var word = String.UnicodeScalarView()
    while let scalar = next, scalar.isLetterOrDigit || isAllowed(scalar) {
      word.append(scalar)
      advance()
    }
    return String(word)
  }

  // MARK: - Values

  private mutating func value(depth: Int = 0) throws(SyntaxError) -> Value {
    let start = place
    switch next {
    case "\"", "'": return Value(content: .text(try text()), place: start)
    case "[": return Value(content: .list(try list(depth: depth)), place: start)
    case "{": throw error("a declaration has no table")
    default:
      guard !word({ "+-_.:".unicodeScalars.contains($0) }).isEmpty else { throw unexpected() }
      return other(start)
    }
  }

  private mutating func list(depth: Int) throws(SyntaxError) -> [Value] {
    guard depth < Self.mostDepth else { throw error("this list is too deep in others") }
    advance()
    var values: [Value] = []
    while true {
      try skipBlanks(andLines: true)
      if skip("]") { return values }
      values.append(try value(depth: depth + 1))
      try skipBlanks(andLines: true)
      guard next == "]" || skip(",") else { throw unexpected() }
    }
  }

  /// Reads a text of one of the four kinds.
  private mutating func text(isOneLine: Bool = false) throws(SyntaxError) -> String {
    guard let quote = next else { throw unexpected() }
    let (one, three) = (String(quote), String(repeating: Character(quote), count: 3))
    let isLong = !isOneLine && skip(three)
    if isLong { _ = skipNewline() } else { advance() }
    var text = String.UnicodeScalarView()
    while let scalar = next {
      if isLong, skip(three) {
        // Two more quotes are those of the text.
        for _ in 0..<2 where skip(one) { text.append(quote) }
        return String(text)
      }
      if !isLong, skip(one) { return String(text) }
      if isLong, skipNewline() {
        text.append("\n")
      } else if quote == "\"", scalar == "\\" {
        if let scalar = try escape(isLong: isLong) { text.append(scalar) }
      } else {
        guard Self.isPrintable(scalar) else { throw unexpected() }
        text.append(scalar)
        advance()
      }
    }
    throw unexpected()
  }

  /// Reads what stands for a character; nil for the end of a line, which stands for nothing.
  private mutating func escape(isLong: Bool) throws(SyntaxError) -> Unicode.Scalar? {
    let start = place
    advance()
    guard let letter = next else { throw unexpected() }
    if isLong, [" ", "\t", "\r", "\n"].contains(letter) {
      while next == " " || next == "\t" { advance() }
      guard skipNewline() else { throw unexpected() }
      while next == " " || next == "\t" || skipNewline() {
        if next == " " || next == "\t" { advance() }
      }
      return nil
    }
    advance()
    switch letter {
    case "b": return "\u{8}"
    case "t": return "\t"
    case "n": return "\n"
    case "f": return "\u{c}"
    case "r": return "\r"
    case "\"", "\\": return letter
    case "u", "U":
      var number: UInt32 = 0
      for _ in 0..<(letter == "u" ? 4 : 8) {
        guard let digit = next?.hexadecimal else { throw unexpected() }
        number = number << 4 | digit
        advance()
      }
      guard let scalar = Unicode.Scalar(number) else { throw error("no such character", start) }
      return scalar
    default: throw error("\\\(letter) stands for nothing", start)
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isLetterOrDigit: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }

  /// The number that this hexadecimal digit stands for; nil for another character.
  fileprivate var hexadecimal: UInt32? {
    switch self {
    case "0"..."9": value - 0x30
    case "a"..."f": value - 0x57
    case "A"..."F": value - 0x37
    default: nil
    }
  }
}
