import TestSupport
import Testing

@testable import permcheck

/// TOML values with the place of each, and errors for everything else.
struct TOMLValueTests {
  /// A value as text: `{key@1:1=5@1:7}`.
  func text(_ value: TOMLValue) -> String {
    let place = "@\(value.place.line):\(value.place.column)"
    switch value.content {
    case .string(let string): return "\"\(string)\"" + place
    case .integer(let number): return "\(number)" + place
    case .boolean(let boolean): return "\(boolean)" + place
    case .other: return "other" + place
    case .array(let values): return "[" + values.map(text).joined(separator: " ") + "]" + place
    case .table(let members):
      let sorted = members.sorted { $0.place < $1.place }
      return "{"
        + sorted.map { "\($0.key)@\($0.place.line):\($0.place.column)=\(text($0.value))" }
        .joined(separator: " ") + "}" + place
    }
  }

  @Test("Everything has its place") func everythingHasItsPlace() throws {
    let document = """
      a = 5
      "é".b = [true, "x\\ty", 1.5]
      [[t]]
      k = {i = -1}
      [[t]]
      """
    #expect(
      try text(TOMLValue.document(Array(document.utf8)))
        == #"{a@1:1=5@1:5 é@2:1={b@2:5=[true@2:10 "x\#ty"@2:16 other@2:24]@2:9}@2:1 "#
        + "t@3:3=[{k@4:1={i@4:6=-1@4:10}@4:5}@3:1 {}@5:1]@3:1}@1:1")
  }

  @Test(
    "An error has its place",
    arguments: [
      ("a = ", 1, 5), ("a = 1\na = 2", 2, 5), ("\n[=", 2, 2), ("x = [}", 1, 6), ("ab = é\n", 1, 6),
      ("a = \"\u{1}\"", 1, 6), ("[[t]]\n[t]", 2, 1), ("a = 99999999999999999999", 1, 25),
    ])
  func anErrorHasItsPlace(_ document: String, line: Int, column: Int) {
    do throws(TOMLValue.SyntaxError) {
      _ = try TOMLValue.document(Array(document.utf8))
      Issue.record("\(document) is no TOML")
    } catch {
      #expect(error.place == .init(line: line, column: column), "\(document): \(error.message)")
    }
  }

  @Test("Depth ends with an error") func depthEndsWithAnError() {
    for part in ["[", "{a=", "[[", "a.", "[{a" + String(repeating: ".a", count: 999) + "=[\n"] {
      let deep = Array("a = ".utf8) + Array(String(repeating: part, count: 100_000).utf8)
      #expect(throws: TOMLValue.SyntaxError.self) { _ = try TOMLValue.document(deep) }
    }
  }

  /// Tables in tables, as deep as they may be.
  @Test("Depth fits on the stack") func depthFitsOnTheStack() throws {
    let part = "[{a" + String(repeating: ".a", count: 32) + "="
    for depth in [1, 60, 120, 130] {
      let text =
        "x = " + String(repeating: part, count: depth) + "1" + String(repeating: "}]", count: depth)
      let value = try? TOMLValue.document(Array(text.utf8))
      #expect((value != nil) == (depth < 128), "\(depth)")
    }
  }

  /// No string hides the dots of a key after it.
  @Test(
    "No string hides depth",
    arguments: [
      "\"\"\"a\"b\"\"\"", "\"\"\"a\"\"\"\"\"", "\'\'\'a\'b\'\'\'", "\"\\\"\"", "\'\\\'", "\"\"",
      "\"\"\"\\\n\"\"\"",
      "\"\"\"\\\"\"\"\"", "\"#\"",
    ])
  func noStringHidesDepth(_ string: String) throws {
    _ = try TOMLValue.document(Array("x = [\(string), {a = 1}]".utf8))
    let key = "a" + String(repeating: ".a", count: 33)
    #expect(throws: TOMLValue.SyntaxError.self) {
      _ = try TOMLValue.document(Array("x = [\(string), {\(key) = 1}]".utf8))
    }
  }

  /// Dots that are in no key, in texts and comments, are no depth.
  @Test("Dots elsewhere are no depth") func dotsElsewhereAreNoDepth() throws {
    let dots = String(repeating: ".", count: 99)
    let text = "# \(dots)\na = \"\(dots) \\\" \(dots)\" # \(dots)\nb = '\(dots)'\n"
    _ = try TOMLValue.document(Array(text.utf8))
  }

  /// Broken documents end with an error, and never end the program.
  @Test("Nothing crashes") func nothingCrashes() {
    var random = SeededNumbers("toml")
    let seed = Array(
      "[[expect]]\nname = \"a\"\nuser = ['b', \"c\"]\nuid = 5\n[t.u]\nd = 1979-05-27T07:32:00Z\n"
        .utf8)
    let pieces = ["[", "]", "{", "}", "=", "\"", "'''", "#", "\n", ".", ",", "\\u", "é", "(", "\0"]
    var errors = 0
    let documents = Effort.of(5_000, atLeast: 500)
    for _ in 0..<documents {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let at = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: at)
        case 1: bytes.removeSubrange(at..<min(bytes.count, at + 5))
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
        }
      }
      do throws(TOMLValue.SyntaxError) {
        _ = try TOMLValue.document(bytes)
      } catch {
        errors += 1
      }
    }
    #expect(errors * 5 > documents)
  }
}
