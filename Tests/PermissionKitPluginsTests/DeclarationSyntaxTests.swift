import Foundation
import PermissionKitPlugins
import TestSupport
import Testing

@testable import permcheck

/// The reader of declarations, held to a whole reader of TOML.
@Suite struct DeclarationSyntaxTests {
  /// A document that can be a declaration: each key with its texts, and the places of all.
  private typealias Meaning = [String]

  private static func place(_ line: Int, _ column: Int) -> String { "@\(line):\(column)" }

  /// What the reader takes a document for; nil if it cannot be a declaration.
  private static func meaning(_ bytes: [UInt8]) -> Meaning? {
    guard let members = try? DeclarationSyntax.members(bytes) else { return nil }
    func text(_ value: DeclarationSyntax.Value) -> String? {
      guard case .text(let text) = value.content else { return nil }
      return text.debugDescription + place(value.place.line, value.place.column)
    }
    var meaning: Meaning = []
    for member in members {
      var told = text(member.value)
      if case .list(let elements) = member.value.content {
        let texts = elements.compactMap(text)
        guard texts.count == elements.count else { return nil }
        let start = member.value.place
        told = "[\(texts.joined(separator: ","))]" + place(start.line, start.column)
      }
      guard let told else { return nil }
      meaning.append(
        member.key.debugDescription + place(member.place.line, member.place.column) + "=" + told)
    }
    return meaning.sorted()
  }

  /// What toml++ takes a document for; nil if it is no TOML, or cannot be a declaration.
  private static func reference(_ bytes: [UInt8]) -> Meaning? {
    guard case .table(let members)? = try? TOMLValue.document(bytes).content else { return nil }
    func text(_ value: TOMLValue) -> String? {
      guard case .string(let text) = value.content else { return nil }
      return text.debugDescription + place(value.place.line, value.place.column)
    }
    var meaning: Meaning = []
    for member in members {
      var told = text(member.value)
      if case .array(let elements) = member.value.content {
        let texts = elements.compactMap(text)
        guard texts.count == elements.count else { return nil }
        let start = member.value.place
        told = "[\(texts.joined(separator: ","))]" + place(start.line, start.column)
      }
      guard let told else { return nil }
      meaning.append(
        member.key.debugDescription + place(member.place.line, member.place.column) + "=" + told)
    }
    return meaning.sorted()
  }

  private static func check(_ bytes: [UInt8]) {
    let (found, wanted) = (meaning(bytes), reference(bytes))
    guard found != wanted else { return }
    let text = String(decoding: bytes, as: UTF8.self).debugDescription
    Issue.record("\(text): \(found ?? []), and not \(wanted ?? [])")
  }

