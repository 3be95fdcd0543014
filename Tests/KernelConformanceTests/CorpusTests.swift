import Foundation
import OracleCorpus
import TestSupport
import Testing

/// The evaluator against the recorded answers of a live kernel.
@Suite struct CorpusTests {
  /// The file that PERMISSIONKIT_ORACLE names; it is judged whole, whatever the effort.
  static let named = Variables.value("PERMISSIONKIT_ORACLE")

  /// The corpora of the project, or the named file.
  static var paths: [String] {
    if let named { return [named] }
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    return ["cases", "operations"].map { folder.appending(path: "Oracle/\($0).jsonl.gz").path }
  }

  @Test func `Every answer is the kernel's`() throws {
    var (answers, wrong) = (0, [String]())
    for path in Self.paths {
      let judgement = Judgement(
        try OracleCorpus(contentsOf: path, every: Self.named == nil && !Effort.isFull ? 25 : 1))
      #expect(judgement.answers > 0)
      answers += judgement.answers
      wrong += judgement.wrong
    }
    print("oracle: \(answers) answers, \(wrong.count) wrong")
    #expect(wrong.isEmpty, "\(wrong.prefix(10).joined(separator: "\n"))")
  }
}
