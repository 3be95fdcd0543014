import Foundation
import TestSupport
import Testing

/// Random histories of grants, held to an independent model of what a lease promises.
///
/// `Scripts/fuzz-leases` plays many more in memory.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "mounting file systems and changing owners wants root"))
struct LeaseModelTests {
  static let histories = Effort.of(300, atLeast: 5)
  static let historiesInMemory = Effort.of(1_000, atLeast: 10)
  static let model = Checkout.file("Tests/permcheckTests/Model")

  /// Who plays a history.
  enum Ground {
    case kernel, memory

    private var player: String { Command.products.appending(path: "lease-player").path }

    var arguments: [String] {
      switch self {
      case .kernel: ["--permcheck", Command.permcheck, "--holder", player]
      case .memory: ["--player", player]
      }
    }
  }

  @Test func `Leases follow their model on the kernel`() throws {
    try play(
      "leases.py", Self.histories, ["--seed", "\(Effort.seed)"] + Ground.kernel.arguments)
  }

  @Test func `Leases follow their model in memory`() throws {
    try play(
      "leases.py", Self.historiesInMemory, ["--seed", "\(Effort.seed)"] + Ground.memory.arguments)
  }

  /// Where mounts, disks, clocks and editors change meanwhile.
  @Test func `Leases end in places that change`() throws {
    try play(
      "ends.py", Effort.of(400, atLeast: 16),
      ["--seed", "\(Effort.seed)", "--permcheck", Command.permcheck])
  }

  /// What each user can do before and after, on what is there and on what comes.
  @Test func `Grants give what was asked, and take nothing away`() throws {
    try play(
      "worth.py", Effort.of(600, atLeast: 24),
      ["--seed", "\(Effort.seed)", "--permcheck", Command.permcheck])
  }

  private func play(_ program: String, _ histories: Int, _ arguments: [String]) throws {
    let outcome = try Command.run(
      ["/usr/bin/python3", Self.model.appending(path: program).path, "--histories", "\(histories)"]
        + arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    let lines = outcome.output.split(separator: "\n")
    print(lines.last ?? "")
    #expect(
      outcome.status == 0,
      "\(lines.prefix(60).joined(separator: "\n"))\n\(outcome.errors.prefix(2000))")
    let counts = try #require(lines.last).split { $0 == " " || $0 == "," }.compactMap { Int($0) }
    #expect(counts.first == histories && counts.dropLast().last == 0)
  }
}
