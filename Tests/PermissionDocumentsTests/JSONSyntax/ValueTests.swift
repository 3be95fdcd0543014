import JSONSyntax
import TestSupport
import Testing

/// Values, numbers and objects, without a document.
@Suite struct ValueTests {
  @Test func `Elements and members are found by index and key`() {
    let value: JSONValue = ["a": [1, "x", true, 2.5, -3], "o": ["k": "v"]]
    #expect(value["a"]?[0]?.integer(as: UInt8.self) == 1)
    #expect(value["a"]?[1]?.string == "x")
    #expect(value["a"]?[2]?.bool == true)
    #expect(value["a"]?[3]?.double == 2.5)
    #expect(value["a"]?[4]?.integer(as: UInt8.self) == nil)
    #expect(value["a"]?[4]?.integer() == -3)
    #expect(value["a"]?.array?.count == 5)
    #expect(value["o"]?.object?.members.count == 1)
    #expect(value["o"]?["k"] == "v")
    #expect(value["a"]?[5] == nil && value["a"]?[-1] == nil && value["b"] == nil)
    #expect(value["a"]?["k"] == nil && value["o"]?[0] == nil && value.string == nil)
    #expect(JSONValue.null.isNull && !value.isNull && value.number == nil && value.bool == nil)
    #expect(value.description == #"{"a":[1,"x",true,2.5,-3],"o":{"k":"v"}}"#)
  }

  @Test func `Integers are read exactly`() throws {
    func check<T: FixedWidthInteger>(_ type: T.Type) throws {
      for value in [T.min, T.max, 0, 1, T.max / 3] {
        #expect(JSONValue(value).integer(as: type) == value)
        #expect(JSONNumber(value).lexeme == "\(value)")
      }
      #expect(try #require(JSONNumber(lexeme: "\(T.max)0")).integer(as: type) == nil)
    }
    try check(Int8.self)
    try check(UInt8.self)
    try check(Int32.self)
    try check(UInt32.self)
    try check(Int64.self)
    try check(UInt64.self)
    try check(Int128.self)
    #expect(JSONNumber(UInt64.max).integer(as: Int64.self) == nil)
    #expect(JSONNumber(-1).integer(as: UInt64.self) == nil)
    #expect(try #require(JSONNumber(lexeme: "9223372036854775808")).integer(as: Int64.self) == nil)
    #expect(try #require(JSONNumber(lexeme: "-0")).integer(as: UInt8.self) == 0)
    for lexeme in ["1.0", "1e3", "1E0", "0.0", "1e400"] {
      #expect(try #require(JSONNumber(lexeme: lexeme)).integer(as: Int.self) == nil)
    }
  }

  @Test func `Doubles are the nearest ones`() {
    var generator = SeededNumbers("json values")
    for _ in 0..<Effort.of(20_000, atLeast: 2_000) {
      let double = Double(bitPattern: generator.next())
      let number = JSONNumber(double)
      #expect((number != nil) == double.isFinite)
      guard let number else { continue }
      #expect(number.double.bitPattern == double.bitPattern)
      #expect(JSONNumber(lexeme: number.lexeme) == number)
    }
    for double in [
      0, -0.0, 1, 0.1, 1e16, 1e-7, 1e22, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ] {
      #expect(JSONNumber(double).flatMap { JSONNumber(lexeme: $0.lexeme) }?.double == double)
    }
    #expect(JSONNumber(.infinity) == nil && JSONNumber(-.infinity) == nil)
    #expect(JSONNumber(Double.nan) == nil && JSONValue(Double.nan) == nil)
    #expect(JSONNumber(lexeme: "1e400")?.double == .infinity)
    #expect(JSONNumber(lexeme: "-1e400")?.double == -.infinity)
    #expect(JSONNumber(lexeme: "1e-400")?.double == 0)
    #expect(JSONNumber(lexeme: "18446744073709551615")?.double == 18446744073709551616)
  }

  @Test func `The digits of a number are checked`() {
    for lexeme in ["", " 1", "1 ", "+1", "01", "1.", ".5", "1e", "0x1", "-", "NaN", "1,", "١"] {
      #expect(JSONNumber(lexeme: lexeme) == nil, "\(lexeme)")
    }
  }

  @Test func `Equality is by bytes`() {
    #expect(JSONValue.string("é") != .string("e\u{301}"))
    #expect(JSONValue.string("\r\n") != .string("\n"))
    #expect(Set<JSONValue>(["é", "e\u{301}", "\u{E9}"]).count == 2)
    #expect(JSONNumber(lexeme: "1") != JSONNumber(lexeme: "1.0"))
    let (ab, ba): (JSONValue, JSONValue) = (["a": 1, "b": 2], ["b": 2, "a": 1])
    #expect(ab != ba)
    let kinds: [JSONValue] = [.null, false, 0, "", [], [:]]
    for (index, one) in kinds.enumerated() {
      for (other, two) in kinds.enumerated() { #expect((one == two) == (index == other)) }
    }
    #expect(Set(kinds).count == kinds.count)
  }

  @Test func `Objects keep the order of their members`() {
    var object = JSONObject()
    object["b"] = 1
    object["a"] = 2
    object["é"] = 3
    object["e\u{301}"] = 4
    object["b"] = 5
    #expect(object.keys == ["b", "a", "é", "e\u{301}"])
    #expect(object["b"] == 5 && object["é"] == 3 && object["e\u{301}"] == 4 && object["x"] == nil)
    object["a"] = nil
    object["x"] = nil
    object["n"] = .null
    #expect(object.keys == ["b", "é", "e\u{301}", "n"] && object["n"] == .null)
    #expect(JSONObject([("a", 1), ("b", 2), ("a", 3)]).members.map(\.value) == [3, 2])
    #expect(JSONObject([("a", 1)]).hashValue == JSONObject([("a", 1)]).hashValue)
  }

  @Test func `Literals become values`() {
    #expect(JSONValue(5 as UInt64) == 5 && JSONValue(0.5) == 0.5)
    let value: JSONValue = [true, 1, -1, 0.1, "s", [:], .null]
    #expect(value.description == #"[true,1,-1,0.1,"s",{},null]"#)
  }
}
