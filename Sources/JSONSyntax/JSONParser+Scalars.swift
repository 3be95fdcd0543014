// MARK: - Literals and numbers

extension JSONParser {
  /// Reads the rest of `true`, `false` or `null`.
  mutating func literal(_ word: String, _ bytes: Span<UInt8>) throws(JSONError) {
    for letter in word.utf8 {
      guard try byte(bytes) == letter else { throw JSONError(.invalidLiteral, at: offset) }
      offset += 1
    }
  }

  /// Reads a number, see RFC 8259, section 6.
  mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONNumber {
    let start = offset
    if peek(bytes) == UInt8(ascii: "-") { offset += 1 }
    if peek(bytes) == UInt8(ascii: "0") {
      offset += 1
      if let byte = peek(bytes), Self.isDigit(byte) { throw JSONError(.leadingZero, at: offset) }
    } else {
      try digits(bytes)
    }
    if peek(bytes) == UInt8(ascii: ".") {
      offset += 1
      try digits(bytes)
    }
    if let byte = peek(bytes), byte | 0x20 == UInt8(ascii: "e") {
      offset += 1
      if let sign = peek(bytes), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
        offset += 1
      }
      try digits(bytes)
    }
    return JSONNumber(checked: try text(start..<offset, bytes))
  }

  /// Reads digits, at least one.
  private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
    guard Self.isDigit(try byte(bytes)) else { throw JSONError(.invalidNumber, at: offset) }
    repeat { offset += 1 } while offset < bytes.count && Self.isDigit(bytes[offset])
  }

  /// Returns whether a byte is a decimal digit.
  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}

// MARK: - Strings

extension JSONParser {
  /// Reads a string from its opening to its closing quote, see RFC 8259, section 7.
  mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
    offset += 1
    var string = try run(bytes)
    while true {
      switch try byte(bytes) {
      case UInt8(ascii: "\""):
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        string.unicodeScalars.append(try escape(bytes))
        if try byte(bytes) != UInt8(ascii: "\\") { string += try run(bytes) }
      default: throw JSONError(.controlCharacter, at: offset)
      }
    }
  }

  /// Reads the part of a string before the next quote, backslash or control character.
  private mutating func run(_ bytes: Span<UInt8>) throws(JSONError) -> String {
    let start = offset
    var end = start
    while end < bytes.count {
      let byte = bytes[end]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
      end += 1
    }
    offset = end
    return try text(start..<end, bytes)
  }

  /// Returns a part of the document as a string, and refuses bytes that are not UTF-8.
  ///
  /// The standard library validates and copies many ASCII bytes at once.
  private func text(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(JSONError) -> String {
    let utf8: UTF8Span
    do {
      utf8 = try UTF8Span(validating: bytes.extracting(range))
    } catch {
      throw JSONError(.invalidUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
    }
    return String(copying: utf8)
  }

  /// Reads an escape from its backslash to its end.
  private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
    let start = offset
    offset += 1
    let letter = try byte(bytes)
    offset += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try codeUnits(bytes, escapeAt: start)
    default: throw JSONError(.invalidEscape, at: offset - 1)
    }
  }

  /// Reads the digits of a `\u` escape, and a second escape if both form a surrogate pair.
  private mutating func codeUnits(
    _ bytes: Span<UInt8>, escapeAt start: Int
  ) throws(JSONError) -> Unicode.Scalar {
    let first = try codeUnit(bytes)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let lone = JSONError(.loneSurrogate, at: start)
    guard first < 0xDC00 else { throw lone }
    for letter in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
      guard try byte(bytes) == letter else { throw lone }
      offset += 1
    }
    let second = try codeUnit(bytes)
    guard 0xDC00...0xDFFF ~= second,
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw lone }
    return scalar
  }

  /// Reads four hexadecimal digits.
  private mutating func codeUnit(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      let byte = try byte(bytes)
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw JSONError(.invalidEscape, at: offset)
      }
      unit = unit << 4 | UInt32(digit)
      offset += 1
    }
    return unit
  }
}
