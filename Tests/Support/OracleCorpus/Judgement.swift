import PermissionKit

/// The result of the evaluator on a file of cases.
package struct Judgement {
  package private(set) var answers = 0
  /// One line for each answer that differs from the kernel's.
  package private(set) var wrong: [String] = []

  package init(_ corpus: OracleCorpus) {
    for one in corpus.cases { judge(one, drivers: corpus.header.driver_errno) }
  }

  private mutating func judge(_ one: OracleCase, drivers: [String: Int32]) {
    let evaluator = AccessEvaluator(
      facts: one.facts(drivers: drivers), credentials: one.credentials)
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
}
