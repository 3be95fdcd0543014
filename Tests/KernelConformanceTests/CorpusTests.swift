import Foundation
import OracleCorpus
import PermissionKit
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
    let corpus = try OracleCorpus(contentsOf: Self.corpusPath)
    var answers = 0
    var wrong: [String] = []
    for one in corpus.cases {
      let evaluator = AccessEvaluator(
        facts: one.facts(drivers: corpus.header.driver_errno), credentials: one.credentials)
      let path = PathBytes(one.path)
      for answer in OracleCorpus.answers(one) {
        answers += 1
        let decision = evaluator.decide(answer.question, path: path)
        if decision.kernelErrno != answer.kernel {
          wrong.append(
            "case \(one.id) \(one.cls) \(answer.token): \(decision), kernel \(answer.kernel)")
        }
      }
    }
    print("oracle: \(answers) answers, \(wrong.count) wrong")
    #expect(answers > 0)
    #expect(wrong.isEmpty, "\(wrong.prefix(10).joined(separator: "\n"))")
  }
}
