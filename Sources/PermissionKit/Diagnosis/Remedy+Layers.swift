extension Remedy {
  /// Creates a remedy other than mode or ACL; its outcome cannot be simulated.
  init(
    _ kind: Kind, _ command: [PathBytes], needsRoot: Bool = false,
    _ persistence: Persistence = .permanent, others: [String] = [], line: String? = nil,
    note: String? = nil
  ) {
    self.init(
      kind: kind, command: command, needsRoot: needsRoot, persistence: persistence,
      othersAffected: others, outcome: .undetermined)
    self.line = line
    self.note = note
  }
}
