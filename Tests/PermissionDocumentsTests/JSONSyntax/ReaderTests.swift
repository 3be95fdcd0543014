import JSONSyntax
import Testing

/// What the reader accepts, and its bounds.
@Suite struct ReaderTests {
  static func read(_ document: String) throws -> JSONValue {
    try JSONReader().value(from: Array(document.utf8))
  }

  @Test func `Values of every kind are read`() throws {
    #expect(try Self.read("null") == .null)
    #expect(try Self.read(" \t\r\n true \t\r\n ") == true)
    #expect(try Self.read("[false]") == [false])
    #expect(try Self.read("[ ]") == [])
    #expect(try Self.read("{ }") == [:])
    #expect(try Self.read("[[],{},[[]]]") == [[], [:], [[]]])
    let nested = try Self.read(#"{"b" : [1, {"x":null}] , "a":"y"}"#)
    #expect(nested == ["b": [1, ["x": .null]], "a": "y"])
    #expect(nested.object?.keys == ["b", "a"])
    // A part of a buffer is read in its place.
    let lines = Array("{\"a\":1}\n{\"a\":2}\n".utf8)
    #expect(try JSONReader().value(from: lines.span.extracting(8..<15)) == ["a": 2])
  }

  @Test func `Numbers keep their digits`() throws {
    for lexeme in [
      "0", "-0", "1", "-1", "10", "0.0", "-0.10", "1e5", "1E+05", "1.50e-007",
      "123456789012345678901234567890.5", "1e999", "-0.0e-0",
    ] {
      #expect(try Self.read(lexeme) == .number(#require(JSONNumber(lexeme: lexeme))))
      #expect(try Self.read("[\(lexeme)]")[0]?.number?.lexeme == lexeme)
    }
  }

  @Test func `Escapes are decoded`() throws {
    #expect(
      try Self.read(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u00E9\ud83d\ude00""#)
        == "\"\\/\u{8}\u{C}\n\r\tAéé😀")
    #expect(try Self.read("\"\u{7F}/\u{2028}\u{FEFF}\"") == "\u{7F}/\u{2028}\u{FEFF}")
    #expect(try Self.read(#""a\u0000b""#).string?.utf8.elementsEqual([0x61, 0, 0x62]) == true)
  }

  /// Every byte, where each of them could stand.
  @Test func `Every byte is accepted or refused as RFC 8259 says`() {
    func isRead(_ before: String, _ byte: UInt8, _ after: String) -> Bool {
      RefusalTests.refusal(of: Array(before.utf8) + [byte] + Array(after.utf8)) == nil
    }
    for byte in UInt8.min...UInt8.max {
      let character = Character(Unicode.Scalar(byte))
      #expect(isRead("", byte, "") == "0123456789".contains(character), "\(byte)")
      #expect(isRead("[1", byte, "]") == " \t\n\r0123456789".contains(character), "\(byte)")
      #expect(isRead("[1", byte, "1]") == "0123456789.eE,".contains(character), "\(byte)")
      #expect(isRead("[", byte, "1]") == " \t\n\r123456789-".contains(character), "\(byte)")
      #expect(isRead("{\"a\"", byte, "1}") == (character == ":"), "\(byte)")
      #expect(isRead("\"\\", byte, "\"") == "\"\\/bfnrt".contains(character), "\(byte)")
      #expect(
        isRead("\"\\u00e", byte, "\"") == "0123456789abcdefABCDEF".contains(character), "\(byte)")
      let isPlain = 0x20..<0x80 ~= byte && character != "\"" && character != "\\"
      #expect(isRead("\"", byte, "\"") == isPlain, "\(byte)")
    }
  }

  /// Every `\u` escape, in both cases of its digits, and every pair of surrogates.
  @Test func `Every code unit is accepted or refused as RFC 8259 says`() throws {
    let reader = JSONReader()
    for unit in UInt32(0)...0xFFFF {
      let digits = String(unit, radix: 16)
      let padded = String(repeating: "0", count: 4 - digits.count) + digits
      for digits in [padded, padded.uppercased()] {
        let document = Array("\"\\u\(digits)\"".utf8)
        let read = try? reader.value(from: document).string
        #expect(read?.unicodeScalars.first == Unicode.Scalar(unit))
        #expect(read.map { $0.unicodeScalars.count == 1 } ?? (0xD800...0xDFFF ~= unit))
      }
    }
    for scalar in UInt32(0x10000)...0x10FFFF where scalar % 7 == 0 || scalar & 0x3FF < 2 {
      let (high, low) = (0xD800 + (scalar - 0x10000) >> 10, 0xDC00 + scalar & 0x3FF)
      let document = "\"\\u\(String(high, radix: 16))\\u\(String(low, radix: 16))\""
      let string = try reader.value(from: document.utf8.span).string
      #expect(string?.unicodeScalars.first?.value == scalar)
    }
  }

