import Foundation
package import Testing

/// How much the random and the repeated tests do: PERMISSIONKIT_EFFORT.
package enum Effort: String, CaseIterable, Sendable {
  /// A loop for people at work, of two minutes; the default.
  case quick
  /// The full figures, which `Scripts/full` demands.
  case gate
  /// The full figures with a new seed in each run: `Scripts/soak`.
  case soak

  /// The effort that the environment asks for.
  package static let current: Effort = {
    guard let word = Variables.value("PERMISSIONKIT_EFFORT") else { return .quick }
    guard let effort = Effort(rawValue: word) else {
      let known = allCases.map(\.rawValue).joined(separator: ", ")
      fatalError("PERMISSIONKIT_EFFORT=\(word): expected one of \(known)")
    }
    return effort
  }()

  /// Whether the full figures are asked for.
  package static var isFull: Bool { current != .quick }

  /// Returns how often a test repeats something.
  ///
  /// - Parameters:
  ///   - full: The figure of the gate.
  ///   - least: What `quick` does: the fewest that still reach what is tested.
  /// - Returns: `least` for `quick`, `full` otherwise.
  package static func of(_ full: Int, atLeast least: Int) -> Int {
    isFull ? full : min(full, least)
  }

  /// Returns the cases of a table that a run judges.
  ///
  /// - Parameters:
  ///   - cases: The table.
  ///   - test: The name of the test, so that tests with the same table take different cases.
  ///   - least: How many cases `quick` takes at least.
  /// - Returns: A quarter of the cases for `quick`, all of them otherwise.
  package static func some<Case>(
    _ cases: [Case], of test: String, atLeast least: Int = 4
  ) -> [Case] {
    if isFull { return cases }
    var numbers = SeededNumbers(test)
    let taken = cases.indices.shuffled(using: &numbers).prefix(max(least, cases.count / 4))
    return taken.sorted().map { cases[$0] }
  }

  /// The seed of every run but the soak's, so that what has not changed gives the same result twice.
  private static let fixedSeed: UInt32 = 1

  /// The seed of all random tests of this run: PERMISSIONKIT_SEED if it is set, a new one for `soak`,
  /// otherwise always the same.
  ///
  /// The first test that uses it prints it.
  package static let seed: UInt64 = {
    let given = Variables.value("PERMISSIONKIT_SEED")
    let chosen =
      given.map { UInt32($0) } ?? (current == .soak ? .random(in: 1...UInt32.max) : fixedSeed)
    guard let seed = chosen else {
      fatalError("PERMISSIONKIT_SEED=\(given ?? ""): expected a number up to \(UInt32.max)")
    }
    print(
      "seed: PERMISSIONKIT_SEED=\(seed) repeats the random tests of this run, PERMISSIONKIT_EFFORT=\(current)"
    )
    return UInt64(seed)
  }()
}

extension Trait where Self == ConditionTrait {
  /// The test has no meaning when it is small, so it is left out of a quick run.
  ///
  /// - Parameter reason: Why it is left out.
  /// - Returns: The trait, which does nothing for `gate` and `soak`.
  package static func full(_ reason: String) -> Self {
    .enabled(if: Effort.isFull, "left out of a quick run: \(reason)")
  }

  /// The test fails as things are, so only the soak runs it.
  ///
  /// - Parameter reason: What ends the failure.
  /// - Returns: The trait, which does nothing for `soak`.
  package static func soak(_ reason: String) -> Self {
    .enabled(if: Effort.current == .soak, "left to the soak: \(reason)")
  }
}

/// Random numbers that a seed gives again, by SplitMix64.
package struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  /// Creates the numbers of a test, which depend on the seed of the run and on the test's name.
  package init(_ test: String) {
    state = test.utf8.reduce(Effort.seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
