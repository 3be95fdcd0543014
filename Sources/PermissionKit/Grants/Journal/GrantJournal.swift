/// Records changes, makes them, and undoes them now or later.
///
/// The journal writes one line before each change and one line after it, and waits until the line is
/// on the disk. If the process is killed, the next process finds unfinished changes and undoes them.
package struct GrantJournal: Sendable {
  /// The file of JSON lines.
  package let path: PathBytes
  let system: any System
  /// Returns whether unfinished and ended grants are undone at the beginning of an operation.
  package var recovers: @Sendable (Grant) -> Bool = { _ in true }
  /// Takes back what was inherited in folders that are released; nil to leave that to the next `revoke`.
  ///
  /// A program that never asks for it does not contain it.
  var sweep:
    (
      @Sendable (GrantJournal, [InheritedSweep.Item], inout Outcome) throws(PermissionError) -> Void
    )?
  /// Is told now and then how many files and folders were looked through for what they inherited.
  package var progress: (@Sendable (Int) -> Void)?

  /// The result of an operation on the journal.
  package struct Outcome: Sendable {
    /// The grants that were made or undone.
    package var grants: [Grant] = []
    /// The grants that were undone because they were unfinished or had ended.
    package var recovered: [Grant] = []
    /// The grants that have ended, but whose file is not found, so that they may still give access.
    package var missing: [Grant] = []
    /// Further notes, for people.
    package var notes: [String] = []
    /// The grants that are open now.
    package internal(set) var open = GrantLedger()

    /// Creates the result of an operation that did nothing.
    package init() {}
  }

  /// Creates a journal in a file, without opening the file.
  ///
  /// - Parameters:
  ///   - path: The file of JSON lines; it is created when the first grant is made.
  ///   - system: The system that the grants change.
  package init(_ path: PathBytes, system: any System = Systems.running) {
    self.path = path
    self.system = system
  }

  /// Returns the journal of root.
  package static func root(_ system: any System) -> GrantJournal {
    GrantJournal("/var/lib/permcheck/grants.jsonl", system: system)
  }

  /// Returns the journal of the calling user; root has its own.
  ///
  /// - Parameter system: The system that the grants change.
  /// - Returns: The journal in /var/lib/permcheck for root, or below XDG_STATE_HOME or the home.
  /// - Throws: If the user has no home directory.
  package static func standard(_ system: any System) throws(PermissionError) -> GrantJournal {
    if system.isRoot { return root(system) }
    let subject = try UserDatabase(system).subject(.current)
    if let state = system.getenv("XDG_STATE_HOME"), state.isAbsolute {
      return GrantJournal(state.appending("permcheck/grants.jsonl"), system: system)
    }
    guard let home = subject.home, home.isAbsolute, home != "/" else {
      throw PermissionError(
        .changeFailed, "there is no home directory for the journal of grants",
        advice: "set XDG_STATE_HOME")
    }
    return GrantJournal(home.appending(".local/state/permcheck/grants.jsonl"), system: system)
  }

  /// The journal, whose operations also take back what was inherited from grants that have ended.
  package var sweeping: GrantJournal {
    var journal = self
    journal.sweep = { (journal, items, outcome) throws(PermissionError) in
      try InheritedSweep(journal, items).run(&outcome)
    }
    return journal
  }

  // MARK: - Operations

  /// Returns the grants that are not undone, oldest first; empty if there is no journal.
  ///
  /// - Parameter uid: The user whose grants to return; nil for everybody's.
  /// - Returns: The grants, even those that have ended but are not undone yet.
  /// - Throws: If the journal cannot be read or is not trusted.
  package func grants(of uid: UInt32? = nil) throws(PermissionError) -> [Grant] {
    try ledger().grants(of: uid)
  }

  /// Returns the open grants, oldest first; those from which somebody else took everything are `ended`.
  ///
  /// - Returns: The grants; empty if there is no journal.
  /// - Throws: If the journal cannot be read or is not trusted.
  package func grantsNow() throws(PermissionError) -> [Grant] { try ledger().grantsNow(system) }

  /// Returns all open grants; empty if there is no journal.
  ///
  /// - Returns: The grants, and what is remembered of their inodes.
  /// - Throws: If the journal cannot be read or is not trusted.
  func ledger() throws(PermissionError) -> GrantLedger {
    guard let file = try open(.reading) else { return GrantLedger() }
    defer { system.close(file) }
    return try ledger(of: file).ledger
  }

  /// Makes all changes of a plan, or none.
  ///
  /// - Parameter plan: Returns the grants to make, in their order, given the open grants of the locked
  ///   journal; empty if there is nothing to change.
  /// - Returns: The new grants, and the older grants that were undone first.
  /// - Throws: If one change cannot be made; then none remains.
  package func carryOut(
    _ plan: (GrantLedger) throws(PermissionError) -> [Grant]
  ) throws(PermissionError) -> Outcome {
    try locked(.creating) { (writer, outcome) throws(PermissionError) in
      try writer.make(plan(writer.ledger), &outcome)
    }
  }

  /// Undoes unfinished grants, expired grants, and grants whose process has ended.
  ///
  /// - Returns: The grants that were undone.
  /// - Throws: If the journal cannot be read.
  package func recover() throws(PermissionError) -> Outcome { try undo(of: .max) { _ in false } }

  /// Undoes the grants that a closure selects, newest first.
  ///
  /// - Parameters:
  ///   - uid: The user whose grants to undo; nil for everybody's.
  ///   - isSelected: Returns whether to undo a grant.
  /// - Returns: The grants that were undone, and those whose file is not found.
  /// - Throws: If one grant cannot be undone; the others are undone nevertheless.
  package func undo(
    of uid: UInt32? = nil, _ isSelected: (Grant) -> Bool
  ) throws(PermissionError) -> Outcome {
    try locked(.changing) { (writer, outcome) throws(PermissionError) in
      try writer.undo(
        writer.ledger.grants(of: uid).filter { $0.stage != .missing && isSelected($0) }, &outcome)
    }
  }

  /// Forgets the missing grants that a closure selects, without a change of their files.
  ///
  /// - Parameter isSelected: Returns whether to forget a grant.
  /// - Returns: The grants that were forgotten, as `grants`.
  /// - Throws: If the journal cannot be read.
  package func forget(_ isSelected: (Grant) -> Bool) throws(PermissionError) -> Outcome {
    try locked(.changing) { writer, outcome in
      for grant in writer.ledger.grants(of: nil) where isSelected(grant) {
        guard grant.stage == .missing || writer.ledger[grant.id]?.isLeft == true else { continue }
        outcome.missing.removeAll { $0.id == grant.id }
        writer.forget([grant], &outcome)
        outcome.grants.append(grant)
      }
    }
  }

  /// Locks and reads the journal, recovers, and does what a closure does.
  private func locked(
    _ purpose: Purpose,
    _ body: (inout GrantJournalWriter, inout Outcome) throws(PermissionError) -> Void
  ) throws(PermissionError) -> Outcome {
    guard let file = try open(purpose) else { return Outcome() }
    var writer = try GrantJournalWriter(file, self, system)
    var outcome = writer.recover()
    var failure: PermissionError?
    do throws(PermissionError) {
      try body(&writer, &outcome)
    } catch {
      failure = error
    }
    outcome.open = writer.ledger
    writer.close()
    if !writer.left.isEmpty { try sweep?(self, writer.left, &outcome) }
    if let failure { throw failure }
    return outcome
  }

  /// Returns the error for a line that names an unknown grant.
  func damaged(_ line: Int) -> PermissionError {
    failure(
      "line \(line) of the journal of grants \(path) names a grant that the journal does not contain,"
        + " so lines are missing and the journal is not trusted; nothing was changed",
      advice: "check the journal and the files that it names, then move the journal away")
  }

  /// Returns the error for a line of another version.
  func unreadable(_ line: Int) -> PermissionError {
    failure(
      "line \(line) of the journal of grants \(path) was written by a newer permcheck",
      advice: "use the newer permcheck")
  }

  /// Returns the error for a failed write.
  func unwritable(_ call: String, _ errno: Errno) -> PermissionError {
    failure("the journal of grants \(path) cannot be written", call, errno)
  }
}
