import TestSupport
import Testing

@testable import permcheck

/// What a person is asked for who reports a fault.
@Suite(.blocking) struct VersionTests {
  @Test(arguments: [["-v"], ["--verbose"]])
  func `Version is one line, and three with -v`(_ option: [String]) throws {
    let short = try Command.permcheck(["--version"])
    #expect(short.status == 0 && short.output == Tool.version + "\n" && short.errors.isEmpty)
    for arguments in [["--version"] + option, option + ["--version"]] {
      let long = try Command.permcheck(arguments)
      let lines = long.output.split(separator: "\n")
      #expect(long.status == 0 && lines.first.map(String.init) == Tool.version)
      #expect(lines.count > 1 && lines[1].hasPrefix("commit "))
    }
  }

  @Test(arguments: ["request", "check", "verify", "log"])
  func `Help of a command names its manual`(_ command: String) throws {
    let help = try Command.permcheck(["help", command])
    #expect(help.output.contains("man permcheck-\(command)\n"))
  }
}