  /// Documents whose form is a corner of TOML.
  @Test(
    "Corners are read alike",
    arguments: [
      "", "\n\n", "\r\n", "# x", "#\u{7f}", "# \t x\r\n", "#\r", "a = \"x\"", "a=\"x\"# y",
      "a = 'x' y",
      "a = \"x\"\ra = \"y\"", "\"a b\" = 'x'", "'a.b' = 'x'", "a.b = 'x'", "a . b = 'x'",
      "a = \"\"",
      "\"\" = 'x'", "= 'x'", "a = ", "a = #", "a", "a 'x'", "é = 'x'", "\"é\" = 'x'", "-_ = 'x'",
      "1 = 'x'",
      "a = \"\\u00e9\\U0001f600\"", "a = \"\\ud800\"", "a = \"\\U00110000\"", "a = \"\\u12\"",
      "a = \"\\e\"",
      "a = \"\\x41\"", "a = \"\\b\\t\\n\\f\\r\\\"\\\\\"", "a = \"\\/\"", "a = \"\n\"", "a = '\n'",
      "a = \"\t\"",
      "a = \"\u{0}\"", "a = \"\u{7f}\"", "a = '\u{1f}'", "a = \"\"\"\nx\"\"\"",
      "a = \"\"\"x\ny\"\"\"",
      "a = \"\"\"\r\nx\r\ny\"\"\"", "a = \"\"\"x\\\n   y\"\"\"",
      "a = \"\"\"x\\  \n\n  \r\n\ty\"\"\"",
      "a = \"\"\"x\\ y\"\"\"", "a = \"\"\"x\"\"y\"\"\"", "a = \"\"\"x\"\"\"\"",
      "a = \"\"\"x\"\"\"\"\"",
      "a = \"\"\"x\"\"\"\"\"\"", "a = '''x'''''", "a = '''\n'x''\\'''", "a = '''x''''''",
      "a = \"\"\"x\ry\"\"\"",
      "a = '''x\ry'''", "a = \"\"\"\\\"\"\"\"", "a = \"\"\"\\\"\"\"", "\"\"\"a\"\"\" = 'x'",
      "'''a''' = 'x'",
      "a = []", "a = [,]", "a = ['x',]", "a = ['x',,]", "a = ['x' 'y']",
      "a = [ # x\n'x' # y\n, # z\n]",
      "a = ['x'\n,\r\n'y']", "a = [['x']]", "a = ['x', 1]", "a = [", "a = ['x'", "a = ]", "a = 1",
      "a = true",
      "a = 1979-05-27", "a = 1979-05-27 07:32:00", "a = {}", "a = {b = 'x'}", "a = nan", "a = x",
      "[a]", "[a]\nb = 'x'", "[[a]]\n[[a]]", "a = 'x'\n[a]", "a = 'x'\n[a.b]", "a = 'x'\na = 'y'",
      "a = 'x'\n\"a\" = 'y'", "a = 'x'\na.b = 'y'", "a.b = 'x'\na = 'y'", "[a", "[[a]", "[a]]",
      "[]",
      "a = 'x' b = 'y'", "\u{feff}a = 'x'", "a = 'x'\u{feff}", "\u{a0}a = 'x'", "a\u{a0}= 'x'",
      "a = 'x'\u{2028}b = 'y'", "a = \"\u{2028}\u{85}\u{fffd}\u{feff}\"", "a = 'e\u{301}😀' # é",
      "\u{c}a = 'x'",
      "a = 'x'\u{b}", "a = \"\u{10ffff}\u{e000}\"", "\"a\\u0062\" = 'x'\nab = 'y'", "a\n= 'x'",
      "a =\n'x'",
      "\"a\nb\" = 'x'", "a = \"\"\"", "a = '''", "a = \"\"\"\"", "a = \"x\\", "a = \"\"\"\\",
      "\"\\u0000\" = 'x'", "a = \"\\u0000\"",
    ])
  func cornersAreReadAlike(_ document: String) { Self.check(Array(document.utf8)) }

  @Test(
    "Broken UTF 8 is read alike",
    arguments: [
      [0x61, 0x3d, 0x27, 0xff, 0x27], [0xef, 0xbb], [0xef, 0xbb, 0xbf], [0x23, 0xc3],
      [0x61, 0x3d, 0x27, 0xed, 0xa0, 0x80, 0x27], [0x61, 0x3d, 0x27, 0xc0, 0x80, 0x27],
      [0x61, 0x3d, 0x27, 0xf4, 0x90, 0x80, 0x80, 0x27], [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf],
      [0x23, 0xed, 0xa0, 0x80], [0xff, 0xfe, 0x61, 0x00],
    ])
  func brokenUTF8IsReadAlike(_ bytes: [UInt8]) { Self.check(bytes) }

