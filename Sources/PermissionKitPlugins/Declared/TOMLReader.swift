internal import PermissionKit

/// Reads a document of TOML from its beginning to its end.
struct TOMLReader {
  private typealias Place = TOMLValue.Place

  /// A part of the document that later lines may add to.
  private final class Node {
    enum Content {
      case value(TOMLValue.Content)
      /// Tables that `[[` begins.
      case tables([Node])
      /// A table that a header or a key with dots begins.
      case table([Entry])
    }

    struct Entry {
      let key: String
      let place: Place
      let node: Node
    }

    var content: Content
    let place: Place
    /// The number of the header that named the table; nil if only longer names contain its name.
    var section: Int?
    /// The indices of the entries by the bytes of their keys: two spellings of a character are two
    /// keys.
    private var indices: [[UInt8]: Int] = [:]

    init(_ content: Content, _ place: Place, section: Int? = nil) {
      (self.content, self.place, self.section) = (content, place, section)
    }

    /// The value below a key; nil if there is none.
    func find(_ key: String) -> Node? {
      guard case .table(let entries) = content else { return nil }
      return indices[Array(key.utf8)].map { entries[$0].node }
    }

    /// Adds a key that the table does not have.
    func add(_ key: String, _ place: Place, _ node: Node) {
      guard case .table(var entries) = content else { return }
      content = .table([])
      indices[Array(key.utf8)] = entries.count
      entries.append(Entry(key: key, place: place, node: node))
      content = .table(entries)
    }

    /// Adds a table to those that `[[` begins; returns false if this is something else.
    func append(_ table: Node) -> Bool {
      guard case .tables(var tables) = content else { return false }
      // A second reference would copy them all.
      content = .table([])
      tables.append(table)
      content = .tables(tables)
      return true
    }

    var members: [TOMLValue.Member] {
      guard case .table(let entries) = content else { return [] }
      return entries.map {
        TOMLValue.Member(key: $0.key, place: $0.place, value: $0.node.value)
      }
    }

    private var value: TOMLValue {
      switch content {
      case .value(let content): TOMLValue(content: content, place: place)
      case .tables(let tables): TOMLValue(content: .array(tables.map(\.value)), place: place)
      case .table: TOMLValue(content: .table(members), place: place)
      }
    }
  }

  /// A key: its parts, and where it begins.
  private struct Key {
    var parts: [String] = []
    let place: Place

    var text: String { parts.joined(separator: ".") }
  }

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var place = Place(line: 1, column: 1)
  /// The number of headers that were read.
  private var section = 0

  /// The most parts of a key, and the deepest nesting of lists and tables; more could exhaust the
  /// stack.
  private static let most = 8

  /// Reads a document.
  ///
  /// - Parameter bytes: The document; UTF-8.
  /// - Returns: The members of its table.
  /// - Throws: If the document is not TOML, or has what is not read.
  static func members(_ bytes: [UInt8]) throws(TOMLValue.SyntaxError) -> [TOMLValue.Member] {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    let text = String(decoding: bytes, as: UTF8.self)
    var reader = TOMLReader(scalars: Array(text.unicodeScalars))
    // A repaired text has other bytes than the document.
    if !text.utf8.elementsEqual(bytes) {
      while let next = reader.next, next != "\u{fffd}" { reader.advance() }
      throw reader.error("this is not UTF-8")
    }
    return try reader.document()
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

  private func follows(_ text: String) -> Bool {
    scalars[index...].starts(with: text.unicodeScalars)
  }

  private mutating func skip(_ text: String) -> Bool {
    guard follows(text) else { return false }
    advance(text.unicodeScalars.count)
    return true
  }

  private mutating func skipNewline() -> Bool { skip("\n") || skip("\r\n") }

  private mutating func need(_ text: String) throws(TOMLValue.SyntaxError) {
    guard skip(text) else { throw error("\(text) is missing here") }
  }

  private func error(_ message: String, _ place: Place? = nil) -> TOMLValue.SyntaxError {
    TOMLValue.SyntaxError(place: place ?? self.place, message: Sanitizer.clean(message))
  }

  private func unexpected() -> TOMLValue.SyntaxError {
    error(next == nil ? "the file ends too early" : "unexpected character")
  }

  /// Whether a character may be in a text or a comment: no control character but the tab.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "\t" || scalar.value >= 0x20 && scalar.value != 0x7f
  }

