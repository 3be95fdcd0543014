import Foundation
import TestSupport
import Testing

/// Random histories of grants, held to an independent model of what a lease promises.
///
/// `Scripts/fuzz-leases` plays many more in memory.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "mounting file systems and changing owners wants root"))
struct LeaseModelTests {
  static let histories = Effort.of(300, atLeast: 10)
  static let historiesInMemory = Effort.of(1_000, atLeast: 20)
  static let model = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Model")

  /// Histories that are known to fail, each a seed and a number.
  static let knownFaults: [[String]] = {
    let text = try? String(contentsOf: model.appending(path: "known-faults"), encoding: .utf8)
    return (text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { $0.split(separator: " ").map(String.init) }
  }()

  /// Who plays a history.
  enum Ground: CaseIterable {
    case kernel, memory

    var arguments: [String] {
      switch self {
      case .kernel: ["--permcheck", Command.permcheck]
      case .memory: ["--player", Command.products.appending(path: "lease-player").path]
      }
    }
  }

  @Test("Leases hold on the kernel") func leasesHoldOnTheKernel() throws {
    try play(.kernel, Self.histories, ["--seed", "\(Effort.seed)"])
  }

  @Test("Leases hold in memory") func leasesHoldInMemory() throws {
    try play(.memory, Self.historiesInMemory, ["--seed", "\(Effort.seed)"])
  }

  @Test(
    "Histories that are known to fail hold", .soak("until a lease is a three-way merge"),
    arguments: knownFaults, Ground.allCases)
  func knownFaultHolds(_ history: [String], _ ground: Ground) throws {
    try play(ground, 1, ["--seed", history[0], "--only", history[1]])
  }

  private func play(_ ground: Ground, _ histories: Int, _ which: [String]) throws {
    let outcome = try Command.run(
      ["python3", Self.model.appending(path: "leases.py").path, "--histories", "\(histories)"]
        + which + ground.arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    let lines = outcome.output.split(separator: "\n")
    print(lines.last ?? "")
    #expect(
      outcome.status == 0,
      "\(lines.prefix(60).joined(separator: "\n"))\n\(outcome.errors.prefix(2000))")
    let counts = try #require(lines.last).split { $0 == " " || $0 == "," }.compactMap { Int($0) }
    #expect(counts.first == histories && counts.dropFirst(2).first == 0)
  }
}
