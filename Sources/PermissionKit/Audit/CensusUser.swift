/// What an audit counts for one user.
package struct CensusUser: Sendable {
  /// How often one answer was given.
  package struct Count: Sendable {
    /// How access is decided.
    package let answer: CensusAnswer
    /// For how many files and folders.
    package let number: Int
  }

  /// The user.
  package let subject: Subject
  /// The answers, the most frequent ones first.
  package let counts: [Count]

  /// Creates the counts of a user.
  package init(_ subject: Subject, _ counts: [CensusAnswer: Int]) {
    self.subject = subject
    self.counts = counts.map { Count(answer: $0.key, number: $0.value) }
      .sorted { left, right in
        (right.number, left.answer.order) < (left.number, right.answer.order)
      }
  }

  /// For how many files and folders the answer is this.
  package func number(_ verdict: CensusAnswer.Verdict) -> Int {
    counts.reduce(0) { $0 + ($1.answer.verdict == verdict ? $1.number : 0) }
  }
}