  /// A document that was cut is told from one that is wrong.
  @Test func `Every prefix is incomplete`() throws {
    let document = Array(
      #"{"a":[1,-2.5e+3,true,false,null,"\n\ud83d\ude00x"],"é":{"日":"😀"}, "b" : [ ] } "#.utf8)
    _ = try JSONReader().value(from: document)
    for length in 0..<document.count - 1 {
      let error = RefusalTests.refusal(of: Array(document[..<length]))
      let isInsideScalar = document[length] & 0xC0 == 0x80
      #expect(error?.code == (isInsideScalar ? .invalidUTF8 : .unexpectedEnd), "\(length)")
      if !isInsideScalar { #expect(error?.offset == length) }
    }
  }

  @Test func `Keys are compared by their bytes`() throws {
    let value = try Self.read("{\"é\":1,\"e\u{301}\":2,\"\\u212b\":3,\"Å\":4}")
    #expect(value["é"] == 1 && value["e\u{301}"] == 2 && value["\u{212B}"] == 3 && value["Å"] == 4)
    #expect(try Self.read("\"é\"") != Self.read("\"e\u{301}\""))
  }

  /// A second key is found at any distance, with few members and with many.
  @Test func `Duplicate keys are found in wide objects`() throws {
    for count in [1, 2, 15, 16, 17, 18, 40, 300] {
      let members = (0..<count).map { "\"k\($0)\":\($0)" }
      let document = "{" + members.joined(separator: ",")
      let object = try #require(try Self.read(document + "}").object)
      #expect(object.keys == (0..<count).map { "k\($0)" })
      for again in 0..<count {
        let error = RefusalTests.refusal(of: Array("\(document),\"k\(again)\":0}".utf8))
        #expect(error == JSONError(.duplicateKey, at: document.utf8.count + 1))
      }
    }
  }

  @Test func `Depth is bounded`() throws {
    for (open, close, levels) in [
      ("[", "]", 1), ("{\"a\":", "}", 1), ("[{\"a\":1,\"b\":", "}]", 2),
    ] {
      for depth in [2, 128, 1024] {
        let reader = depth == 128 ? JSONReader() : JSONReader(maximumDepth: depth)
        let document = String(repeating: open, count: depth / levels)
        let end = "0" + String(repeating: close, count: depth / levels)
        #expect(RefusalTests.refusal(of: Array((document + end).utf8), by: reader) == nil)
        #expect(
          RefusalTests.refusal(of: Array((document + "[]").utf8), by: reader)
            == JSONError(.tooDeep, at: document.utf8.count))
      }
    }
    let scalars = JSONReader(maximumDepth: -1)
    #expect(scalars.maximumDepth == 0)
    #expect(try scalars.value(from: Array("1".utf8)) == 1)
    #expect(RefusalTests.refusal(of: Array("[]".utf8), by: scalars)?.code == .tooDeep)
    #expect(JSONReader(maximumDepth: .max).maximumDepth == JSONReader.greatestDepth)
    // No stack is needed for what is refused, however deep.
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
    #expect(RefusalTests.refusal(of: deep)?.offset == 128)
  }

  /// What recurses, on the deepest values that the reader makes.
  @Test func `Deepest values are usable`() throws {
    let depth = JSONReader.greatestDepth
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let document = Array(
        (String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
      let (one, two) = (
        try JSONReader(maximumDepth: depth).value(from: document),
        try JSONReader(maximumDepth: depth).value(from: document)
      )
      #expect(one == two && one.hashValue == two.hashValue)
      #expect(JSONWriter().bytes(one) == document)
      #expect(JSONWriter(isPretty: true, sortsKeys: true).bytes(one).count > document.count)
    }
  }

  @Test func `Size is bounded`() throws {
    let reader = JSONReader(maximumSize: 4)
    #expect(try reader.value(from: Array("[12]".utf8)) == [12])
    #expect(
      RefusalTests.refusal(of: Array("[12] ".utf8), by: reader) == JSONError(.tooLarge, at: 4))
    #expect(RefusalTests.refusal(of: [0xFF, 0, 0, 0, 0], by: reader)?.code == .tooLarge)
    #expect(JSONReader(maximumSize: -1).maximumSize == 0)
    #expect(JSONReader().maximumSize == 268_435_456)
  }
}
