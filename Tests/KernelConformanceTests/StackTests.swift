import Foundation
import TestSupport
import Testing

/// The first cause that permcheck names, of several at once: the kernel says whether it is one.
@Suite(
  .blocking,
  .enabled(if: Kernel.canAsk, "mounting file systems and taking on other credentials wants root"))
struct StackTests {
  static let stacks = Effort.of(1_000, atLeast: 40)

  @Test func `Each repair of the first named cause leads to the next one`() throws {
    let driver = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Oracle/stacks.py")
    let outcome = try Command.run(
      [
        "python3", driver.path, "--seed", "\(Effort.seed)", "--stacks", "\(Self.stacks)",
        "--permcheck", Command.permcheck,
      ], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    for line in outcome.output.split(separator: "\n") where line.hasPrefix("stacks: ") {
      print(line)
    }
    for line in outcome.errors.split(separator: "\n") { print("stacks: \(line)") }
    #expect(outcome.status == 0, "\(outcome.output.prefix(4000))\n\(outcome.errors.prefix(2000))")
    let counts = try #require(outcome.output.split(separator: "\n").last)
      .split { $0 == " " || $0 == "," }.compactMap { Int($0) }
    #expect(counts.first == Self.stacks && counts[1] >= Self.stacks * 2 && counts[2] == 0)
  }
}
