import PermissionKit
import TestSupport
import Testing

/// Printed commands are the very bytes, in each shell that is here.
@Suite(.blocking) struct ShellCommandTests {
  static let odd: [[UInt8]] = [
    Array("plain".utf8), Array("two words".utf8), Array("it's".utf8), Array("a\\n".utf8), [0x0a],
    [0x61, 0x0a], [0x61, 0x0a, 0x0a], [0xff], Array("-n".utf8) + [0xfe], Array("$(x)`y`".utf8),
    Array("100%s".utf8) + [1], Array("\u{ad}\u{200b}\u{202e}\u{feff}".utf8), Array("é日".utf8), [],
    Array("x\u{e9}".utf8), Array("~".utf8), Array("#".utf8), Array("*".utf8), [0x27, 0x07, 0x5c],
  ]

  @Test(arguments: ["dash", "bash", "zsh", "ksh"])
  func `A shell reads the words that were printed`(_ shell: String) throws {
    guard let found = try? Command.run(["sh", "-c", "command -v \(shell)"]), found.status == 0
    else { return }
    // All bytes, three at a time.
    let triples = (1...253).map { [UInt8($0), UInt8($0 + 1), UInt8($0 + 2)] }
    let words = Self.odd + Effort.some(triples, of: "ShellCommandTests \(shell)")
    for word in words {
      let line = ShellCommand.line(["printf", "%s|%s", PathBytes(word), PathBytes(word)])
      #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "\(line)")
      let outcome = try Command.run([shell, "-c", "\(line) | od -An -v -tx1"])
      let bytes = outcome.output.split { $0 == " " || $0 == "\n" }.compactMap {
        UInt8($0, radix: 16)
      }
      #expect(bytes == word + [0x7c] + word, "\(shell): \(line)")
    }
  }
}
