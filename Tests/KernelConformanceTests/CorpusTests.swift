import Foundation
import OracleCorpus
import TestSupport
import Testing

/// The evaluator against the recorded answers of a live kernel.
@Suite struct CorpusTests {
  /// The file that PERMISSIONKIT_ORACLE names; it is judged whole, whatever the effort.
  static let named = Variables.value("PERMISSIONKIT_ORACLE")

  /// The corpus of the project, or the named file.
  static var corpusPath: String {
    named
      ?? URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Oracle/cases.jsonl.gz").path
  }

  @Test func `Every answer is the kernel's`() throws {
    let judgement = Judgement(
      try OracleCorpus(
        contentsOf: Self.corpusPath, every: Self.named == nil && !Effort.isFull ? 25 : 1))
    print("oracle: \(judgement.answers) answers, \(judgement.wrong.count) wrong")
    #expect(judgement.answers > 0)
    #expect(judgement.wrong.isEmpty, "\(judgement.wrong.prefix(10).joined(separator: "\n"))")
  }
}
