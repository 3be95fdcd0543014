import Foundation
import OracleCorpus
import TestSupport
import Testing

/// The evaluator against the running kernel, on cases that nobody has seen before.
@Suite(
  .blocking,
  .enabled(if: Kernel.canAsk, "mounting file systems and taking on other credentials wants root"))
struct LiveKernelTests {
  /// 14 questions each, more or less, of opening and checking and of operations.
  static let cases = Effort.of(1_500, atLeast: 60)

  @Test(arguments: [[], ["--operations"]])
  func `Every answer is the kernel's`(_ kind: [String]) throws {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "permissionkit-live-\(UUID().uuidString).jsonl")
    defer { try? FileManager.default.removeItem(at: file) }
    let oracle = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Oracle/oracle.py")
    let outcome = try Command.run(
      [
        "python3", oracle.path, "-n", "\(Self.cases)", "--seed", "\(Effort.seed)", "-o", file.path,
        "--asker", Command.products.appending(path: "kernel-asker").path,
      ] + kind, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    // What this machine lacks is named; with CI=true the oracle fails instead.
    let leftOut = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("left out: ") }
    for line in leftOut { print("live oracle: \(line)") }
    try #require(outcome.status == 0, "\(outcome.errors)")

    let judgement = Judgement(try OracleCorpus(contentsOf: file.path))
    let (answers, wrong) = (judgement.answers, judgement.wrong)
    let name = (["live oracle"] + kind).joined(separator: " ")
    print("\(name): \(answers) answers, \(wrong.count) wrong, seed \(Effort.seed)")
    #expect(answers >= Self.cases * 40 / 3 || !leftOut.isEmpty)
    #expect(wrong.isEmpty, "\(wrong.prefix(10).joined(separator: "\n"))")
  }
}
