import Foundation
import TestSupport
import Testing

/// permcheck-helper, started as only an attacker would: with other arguments, environments,
/// descriptors, limits and signals each time.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's side and its private namespaces want root"))
struct HelperFuzzTests {
  static let cases = Effort.of(2_000, atLeast: 40)

  @Test func `Random arguments of the helper change nothing else`() throws {
    let driver = Checkout.file("Tests/permcheckTests/Fuzz/helperfuzz.py")
    let outcome = try Command.run(
      [
        "python3", driver.path, "--helper", Command.helper, "--count", "\(Self.cases)", "--seed",
        "\(Effort.seed)",
      ], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    let last = outcome.output.split(separator: "\n").last.map(String.init) ?? ""
    print(last)
    #expect(outcome.status == 0, "\(outcome.output.suffix(6000))\n\(outcome.errors.prefix(2000))")
    #expect(last.hasPrefix("helper fuzz: \(Self.cases) cases, 0 faults, seed "))
  }
}
