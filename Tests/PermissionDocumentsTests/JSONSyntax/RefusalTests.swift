import JSONSyntax
import Testing

/// Each rule of the reader, with the code and the place of the error.
@Suite struct RefusalTests {
  /// A document that is refused.
  struct Refusal: Sendable {
    let document: [UInt8]
    let code: JSONError.Code
    let offset: Int

    init(_ document: String, _ code: JSONError.Code, at offset: Int) {
      self.init(Array(document.utf8), code, at: offset)
    }

    init(_ document: [UInt8], _ code: JSONError.Code, at offset: Int) {
      self.document = document
      self.code = code
      self.offset = offset
    }
  }

  /// The error that the reader throws; nil when it reads the document.
  static func refusal(
    of document: [UInt8], by reader: JSONReader = JSONReader()
  ) -> JSONError? {
    do {
      _ = try reader.value(from: document)
      return nil
    } catch {
      return error
    }
  }

  @Test func `A wrong structure is refused`() { Self.check(Self.structure) }
  @Test func `A wrong word is refused`() { Self.check(Self.words) }
  @Test func `A wrong number is refused`() { Self.check(Self.numbers) }
  @Test func `A wrong string is refused`() { Self.check(Self.strings) }
  @Test func `A lone surrogate is refused`() { Self.check(Self.surrogates) }
  @Test func `A wrong encoding is refused`() { Self.check(Self.encoding) }
  @Test func `A wrong key is refused`() { Self.check(Self.keys) }

  static func check(_ refusals: [Refusal]) {
    for refusal in refusals {
      let text = String(decoding: refusal.document, as: UTF8.self).debugDescription
      let error = JSONError(refusal.code, at: refusal.offset)
      #expect(Self.refusal(of: refusal.document) == error, "\(text)")
      // The same inside an array and after white space: the offset moves along.
      guard error.code != .byteOrderMark && error.code != .trailingBytes else { continue }
      let inner = Self.refusal(of: Array(" [".utf8) + refusal.document)
      #expect(inner == JSONError(error.code, at: error.offset + 2), "\(text)")
    }
  }

  static let structure = [
    Refusal("", .unexpectedEnd, at: 0), Refusal(" \n\t\r", .unexpectedEnd, at: 4),
    Refusal("[", .unexpectedEnd, at: 1), Refusal("[1", .unexpectedEnd, at: 2),
    Refusal("[1,", .unexpectedEnd, at: 3), Refusal("{", .unexpectedEnd, at: 1),
    Refusal("{\"a\"", .unexpectedEnd, at: 4), Refusal("{\"a\":", .unexpectedEnd, at: 5),
    Refusal("{\"a\":1", .unexpectedEnd, at: 6), Refusal("{\"a\":1,", .unexpectedEnd, at: 7),
    Refusal("}", .unexpectedByte, at: 0), Refusal("[1}", .unexpectedByte, at: 2),
    Refusal("{]", .unexpectedByte, at: 1), Refusal("[,1]", .unexpectedByte, at: 1),
    Refusal("[1,,2]", .unexpectedByte, at: 3), Refusal("[1 2]", .unexpectedByte, at: 3),
    Refusal("{1:2}", .unexpectedByte, at: 1), Refusal("{\"a\" 1}", .unexpectedByte, at: 5),
    Refusal("{\"a\"}", .unexpectedByte, at: 4), Refusal("{\"a\":}", .unexpectedByte, at: 5),
    Refusal("{\"a\":1 \"b\":2}", .unexpectedByte, at: 7), Refusal("{,}", .unexpectedByte, at: 1),
    Refusal("'a'", .unexpectedByte, at: 0), Refusal("//1", .unexpectedByte, at: 0),
    Refusal("[/**/]", .unexpectedByte, at: 1), Refusal("\u{B}1", .unexpectedByte, at: 0),
    Refusal("\u{A0}1", .unexpectedByte, at: 0), Refusal("\0", .unexpectedByte, at: 0),
    Refusal("[1,]", .trailingComma, at: 3), Refusal("[1, ]", .trailingComma, at: 4),
    Refusal("{\"a\":1,}", .trailingComma, at: 7), Refusal("[[],]", .trailingComma, at: 4),
    Refusal("1 2", .trailingBytes, at: 2), Refusal("[]]", .trailingBytes, at: 2),
    Refusal("{}{}", .trailingBytes, at: 2), Refusal("1\0", .trailingBytes, at: 1),
    Refusal("1\u{C}", .trailingBytes, at: 1), Refusal("nulll", .trailingBytes, at: 4),
    Refusal("1\u{FEFF}", .trailingBytes, at: 1), Refusal("\"\"\"\"", .trailingBytes, at: 2),
  ]

  static let words = [
    Refusal("nul", .unexpectedEnd, at: 3), Refusal("t", .unexpectedEnd, at: 1),
    Refusal("nulL", .invalidLiteral, at: 3), Refusal("tRUE", .invalidLiteral, at: 1),
    Refusal("falsy", .invalidLiteral, at: 4), Refusal("nan", .invalidLiteral, at: 1),
    Refusal("NaN", .unexpectedByte, at: 0), Refusal("Infinity", .unexpectedByte, at: 0),
    Refusal("-Infinity", .invalidNumber, at: 1), Refusal("-NaN", .invalidNumber, at: 1),
    Refusal("Null", .unexpectedByte, at: 0), Refusal("undefined", .unexpectedByte, at: 0),
  ]

