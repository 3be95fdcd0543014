import Foundation
import TestSupport
import Testing

/// The progress of a check of several accessors, which a person at a terminal sees after a second.
@Suite(.blocking) struct ProgressTests {
  /// Runs permcheck, which the kernel keeps waiting for three seconds at the folder; on a terminal if wanted.
  private static func run(_ options: [String], onTerminal: Bool) throws -> Outcome {
    let tree = try Tree()
    try tree.folder("slow")
    let command = [Command.permcheck, "camera", "photos=" + tree.path("slow")] + options
    return try Command.run(
      (onTerminal ? ["/usr/bin/python3", "-c", TerminalTests.terminal, "200"] : []) + [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e",
        "inject=faccessat2:delay_enter=3000000:when=1",
      ] + command, environment: ["LC_ALL": "C.UTF-8", "NO_COLOR": "1"])
  }

  @Test func `A slow check shows its progress`() throws {
    let shown = try Self.run([], onTerminal: true).output
    #expect(shown.contains("\r2/2 photos="), "\(shown)")
    // Nothing of it stays.
    let last = shown.components(separatedBy: "\r\u{1b}[K").last ?? ""
    #expect(!last.contains("2/2") && last.contains("photos "), "\(shown)")
  }

  @Test(.full("it waits for a slow audit")) func `No progress is shown without a terminal`() throws
  {
    let quiet = try Self.run(["-q"], onTerminal: true)
    let piped = try Self.run([], onTerminal: false)
    #expect(quiet.output.isEmpty, "\(quiet)")
    #expect(!piped.output.contains("2/2") && !piped.errors.contains("2/2"), "\(piped)")
  }
}