  private mutating func skipSpaces() {
    while next == " " || next == "\t" { advance() }
  }

  /// Skips blanks and a comment; with lines, any number of both.
  private mutating func skipBlanks(andLines lines: Bool = false) throws(TOMLValue.SyntaxError) {
    repeat {
      skipSpaces()
      guard next == "#" else { continue }
      while let scalar = next, scalar != "\n", !follows("\r\n") {
        guard Self.isPrintable(scalar) else { throw unexpected() }
        advance()
      }
    } while lines && skipNewline()
  }

  /// Reads letters and digits of ASCII, and other characters that are allowed.
  private mutating func word(_ others: String) -> String {
    var word = String.UnicodeScalarView()
    while let scalar = next, scalar.isLetterOrDigit || others.unicodeScalars.contains(scalar) {
      word.append(scalar)
      advance()
    }
    return String(word)
  }

  // MARK: - The document

  private mutating func document() throws(TOMLValue.SyntaxError) -> [TOMLValue.Member] {
    let root = Node(.table([]), place)
    var table = root
    while true {
      try skipBlanks(andLines: true)
      guard next != nil else { return root.members }
      if next == "[" {
        table = try header(root)
      } else {
        try member(of: table, depth: 0)
      }
      try skipBlanks()
      guard next == nil || skipNewline() else { throw unexpected() }
    }
  }

  /// Reads the header of a table.
  private mutating func header(_ root: Node) throws(TOMLValue.SyntaxError) -> Node {
    let start = place
    let isOfMany = skip("[[")
    if !isOfMany { advance() }
    skipSpaces()
    let key = try key()
    try need(isOfMany ? "]]" : "]")
    section += 1
    var table = root
    for part in key.parts.dropLast() {
      guard let found = table.find(part) else {
        let made = Node(.table([]), start)
        table.add(part, key.place, made)
        table = made
        continue
      }
      switch found.content {
      case .table: table = found
      case .tables(let tables): table = tables[tables.count - 1]
      case .value: throw error("the key \(part) has a value already", key.place)
      }
    }
    let last = key.parts[key.parts.count - 1]
    let made = Node(.table([]), start, section: section)
    let found = table.find(last)
    if isOfMany, found?.append(made) == true { return made }
    switch (found?.content, isOfMany) {
    case (nil, _): table.add(last, key.place, isOfMany ? Node(.tables([made]), start) : made)
    // The name of another table has only mentioned this one.
    case (.table, false) where found?.section == nil:
      found?.section = section
      return found ?? made
    default: throw error("there is a key \(key.text) already", start)
    }
    return made
  }

  /// Reads a key and its value.
  private mutating func member(of table: Node, depth: Int) throws(TOMLValue.SyntaxError) {
    let key = try key()
    try need("=")
    skipSpaces()
    let start = place
    let value = try value(depth: depth)
    var table = table
    for part in key.parts.dropLast() {
      let found = table.find(part)
      switch found?.content {
      case nil:
        let made = Node(.table([]), key.place, section: section)
        table.add(part, key.place, made)
        table = made
      case .table where found?.section == nil || found?.section == section:
        found?.section = section
        table = found ?? table
      default: throw error("there is a key \(part) already", key.place)
      }
    }
    let last = key.parts[key.parts.count - 1]
    guard table.find(last) == nil else {
      throw error("there is a key \(key.text) already", key.place)
    }
    table.add(last, key.place, Node(.value(value), start))
  }