  @Test("Shipped declarations are read alike") func shippedDeclarationsAreReadAlike() throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: ShippedTests.folder.path) {
      let bytes = Array(try Data(contentsOf: ShippedTests.folder.appending(path: file)))
      #expect(Self.meaning(bytes)?.isEmpty == false, "\(file)")
      Self.check(bytes)
    }
    for (text, _, _) in DeclarationFileTests.mistakes { Self.check(Array(text.utf8)) }
  }

  // MARK: - Generated documents

  private static let keys = [
    "name", "nodes", "need", "a-b", "\"name\"", "'nodes'", "\"\\u006eeed\"", "x.y", "a . 'b'", "é",
  ]
  private static let texts = [
    "x", "/dev/tty*", "é", "😀", "\\t", "\\u00e9", "\\\"", "\\\\", "'", "\"", "#", "]", "\\\n  ",
    "\n",
    "\r\n", "\t", "\\e", "\u{1}", "\\U0001F600", ",", "=", "\\ \n",
  ]
  private static let others = [
    "1", "-0x1f", "1_000", "1e9", "inf", "true", "07:32:00", "1979-05-27T07:32:00Z", "{}",
    "{a = 1}",
    "[[]]", "[1, 'x']", "nothing",
  ]
  private static let blanks = ["", " ", "\t ", " # x\n", "\n", "\r\n", "  "]

  private static func text(_ random: inout some RandomNumberGenerator) -> String {
    let quote = ["\"", "\"", "'", "\"\"\"", "'''"].randomElement(using: &random) ?? "'"
    let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      // Mostly what any text may have.
      Int.random(in: 0..<4, using: &random) > 0 ? "x" : texts.randomElement(using: &random) ?? ""
    }
    return quote + parts.joined() + quote
  }

  private static func document(_ random: inout some RandomNumberGenerator) -> [UInt8] {
    var text = Int.random(in: 0..<20, using: &random) == 0 ? "\u{feff}" : ""
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let key = keys.randomElement(using: &random) ?? ""
      func blank() -> String {
        Bool.random(using: &random) ? " " : blanks.randomElement(using: &random) ?? ""
      }
      switch Int.random(in: 0..<12, using: &random) {
      case 0: text += "[\(key)]\n"
      case 1: text += "\(key) = \(others.randomElement(using: &random) ?? "")\n"
      case 2...5:
        let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          blank() + Self.text(&random) + blank()
        }
        text += "\(key) = [\(elements.joined(separator: ","))\(blank())]\n"
      default: text += "\(key)\(blank())=\(blank())\(Self.text(&random))\(blank())\n"
      }
    }
    var bytes = Array(text.utf8)
    while !bytes.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(UInt8.random(in: 0...127, using: &random), at: place)
      default:
        bytes.insert(Array("\"'[]=.#\\\n\r".utf8).randomElement(using: &random) ?? 0, at: place)
      }
    }
    return bytes
  }

  /// The same texts in the same places, and the same documents that can be none.
  @Test("Thousands are read alike") func thousandsAreReadAlike() {
    var random = SeededNumbers("declaration syntax")
    var read = 0
    let documents = Effort.of(20_000, atLeast: 4_000)
    for _ in 0..<documents {
      let bytes = Self.document(&random)
      Self.check(bytes)
      if Self.meaning(bytes)?.isEmpty == false { read += 1 }
    }
    #expect(read * 20 > documents, "the documents are worth reading: \(read)")
  }

  /// Whatever the bytes are, reading them ends with members or an error that has a place in the document.
  @Test("Rubbish has its place") func rubbishHasItsPlace() {
    var random = SeededNumbers("rubbish")
    for _ in 0..<Effort.of(20_000, atLeast: 4_000) {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        Bool.random(using: &random)
          ? UInt8.random(in: 0...255, using: &random)
          : Array("\"'[]=.#\\\n\r\tau0".utf8).randomElement(using: &random) ?? 0
      }
      do throws(DeclarationSyntax.SyntaxError) {
        _ = try DeclarationSyntax.members(bytes)
      } catch {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        let isInside =
          (1...max(lines.count, 1)).contains(error.place.line)
          && (1...(lines[error.place.line - 1].count + 1)).contains(error.place.column)
        #expect(isInside && !error.message.isEmpty, "\(bytes): \(error)")
      }
    }
    for part in ["[", "[[", "a=[", "'a'.", "\"\"\"\\\n", "[\n#"] {
      let deep = Array("a = ".utf8) + Array(String(repeating: part, count: 20_000).utf8)
      #expect(throws: DeclarationSyntax.SyntaxError.self) { try DeclarationSyntax.members(deep) }
    }
  }
}
