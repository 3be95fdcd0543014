import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import permcheck

/// The front, which reads everyday arguments, and the parser fill the same values.
struct FastArgumentsTests {
  static let words = [
    "check", "explain", "camera", "mic", "photos=/srv/photos", "/etc/shadow", "./x y", "=", "a=b",
    "watch", "help", "list", "--all", "--all", "--skip-unavailable", "--json", "-q", "--quiet",
    "-v",
    "--verbose", "-qv", "--user", "--user=www-data", "--user=", "www-data", "33", "--need", "rx",
    "xr",
    "--need=rw", "--need=q", "--need=-", "--format", "--format=plain", "plain", "json", "human",
    "--color", "never", "--color=always", "--color=red", "--log", "none", "-", "--log=/tmp/l", "--",
    "--pid", "1", "--root=/", "--wait", "5s", "--version", "--help", "-h", "--jso", "--uid=5",
    "--gid=5", "--groups=1,2", "--through=any", "--probe=none", "", "\\xff", "\\x2fetc", "é", "-x",
  ]

  /// The parser of a debug build takes 30 ms a list.
  static let lists = Effort.of(1_000, atLeast: 60)

  @Test func `Both parsers give the same values`() throws {
    var random = SeededNumbers("lists")
    var (read, left) = (0, 0)
    for round in 0..<Self.lists {
      // Mistakes are the parser's, so most lists have few words that are often wrong together.
      let count = 1 + Int(random.next() % (round % 2 == 0 ? 3 : 6))
      let list = (0..<count).map { _ in Self.words[Int(random.next() % UInt64(Self.words.count))] }
      guard let command = FastArguments.command(list) else {
        left += 1
        continue
      }
      read += 1
      let parsed: any ParsableCommand
      do {
        parsed = try Permcheck.parseAsRoot(list)
      } catch {
        if case .version = command { continue }
        Issue.record("\(list): the parser refuses what the front took: \(error)")
        continue
      }
      switch (command, parsed) {
      case (.check(let choice), let check as Check):
        #expect("\(choice)" == "\(check.choice)", "\(list)")
      case (.explain(let choice), let explain as Explain):
        #expect("\(choice)" == "\(explain.choice)", "\(list)")
      default: Issue.record("\(list): \(command), and \(type(of: parsed)) by the parser")
      }
    }
    #expect(read * 10 >= Self.lists, "\(read) lists read by both, \(left) by the parser alone")
    for list in [
      [], ["camera"], ["check", "mic", "-q"], ["camera", "--json", "--user", "root"],
      ["explain", "/etc/shadow", "--need=r"], ["photos=/srv", "--all", "--color", "never", "-v"],
    ] { #expect(FastArguments.command(list) != nil, "\(list) needs no parser") }
  }

  @Test func `Every command is known to both parsers`() {
    let names = Permcheck.configuration.subcommands.map { $0._commandName }
    #expect(Set(FastArguments.others + ["check", "explain"]) == Set(names + ["help"]))
  }
}
