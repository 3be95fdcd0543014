import Foundation
import OracleCorpus
import Testing

/// The evaluator against the recorded answers of a live kernel.
@Suite struct CorpusTests {
  /// The corpus of the project, or the file that PERMISSIONKIT_ORACLE names.
  static var corpusPath: String {
    ProcessInfo.processInfo.environment["PERMISSIONKIT_ORACLE"]
      ?? URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Oracle/cases.jsonl.gz").path
  }

  @Test func everyAnswerIsTheKernels() throws {
    let judgement = Judgement(try OracleCorpus(contentsOf: Self.corpusPath))
    print("oracle: \(judgement.answers) answers, \(judgement.wrong.count) wrong")
    #expect(judgement.answers > 0)
    #expect(judgement.wrong.isEmpty, "\(judgement.wrong.prefix(10).joined(separator: "\n"))")
  }
}
