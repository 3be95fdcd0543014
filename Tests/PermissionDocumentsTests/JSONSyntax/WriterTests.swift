import Foundation
import JSONSyntax
import TestSupport
import Testing

/// What the writer writes, and that the reader reads it back.
@Suite(.blocking) struct WriterTests {
  static let sample: JSONValue = [
    "z": [1, [], [:], [[]], ["k": .null]], "a": ["é": true, "e\u{301}": "日/\\\"\u{1}\n", "": -0.5],
    "\u{FFFF}": 1, "\u{1F600}": 2, "A": "", "aa": [],
  ]

  @Test func `Only unsafe characters are escaped`() {
    let written = JSONWriter().text(
      "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{B}\u{1B}\u{1F}\u{7F}\u{9B}\u{202E}\u{2028}\u{E0041}é😀")
    let expected =
      #""\"\\/\b\f\n\r\t\u0000\u000b\u001b\u001f\u007f\u009b\u202e\u2028\udb40\udc41é😀""#
    #expect(written == expected)
  }

  @Test func `Members are written in order, or sorted`() {
    let value: JSONValue = [
      "b": 1, "a": [["d": 1, "c": 2]], "\u{FFFF}": 3, "\u{10000}": 4, "B": 5,
    ]
    #expect(
      JSONWriter().text(value)
        == "{\"b\":1,\"a\":[{\"d\":1,\"c\":2}],\"\u{FFFF}\":3,\"\u{10000}\":4,\"B\":5}")
    // By bytes, where UTF-16 would put U+10000 before U+FFFF.
    #expect(
      JSONWriter(sortsKeys: true).text(value)
        == "{\"B\":5,\"a\":[{\"c\":2,\"d\":1}],\"b\":1,\"\u{FFFF}\":3,\"\u{10000}\":4}")
  }

  @Test func `A pretty document has an indented line for each element`() {
    let value: JSONValue = ["a": [1, [], [:]], "b": ["c": "x"]]
    let expected = """
      {
        "a": [
          1,
          [],
          {}
        ],
        "b": {
          "c": "x"
        }
      }
      """
    #expect(JSONWriter(isPretty: true).text(value) == expected)
    #expect(JSONWriter(isPretty: true).text([]) == "[]")
    #expect(JSONWriter(isPretty: true).text(1) == "1")
  }

  /// The pretty form is that of Python's json.tool, with and without sorted keys.
  @Test(arguments: [false, true]) func `A pretty document is that of Python`(sortsKeys: Bool) throws
  {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["python3", "-X", "utf8", "-m", "json.tool", "--indent", "2", "--no-ensure-ascii"]
      + (sortsKeys ? ["--sort-keys"] : [])
    process.standardInput = input
    process.standardOutput = output
    try process.start()
    try input.fileHandleForWriting.write(contentsOf: Data(JSONWriter().bytes(Self.sample)))
    try input.fileHandleForWriting.close()
    let expected = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    let writer = JSONWriter(isPretty: true, sortsKeys: sortsKeys)
    #expect(writer.bytes(Self.sample) + [UInt8(ascii: "\n")] == expected)
  }

  /// All scalars, in strings and in keys, raw as the writer leaves them.
  @Test func `Every scalar comes back`() throws {
    let (reader, writer) = (JSONReader(), JSONWriter())
    var scalars = 0
    for start in stride(from: UInt32(0), to: 0x110000, by: 0x800) {
      var string = ""
      for value in start..<start + 0x800 {
        guard let scalar = Unicode.Scalar(value) else { continue }
        string.unicodeScalars.append(scalar)
        scalars += 1
      }
      let value: JSONValue = ["s": .string(string), string: 1]
      let read = try reader.value(from: writer.bytes(value))
      #expect(read == value)
      #expect(read["s"]?.string.map { Array($0.utf8) == Array(string.utf8) } == true)
    }
    #expect(scalars == 0x110000 - 0x800)
  }

  @Test func `Generated values come back`() throws {
    var generator = SeededNumbers("json writer")
    for _ in 0..<Effort.of(5_000, atLeast: 500) {
      let value = Self.value(depth: 5, &generator)
      let compact = JSONWriter().bytes(value)
      #expect(try JSONReader().value(from: compact) == value)
      #expect(try JSONReader().value(from: JSONWriter(isPretty: true).bytes(value)) == value)
      // Sorting changes nothing but the order, and a second sorting nothing at all.
      let sorted = JSONWriter(sortsKeys: true).bytes(value)
      #expect(sorted.count == compact.count)
      let read = try JSONReader().value(from: sorted)
      #expect(JSONWriter().bytes(read) == sorted)
      #expect(JSONWriter(sortsKeys: true).bytes(read) == sorted)
    }
  }

  static func value(depth: Int, _ generator: inout SeededNumbers) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &generator) {
    case 0: return .null
    case 1: return .bool(.random(using: &generator))
    case 2: return JSONValue(Int64.random(in: .min ... .max, using: &generator))
    case 3: return JSONValue(Double(bitPattern: generator.next())) ?? .null
    case 4, 5: return .string(string(&generator))
    case 6, 7:
      let count = Int.random(in: 0...4, using: &generator)
      return .array((0..<count).map { _ in value(depth: depth - 1, &generator) })
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        object[string(&generator)] = value(depth: depth - 1, &generator)
      }
      return .object(object)
    }
  }

  static func string(_ generator: inout SeededNumbers) -> String {
    var string = ""
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let bits = [5, 7, 7, 11, 16, 21].randomElement(using: &generator) ?? 7
      let value = UInt32.random(in: 0..<(1 << bits), using: &generator)
      if let scalar = Unicode.Scalar(value) { string.unicodeScalars.append(scalar) }
    }
    return string
  }
}
