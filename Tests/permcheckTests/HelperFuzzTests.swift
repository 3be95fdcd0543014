import Foundation
import TestSupport
import Testing

/// permcheck-helper, started as only an attacker would: with other arguments, environments,
/// descriptors, limits and signals each time.
@Suite(.enabled(if: Kernel.canAsk, "root's side and its private namespaces want root"))
struct HelperFuzzTests {
  /// 2,000, or what PERMISSIONKIT_HELPER_FUZZ asks for.
  static let cases =
    ProcessInfo.processInfo.environment["PERMISSIONKIT_HELPER_FUZZ"].flatMap { Int($0) } ?? 2_000

  @Test func nothingElseChanges() throws {
    let driver = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fuzz/helperfuzz.py")
    let seed = ProcessInfo.processInfo.environment["PERMISSIONKIT_SEED"].map { ["--seed", $0] }
    let outcome = try Command.run(
      ["python3", driver.path, "--helper", Command.helper, "--count", "\(Self.cases)"]
        + (seed ?? []), environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    let last = outcome.output.split(separator: "\n").last.map(String.init) ?? ""
    print(last)
    #expect(outcome.status == 0, "\(outcome.output.suffix(6000))\n\(outcome.errors.prefix(2000))")
    #expect(last.hasPrefix("helper fuzz: \(Self.cases) cases, 0 faults, seed "))
  }
}
