import Foundation
import TestSupport
import Testing

@testable import PermissionKitPlugins

/// The reader of TOML, held to Python's tomllib.
@Suite(.blocking) struct TOMLTests {
  /// What the reader takes a document for, as Reference/toml.py writes it.
  private static func meaning(_ value: TOMLValue) -> String {
    func hex(_ text: String) -> String {
      text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    switch value.content {
    case .string(let text): return "s" + hex(text)
    case .integer(let number): return "i\(number)"
    case .boolean(let isTrue): return isTrue ? "b1" : "b0"
    case .array(let values): return "[" + values.map(meaning).joined(separator: ",") + "]"
    case .table(let members):
      return "{"
        + members.map { hex($0.key) + "=" + meaning($0.value) }.sorted().joined(separator: ",")
        + "}"
    }
  }

  /// Reads each document that the script prints, and compares.
  ///
  /// - Returns: How many documents there are, and how many have a meaning.
  private static func compare(_ arguments: [String]) throws -> (documents: Int, read: Int) {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "Reference/toml.py")
    let outcome = try Command.run(["python3", script.path] + arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    var counts = (documents: 0, read: 0)
    for line in outcome.output.split(separator: "\n") {
      let parts = line.split(separator: " ")
      let digits = Array(parts[0].utf8)
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
      }
      let found = (try? TOMLValue.document(bytes)).map(meaning)
      let wanted = parts[1] == "-" || parts[1] == "other" ? nil : String(parts[1])
      counts.documents += 1
      counts.read += wanted == nil ? 0 : 1
      guard found != wanted else { continue }
      let text = String(decoding: bytes, as: UTF8.self).debugDescription
      Issue.record("\(text): \(found ?? "refused"), and not \(parts[1])")
    }
    return counts
  }

  @Test func `Thousands of documents are read as Python reads them`() throws {
    let counts = try Self.compare(["1", "\(Effort.of(20_000, atLeast: 2_000))"])
    #expect(counts.read * 5 > counts.documents, "the documents are worth reading: \(counts)")
  }

  @Test func `The shipped declarations are read as Python reads them`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: ShippedTests.folder.path)
    let counts = try Self.compare(files.map { ShippedTests.folder.appending(path: $0).path })
    #expect(counts.read == files.count && counts.read > 0)
  }

  /// A value with the place of each part: `{key@1:1=5@1:7}`.
  private static func places(_ value: TOMLValue) -> String {
    let place = "@\(value.place.line):\(value.place.column)"
    switch value.content {
    case .string(let text): return "\"\(text)\"" + place
    case .integer(let number): return "\(number)" + place
    case .boolean(let isTrue): return "\(isTrue)" + place
    case .array(let values): return "[" + values.map(places).joined(separator: " ") + "]" + place
    case .table(let members):
      let told = members.map {
        "\($0.key)@\($0.place.line):\($0.place.column)=\(places($0.value))"
      }
      return "{" + told.joined(separator: " ") + "}" + place
    }
  }

  @Test func `Every value has its place`() throws {
    let document = """
      a = 5
      "é".b = [true, "x\\ty", 0x1_f]
      [[t]]
      k = {i = -1}
      [[t]]
      """
    #expect(
      try Self.places(TOMLValue.document(Array(document.utf8)))
        == #"{a@1:1=5@1:5 é@2:1={b@2:1=[true@2:10 "x\#ty"@2:16 31@2:24]@2:9}@2:1 "#
        + "t@3:3=[{k@4:1={i@4:6=-1@4:10}@4:5}@3:1 {}@5:1]@3:1}@1:1")
  }

  @Test(arguments: [
    ("a = ", "1:5 the file ends too early"), ("a = 1\na = 2", "2:1 there is a key a already"),
    ("\n[=", "2:2 unexpected character"),
    ("x = [}", "1:6 unexpected character"),
    ("x = ['a' 'b']", "1:10 ] or , is missing here"),
    ("ab = é\n", "1:6 unexpected character"),
    ("a 1", "1:3 = is missing here"), ("[a", "1:3 ] is missing here"),
    ("a = \"\\q\"", "1:6 \\q is not an escape of TOML"),
    ("a = \"x\nb = 1", "1:7 missing closing quote"),
    ("a = \"x\r\nb = 1", "1:7 missing closing quote"),
    ("a = '''x", "1:9 missing closing quote"),
    ("a = \"\u{1}\"", "1:6 unexpected character"),
    ("[[t]]\n[t]", "2:1 there is a key t already"),
    ("a = {}\n[a.b]", "2:2 the key a has a value already"),
    ("a.b = 1\na.b.c = 2", "2:1 there is a key b already"),
    ("a = 99999999999999999999", "1:5 expected a string in quotes, a whole number, true or false"),
    ("\na = 1.5", "2:5 expected a string in quotes, a whole number, true or false"),
    ("a = 1979-05-27", "1:5 expected a string in quotes, a whole number, true or false"),
    ("a.b.c.d.e.f.g.h.i = 1", "1:1 a key has at most 8 parts"),
    ("x = [[[[[[[[[1]]]]]]]]]", "1:13 this value is nested too deeply"),
  ])
  func `An error has its place`(_ document: String, _ wanted: String) {
    do throws(TOMLValue.SyntaxError) {
      _ = try TOMLValue.document(Array(document.utf8))
      Issue.record("\(document) is read")
    } catch {
      #expect("\(error.place.line):\(error.place.column) \(error.message)" == wanted, "\(document)")
    }
  }

  /// Whatever the bytes are, reading them ends with a table or an error that has a place in the document.
  @Test func `An error in random bytes has its place`() {
    var random = SeededNumbers("rubbish")
    for _ in 0..<Effort.of(20_000, atLeast: 2_000) {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        Bool.random(using: &random)
          ? UInt8.random(in: 0...255, using: &random)
          : Array("\"'[]{}=.#\\\n\r\tau0".utf8).randomElement(using: &random) ?? 0
      }
      do throws(TOMLValue.SyntaxError) {
        _ = try TOMLValue.document(bytes)
      } catch {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        let isInside =
          (1...lines.count).contains(error.place.line)
          && (1...(lines[error.place.line - 1].count + 1)).contains(error.place.column)
        #expect(isInside && !error.message.isEmpty, "\(bytes): \(error)")
      }
    }
    for part in ["[", "{a=", "[[", "a.", "'a'.", "[{a.a=", "\"\"\"\\\n", "[\n#"] {
      let deep = Array("a = ".utf8) + Array(String(repeating: part, count: 100_000).utf8)
      #expect(throws: TOMLValue.SyntaxError.self) { try TOMLValue.document(deep) }
    }
  }
}
