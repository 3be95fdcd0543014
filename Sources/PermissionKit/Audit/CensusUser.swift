/// The counts of an audit for one user.
package struct CensusUser: Sendable {
  /// An answer, with the number of files and folders that it was given for.
  package struct Count: Sendable {
    /// How access is decided.
    package let answer: CensusAnswer
    /// The number of files and folders with this answer.
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

  /// Returns the number of files and folders with this verdict.
  package func number(_ verdict: CensusAnswer.Verdict) -> Int {
    counts.reduce(0) { $0 + ($1.answer.verdict == verdict ? $1.number : 0) }
  }
}
