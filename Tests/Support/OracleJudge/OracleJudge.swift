import Foundation
import OracleCorpus

/// Checks the evaluator on files of cases, see Tests/KernelConformanceTests/Oracle/README.md.
///
/// Prints a line for each file. Exits with 1 if an answer is wrong, with 2 if a file cannot be
/// read.
@main enum OracleJudge {
  static func main() {
    let files = CommandLine.arguments.dropFirst()
    guard !files.isEmpty else { fail("usage: oracle-judge FILE…", status: 64) }
    var wrong = 0
    for file in files {
      let judgement: Judgement
      do {
        judgement = Judgement(try OracleCorpus(contentsOf: file))
      } catch {
        fail("oracle-judge: \(file): \(error)", status: 2)
      }
      for line in judgement.wrong.prefix(20) { say(line) }
      print("oracle: \(judgement.answers) answers, \(judgement.wrong.count) wrong")
      wrong += judgement.wrong.count
    }
    exit(wrong == 0 ? 0 : 1)
  }

  private static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  private static func fail(_ text: String, status: Int32) -> Never {
    say(text)
    exit(status)
  }
}
