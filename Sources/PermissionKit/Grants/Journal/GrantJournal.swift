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
  /// Removes inherited entries below the folders of released grants; nil to leave that to the next
  /// `revoke`.
  ///
  /// Only a program that uses `sweeping` links the sweep.
  var sweep:
    (
      @Sendable (GrantJournal, [InheritedSweep.Item], inout Outcome) throws(PermissionError) -> Void
    )?
  /// Called repeatedly with the number of files and folders that were searched for inherited entries.
  package var progress: (@Sendable (Int) -> Void)?

  /// The result of an operation on the journal.
  package struct Outcome: Sendable {
    /// The grants that were made or undone.
    package var grants: [Grant] = []
    /// The grants that were undone because they were unfinished or had ended.
    package var recovered: [Grant] = []
    /// The grants that have ended, but whose file is not found, so that it may still give access.
    package var missing: [Grant] = []
    /// Further notes, for people.
    package var notes: [String] = []
    /// The damage of the journal, by which a grant may be left; nil if there is none.
    package internal(set) var damage: PermissionError?
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

  /// The journal, whose operations also remove the entries that were inherited from ended grants.
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

  /// Returns the open grants, oldest first; `ended` are those whose access somebody else removed.
  ///
  /// - Returns: The grants, and what is wrong with the journal; empty if there is none.
  /// - Throws: If the journal cannot be read or is not trusted.
  package func grantsNow() throws(PermissionError) -> (grants: [Grant], damage: PermissionError?) {
    let ledger = try ledger()
    return (ledger.grantsNow(system), ledger.damaged.map { damaged($0) })
  }

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
      writer.undo(
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
      // What is there and could not be ended is not forgotten, except a group, which a printed command ends.
      for grant in writer.ledger.grantsNow(system) where isSelected(grant) {
        let record = writer.ledger[grant.id]
        guard
          grant.stage == .missing || record?.isLeft == true
            || record?.stage == .missing && record?.owningGroup != nil
        else { continue }
        outcome.missing.removeAll { $0.id == grant.id }
        writer.forget([grant], &outcome)
        outcome.grants.append(grant)
      }
    }
  }

  /// Locks and reads the journal, recovers from a crash, and calls a closure.
  private func locked(
    _ purpose: Purpose,
    _ body: (inout GrantJournalWriter, inout Outcome) throws(PermissionError) -> Void
  ) throws(PermissionError) -> Outcome {
    guard let file = try open(purpose) else { return Outcome() }
    var writer = try GrantJournalWriter(file, self, system)
    var outcome = writer.recover()
    var failure: PermissionError?
    do throws(PermissionError) {
      if let line = writer.ledger.damaged {
        let damage = damaged(line)
        // What is known ends, and nothing begins.
        if purpose == .creating { throw damage }
        outcome.damage = damage
        outcome.notes.append(damage.message)
      }
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
        + " so lines are missing, and what that grant gave may still be there",
      advice:
        "end the others by revoke, check the files that the journal names, then move the journal away"
    )
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

// Opens, locks and reads the file of a journal.

extension GrantJournal {
  /// The purpose of opening the journal.
  enum Purpose {
    /// To read it, without a lock.
    case reading
    /// To add lines, if there is a journal; on a read-only file system to undo grants without lines.
    case changing
    /// To add lines; a missing journal is created.
    case creating
  }

  /// The longest wait for the lock of a journal, in microseconds.
  private static let lockLimit: Int64 = 30_000_000

  func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the journal, and waits for its lock unless the purpose is reading.
  ///
  /// - Parameter purpose: Why the journal is opened.
  /// - Returns: The open file; nil if there is no journal and none is created.
  /// - Throws: If the journal cannot be opened or is not trusted.
  func open(_ purpose: Purpose) throws(PermissionError) -> Descriptor? {
    let deadline = system.monotonic() + Self.lockLimit
    while true {
      let file: Descriptor
      do throws(Errno) {
        file = try openFile(purpose)
      } catch .ENOENT where purpose != .creating {
        return nil
      } catch {
        throw failure("the journal of grants \(path) cannot be opened", "open", error)
      }
      do throws(PermissionError) {
        if purpose != .reading { try lock(file, until: deadline) }
        // A process that had the lock may have put a compacted journal in its place.
        if try examine(file) { return file }
      } catch {
        system.close(file)
        throw error
      }
      system.close(file)
    }
  }

  private func openFile(_ purpose: Purpose) throws(Errno) -> Descriptor {
    try system.mustAnswer(path)
    let reading: OpenFlags = [.readOnly, .noFollow, .nonBlocking, .noControllingTerminal]
    let writing: OpenFlags = [.readWrite, .append, .noFollow, .nonBlocking, .noControllingTerminal]
    do throws(Errno) {
      return try system.openat(
        .currentDirectory, path, purpose == .reading ? reading : writing, mode: 0)
    } catch .EROFS where purpose == .changing {
      return try system.openat(.currentDirectory, path, reading, mode: 0)
    } catch .ENOENT where purpose == .creating {
      try system.makeFolder(path.parent)
      let file = try system.openat(.currentDirectory, path, writing.union(.create), mode: 0o600)
      try syncFolder()
      return file
    }
  }

  /// Waits until the names in the folder of the journal are on the disk.
  private func syncFolder() throws(Errno) {
    let folder = try system.openat(
      .currentDirectory, path.parent, [.readOnly, .directory], mode: 0)
    defer { system.close(folder) }
    try system.fsync(folder)
  }

  // MARK: - The lock

  private func lock(_ file: Descriptor, until deadline: Int64) throws(PermissionError) {
    do throws(Errno) {
      try system.flock(file, until: deadline)
    } catch .EAGAIN {
      let holder = system.lockHolder(of: file).map { pid in
        let name = system.status(ofProcess: pid)?.name
        return "process \(pid)\(name.map { " (\($0))" } ?? "")"
      }
      throw failure(
        "\(holder ?? "another process") has locked the journal of grants \(path) for"
          + " \(Self.lockLimit / 1_000_000) seconds, so nothing was changed", "flock", .EAGAIN,
        advice: "wait until that process ends, or end it")
    } catch {
      throw failure("the journal of grants \(path) cannot be used", "flock", error)
    }
  }

  // MARK: - Trust

  /// Checks that nobody else can write to the file or replace it.
  ///
  /// - Returns: False if another file is in its place now.
  /// - Throws: If the file is not trusted.
  private func examine(_ file: Descriptor) throws(PermissionError) -> Bool {
    let problem: String?
    do throws(Errno) {
      let status = try system.statx(file)
      let folder = try system.status(of: path.parent)
      let own = try system.credentials().user.fileSystem
      if status.kind == .regular, status.links == 0 { return false }
      problem =
        [
          ("is not a regular file", status.kind != .regular),
          ("belongs to another user", status.uid != own),
          ("is writable by others", status.mode & 0o022 != 0),
          ("has another hard link", status.links != 1),
          (
            "is in a folder that is writable by others",
            folder.uid != own && folder.uid != 0 || folder.mode & 0o022 != 0
          ),
        ].first { $0.1 }?.0
    } catch {
      throw failure("the journal of grants \(path) cannot be used", "statx", error)
    }
    if let problem {
      throw failure(
        "the journal of grants \(path) \(problem), so it is not trusted and nothing was changed",
        advice: "check the file, then make yourself the only owner and writer of it and its folder")
    }
    return true
  }

  // MARK: - Contents

  /// Reads the journal in one pass.
  ///
  /// - Parameter file: The open journal.
  /// - Returns: The open grants, the size of the file, and whether its last line is incomplete.
  /// - Throws: If the file cannot be read, or is damaged.
  func ledger(
    of file: Descriptor
  ) throws(PermissionError) -> (ledger: GrantLedger, size: Int, isTorn: Bool) {
    var ledger = GrantLedger()
    var rest: [UInt8] = []
    var size = 0
    while true {
      let part: [UInt8]
      do throws(Errno) {
        part = try system.read(file, 1 << 18)
      } catch {
        throw failure("the journal of grants \(path) cannot be read", "read", error)
      }
      if part.isEmpty { break }
      size += part.count
      rest += part
      guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
      try ledger.read(rest[...end], self)
      rest = Array(rest[(end + 1)...])
    }
    try ledger.read(rest[...], self)
    ledger.adopt()
    return (ledger, size, !rest.isEmpty)
  }

  /// Replaces the journal by one with only the open grants.
  ///
  /// - Parameter ledger: The open grants.
  /// - Returns: The new file, which is locked, and its size.
  /// - Throws: If the new file cannot be written; the old one is then unchanged.
  func compact(_ ledger: GrantLedger) throws(Errno) -> (file: Descriptor, size: Int) {
    let new = PathBytes(path.bytes + Array(".new".utf8))
    // A process that was killed may have left the file.
    try? system.unlink(new)
    let file = try system.openat(
      .currentDirectory, new, [.readWrite, .append, .create, .exclusive, .noFollow], mode: 0o600)
    var size = 0
    do throws(Errno) {
      try system.flock(file)
      let bytes = ledger.lines(at: Timestamp.rfc3339(system.realtime()))
      size = bytes.count
      try system.writeAll(file, bytes)
      try system.fsync(file)
      try system.rename(new, path)
    } catch {
      system.close(file)
      try? system.unlink(new)
      throw error
    }
    try? syncFolder()
    return (file, size)
  }
}
