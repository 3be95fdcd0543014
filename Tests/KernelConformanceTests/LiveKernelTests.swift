import Foundation
import OracleCorpus
import TestSupport
import Testing

/// The evaluator against the running kernel, on cases that nobody has seen before.
@Suite(
  .enabled(if: Kernel.canAsk, "mounting file systems and taking on other credentials wants root"))
struct LiveKernelTests {
  /// A new one every time, or the one that PERMISSIONKIT_SEED asks for again.
  static let seed: UInt64 =
    ProcessInfo.processInfo.environment["PERMISSIONKIT_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: 1...0xffff_ffff)

  /// 14 questions each, more or less.
  static let cases = 1_500

  @Test func everyAnswerIsTheKernels() throws {
    print("seed: \(Self.seed)")
    let file = FileManager.default.temporaryDirectory
      .appending(path: "permissionkit-live-\(UUID().uuidString).jsonl")
    defer { try? FileManager.default.removeItem(at: file) }
    let oracle = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Oracle/oracle.py")
    let outcome = try Command.run(
      [
        "python3", oracle.path, "-n", "\(Self.cases)", "--seed", "\(Self.seed)", "-o", file.path,
        "--asker", Command.products.appending(path: "kernel-asker").path,
      ], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    // What this machine lacks is named; with CI=true the oracle fails instead.
    let leftOut = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("left out: ") }
    for line in leftOut { print("live oracle: \(line)") }
    try #require(outcome.status == 0, "\(outcome.errors)")

    let judgement = Judgement(try OracleCorpus(contentsOf: file.path))
    let (answers, wrong) = (judgement.answers, judgement.wrong)
    print("live oracle: \(answers) answers, \(wrong.count) wrong, seed \(Self.seed)")
    #expect(answers >= 20_000 || !leftOut.isEmpty)
    #expect(wrong.isEmpty, "\(wrong.prefix(10).joined(separator: "\n"))")
  }
}
