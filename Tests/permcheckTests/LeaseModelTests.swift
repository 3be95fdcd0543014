import Foundation
import TestSupport
import Testing

/// Random histories of grants, held to an independent model of what a lease promises.
///
/// `Scripts/fuzz-leases` plays many more in memory.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "mounting file systems and changing owners wants root"))
struct LeaseModelTests {
  static let histories = Effort.of(2_000, atLeast: 10)

  @Test("Leases hold on the kernel") func leasesHoldOnTheKernel() throws {
    try play(["--permcheck", Command.permcheck], histories: Self.histories)
  }

  @Test("Leases hold in memory") func leasesHoldInMemory() throws {
    let player = Command.products.appending(path: "lease-player").path
    try play(["--player", player], histories: Self.histories / 4)
  }

  private func play(_ arguments: [String], histories: Int) throws {
    let model = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Model/leases.py")
    let outcome = try Command.run(
      ["python3", model.path, "--histories", "\(histories)", "--seed", "\(Effort.seed)"]
        + arguments,
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
