/// The source of the answers about the files of a tree, in one thread.
enum TreeAsker {
  /// The kernel, by faccessat2(2).
  case kernel
  /// The evaluator, for another user.
  case judge(TreeJudge)
  /// The evaluator, for many users whose answers are counted.
  case census(TreeCensus)
  /// No answers: a visitor handles each file instead.
  case visitor(TreeVisitor)

  init(_ question: TreeQuestion, _ system: any System) {
    if let visitor = question.visitor {
      self = .visitor(visitor())
    } else if let first = question.everyone.first {
      let judge = TreeJudge(first, question, system, isOfMany: true)
      self = .census(TreeCensus(question, judge))
    } else if let judged = question.judged {
      self = .judge(TreeJudge(judged, question, system))
    } else {
      self = .kernel
    }
  }

  /// Whether the kernel answers.
  var isKernel: Bool { if case .kernel = self { true } else { false } }

  /// The visitor that handles each file; nil if access is checked.
  var visitor: TreeVisitor? {
    if case .visitor(let visitor) = self { visitor } else { nil }
  }

  /// The counts for many users; nil if nothing is counted.
  var census: TreeCensus? { if case .census(let census) = self { census } else { nil } }
}