  /// Reads a key and the blanks after it.
  private mutating func key() throws(TOMLValue.SyntaxError) -> Key {
    var key = Key(place: place)
    repeat {
      skipSpaces()
      if next == "\"" || next == "'" {
        key.parts.append(try text(isOneLine: true))
      } else {
        let part = word("_-")
        guard !part.isEmpty else { throw unexpected() }
        key.parts.append(part)
      }
      guard key.parts.count <= Self.most else {
        throw error("a key has at most 8 parts", key.place)
      }
      skipSpaces()
    } while skip(".")
    return key
  }

  // MARK: - Values

  private mutating func value(depth: Int) throws(TOMLValue.SyntaxError) -> TOMLValue.Content {
    let start = place
    switch next {
    case "\"", "'": return .string(try text())
    case "[", "{":
      guard depth < Self.most else { throw error("this value is nested too deeply") }
      return next == "[" ? try array(depth: depth) : try table(depth: depth)
    default:
      let word = word("+-_.:")
      guard !word.isEmpty else { throw unexpected() }
      if word == "true" || word == "false" { return .boolean(word == "true") }
      if let number = Self.integer(word) { return .integer(number) }
      throw error("expected a string in quotes, a whole number, true or false", start)
    }
  }

  private static func integer(_ word: String) -> Int64? {
    let radix = ["0x": 16, "0o": 8, "0b": 2][word.prefix(2)] ?? 10
    let isSigned = radix == 10 && (word.first == "+" || word.first == "-")
    let digits = word.dropFirst(radix != 10 ? 2 : isSigned ? 1 : 0)
    // An underscore stands between two digits; no other number than 0 begins with it.
    let parts = digits.parts(by: "_", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ $0.first?.isHexDigit == true }),
      radix != 10 || digits.first != "0" || digits == "0"
    else { return nil }
    return Int64((word.first == "-" ? "-" : "") + parts.joined(), radix: radix)
  }

  private mutating func array(depth: Int) throws(TOMLValue.SyntaxError) -> TOMLValue.Content {
    advance()
    var values: [TOMLValue] = []
    while true {
      try skipBlanks(andLines: true)
      if skip("]") { return .array(values) }
      let start = place
      values.append(TOMLValue(content: try value(depth: depth + 1), place: start))
      try skipBlanks(andLines: true)
      guard next == "]" || skip(",") else { throw error("] or , is missing here") }
    }
  }

  private mutating func table(depth: Int) throws(TOMLValue.SyntaxError) -> TOMLValue.Content {
    let table = Node(.table([]), place)
    advance()
    skipSpaces()
    if skip("}") { return .table([]) }
    repeat {
      skipSpaces()
      try member(of: table, depth: depth + 1)
      skipSpaces()
    } while skip(",")
    try need("}")
    return .table(table.members)
  }

  /// Reads a text of one of the four kinds.
  private mutating func text(isOneLine: Bool = false) throws(TOMLValue.SyntaxError) -> String {
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
      } else if scalar == "\n" || follows("\r\n") {
        break
      } else {
        guard Self.isPrintable(scalar) else { throw unexpected() }
        text.append(scalar)
        advance()
      }
    }
    throw error("missing closing quote")
  }

  /// Reads an escape sequence; nil for one that ends a line and stands for nothing.
  private mutating func escape(isLong: Bool) throws(TOMLValue.SyntaxError) -> Unicode.Scalar? {
    let start = place
    advance()
    guard let letter = next else { throw error("missing closing quote") }
    if isLong, [" ", "\t", "\r", "\n"].contains(letter) {
      skipSpaces()
      guard skipNewline() else { throw unexpected() }
      repeat { skipSpaces() } while skipNewline()
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
        guard let digit = next.flatMap({ Character($0).hexDigitValue }), next?.isASCII == true
        else { throw unexpected() }
        number = number << 4 | UInt32(digit)
        advance()
      }
      guard let scalar = Unicode.Scalar(number) else {
        throw error("not a Unicode character", start)
      }
      return scalar
    default: throw error("\\\(letter) is not an escape of TOML", start)
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
}