  static let numbers = [
    Refusal("00", .leadingZero, at: 1), Refusal("01", .leadingZero, at: 1),
    Refusal("-01.5", .leadingZero, at: 2), Refusal("-", .unexpectedEnd, at: 1),
    Refusal("1.", .unexpectedEnd, at: 2), Refusal("1e", .unexpectedEnd, at: 2),
    Refusal("1E+", .unexpectedEnd, at: 3), Refusal("--1", .invalidNumber, at: 1),
    Refusal("1.e1", .invalidNumber, at: 2), Refusal("1e+ ", .invalidNumber, at: 3),
    Refusal("1e-x", .invalidNumber, at: 3), Refusal("- 1", .invalidNumber, at: 1),
    Refusal("-.1", .invalidNumber, at: 1), Refusal("+1", .unexpectedByte, at: 0),
    Refusal(".1", .unexpectedByte, at: 0), Refusal("0x1", .trailingBytes, at: 1),
    Refusal("1_0", .trailingBytes, at: 1), Refusal("1.2.3", .trailingBytes, at: 3),
    Refusal("1\u{661}", .trailingBytes, at: 1), Refusal("\u{FF11}", .unexpectedByte, at: 0),
  ]

  static let strings = [
    Refusal("\"", .unexpectedEnd, at: 1), Refusal("\"a", .unexpectedEnd, at: 2),
    Refusal("\"\\", .unexpectedEnd, at: 2), Refusal("\"\\\"", .unexpectedEnd, at: 3),
    Refusal("\"\\u12", .unexpectedEnd, at: 5), Refusal("\"\\a\"", .invalidEscape, at: 2),
    Refusal("\"\\'\"", .invalidEscape, at: 2), Refusal("\"\\U0041\"", .invalidEscape, at: 2),
    Refusal("\"\\x41\"", .invalidEscape, at: 2), Refusal("\"\\\n\"", .invalidEscape, at: 2),
    Refusal("\"\\u\"", .invalidEscape, at: 3), Refusal("\"\\u123g\"", .invalidEscape, at: 6),
    Refusal("\"\\u+123\"", .invalidEscape, at: 3), Refusal("\"\\u 123\"", .invalidEscape, at: 3),
    Refusal("\"a\nb\"", .controlCharacter, at: 2), Refusal("\"\0\"", .controlCharacter, at: 1),
    Refusal("\"\\n\u{1F}\"", .controlCharacter, at: 3),
    Refusal("{\"\t\":1}", .controlCharacter, at: 2),
  ]

  static let surrogates = [
    Refusal("\"a\\ud800\"", .loneSurrogate, at: 2), Refusal("\"\\uDFFF\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud800x\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud800\\n\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud800\\u0041\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud800\\ud800\"", .loneSurrogate, at: 1),
    Refusal("\"\\udc00\\ud800\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud83d\\udbff\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud83d\\ue000\"", .loneSurrogate, at: 1),
    Refusal("\"\\ud83d\\ude00\\ude00\"", .loneSurrogate, at: 13),
    Refusal("\"\\ud83d\\u12\"", .invalidEscape, at: 11),
    Refusal("\"\\ud83d", .unexpectedEnd, at: 7), Refusal("\"\\ud83d\\", .unexpectedEnd, at: 8),
    Refusal("\"\\ud83d\\ude", .unexpectedEnd, at: 11),
    Refusal("{\"\\ud800\":1}", .loneSurrogate, at: 2),
  ]

  static let encoding =
    [
      Refusal([0xEF, 0xBB, 0xBF], .byteOrderMark, at: 0),
      Refusal("\u{FEFF}1", .byteOrderMark, at: 0), Refusal([0xEF, 0xBB], .unexpectedByte, at: 0),
      Refusal([0xFF, 0xFE, 0x31, 0], .unexpectedByte, at: 0),
      Refusal("1\0", .trailingBytes, at: 1), Refusal([0x31, 0xFF], .trailingBytes, at: 1),
      // Where two rules are broken the first byte counts.
      Refusal([0x22, 0xFF, 0x0A, 0x22], .invalidUTF8, at: 1),
      Refusal([0x22, 0x0A, 0xFF, 0x22], .controlCharacter, at: 1),
      Refusal([0x22, 0x5C, 0x6E, 0xC3], .invalidUTF8, at: 3),
    ]
    + [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
      [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xC3, 0x28],
    ].flatMap { (bytes: [UInt8]) in
      [
        Refusal([0x22, 0x61] + bytes + [0x22], .invalidUTF8, at: 2),
        Refusal([0x22, 0xC3, 0xA9] + bytes, .invalidUTF8, at: 3),
      ]
    }

  static let keys = [
    Refusal("{\"a\":1,\"a\":1}", .duplicateKey, at: 7),
    Refusal("{\"a\":1, \"\\u0061\":2}", .duplicateKey, at: 8),
    Refusal("{\"\":1,\"\":2", .duplicateKey, at: 6),
    Refusal("{\"é\":1,\"\\u00E9\":2}", .duplicateKey, at: 8),
    Refusal("[{\"a\":{\"b\":1,\"b\":2}}]", .duplicateKey, at: 13),
    Refusal("{\"\\u0000\":1,\"\\u0000\":1}", .duplicateKey, at: 12),
  ]

  @Test func `Every code has a sentence`() {
    let messages = JSONError.Code.allCases.map { JSONError($0, at: 7).message }
    #expect(Set(messages).count == messages.count)
    #expect(messages.allSatisfy { $0.hasSuffix(".") && $0.count < 90 })
    #expect(
      JSONError(.leadingZero, at: 7).description
        == "byte 7: A number must not start with a zero that another digit follows.")
  }
}
