/// Records changes, makes them, and undoes them now or later.
///
/// The journal writes one line before each change and one line after it, and waits until the line is
/// on the disk. If the process is killed, the next process finds unfinished changes and undoes them.
package struct GrantJournal: Sendable {
  /// The file of JSON lines.
  package let path: PathBytes
  private let system: any System

  /// The result of an operation on the journal.
  package struct Outcome: Hashable, Sendable {
    /// The grants that were made or undone.
    package var grants: [Grant] = []
    /// The grants that were undone because they were unfinished or had ended.
    package var recovered: [Grant] = []
    /// Further notes, for people.
    package var notes: [String] = []
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

  /// Returns the journal of the calling user; root has its own.
  ///
  /// - Parameter system: The system that the grants change.
  /// - Returns: The journal in /var/lib/permcheck for root, or below XDG_STATE_HOME or the home.
  /// - Throws: If the user has no home directory.
  package static func standard(_ system: any System) throws(PermissionError) -> GrantJournal {
    let subject = try UserDatabase(system).currentSubject()
    if subject.credentials.user.effective == 0 {
      return GrantJournal("/var/lib/permcheck/grants.jsonl", system: system)
    }
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

  // MARK: - Operations

  /// Returns the grants that are not undone, oldest first; empty if there is no journal.
  ///
  /// - Returns: The grants, even those that have ended but are not undone yet.
  /// - Throws: If the journal cannot be read or is not trusted.
  package func grants() throws(PermissionError) -> [Grant] {
    guard let file = try open(forWriting: false) else { return [] }
    defer { system.close(file) }
    return try GrantRecord.grants(in: try read(file), self).filter { $0.stage != .undone }
  }

  /// Makes all changes of a plan, or none.
  ///
  /// - Parameters:
  ///   - lifetime: When the grants end.
  ///   - makePlan: Creates the plan while the journal is locked; nil if there is nothing to change.
  /// - Returns: The new grants, and the older grants that were undone first.
  /// - Throws: If one change cannot be made; then none remains.
  package func carryOut(
    lifetime: Grant.Lifetime = .init(),
    _ makePlan: () throws(PermissionError) -> GrantPlan?
  ) throws(PermissionError) -> Outcome {
    guard let file = try open(forWriting: true) else { return Outcome() }
    defer { system.close(file) }
    var writer = try GrantJournalWriter(file, self, system)
    var outcome = try writer.recover()
    guard let plan = try makePlan() else { return outcome }
    try writer.make(plan, lifetime, &outcome)
    return outcome
  }

  /// Undoes unfinished grants, expired grants, and grants whose process has ended.
  ///
  /// - Returns: The grants that were undone.
  /// - Throws: If the journal cannot be read or written.
  package func recover() throws(PermissionError) -> Outcome { try undo { _ in false } }

  /// Undoes the grants that a closure selects, newest first.
  ///
  /// - Parameter isSelected: Returns whether to undo a grant.
  /// - Returns: The grants that were undone.
  /// - Throws: If one grant cannot be undone; the others are undone nevertheless.
  package func undo(_ isSelected: (Grant) -> Bool) throws(PermissionError) -> Outcome {
    guard let file = try open(forWriting: true, creates: false) else { return Outcome() }
    defer { system.close(file) }
    var writer = try GrantJournalWriter(file, self, system)
    var outcome = try writer.recover()
    try writer.undo(writer.grants.filter { $0.stage != .undone && isSelected($0) }, &outcome)
    return outcome
  }

  // MARK: - The file

  private func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the journal and, for writing, waits for the lock.
  ///
  /// - Parameters:
  ///   - forWriting: Whether to lock the journal and open it for writing.
  ///   - creates: Whether to create a missing journal.
  /// - Returns: The open file; nil if there is no journal and none is created.
  /// - Throws: If the journal cannot be opened or is not trusted.
  private func open(
    forWriting: Bool, creates: Bool = true
  ) throws(PermissionError) -> Descriptor? {
    let file: Descriptor
    do throws(Errno) {
      file = try openFile(forWriting: forWriting, creates: forWriting && creates)
    } catch .ENOENT where !(forWriting && creates) {
      return nil
    } catch {
      throw failure("the journal of grants \(path) cannot be opened", "open", error)
    }
    do throws(PermissionError) {
      try examine(file, locks: forWriting)
      return file
    } catch {
      system.close(file)
      throw error
    }
  }

  private func openFile(forWriting: Bool, creates: Bool) throws(Errno) -> Descriptor {
    var flags: OpenFlags =
      forWriting ? [.readWrite, .append, .noFollow] : [.readOnly, .noFollow]
    flags.formUnion([.nonBlocking, .noControllingTerminal])
    do throws(Errno) {
      return try system.openat(.currentDirectory, path, flags, mode: 0)
    } catch .ENOENT where creates {
      try system.makeFolder(path.parent)
      let file = try system.openat(
        .currentDirectory, path, flags.union(.create), mode: 0o600)
      let folder = try system.openat(
        .currentDirectory, path.parent, [.readOnly, .directory], mode: 0)
      defer { system.close(folder) }
      try system.fsync(folder)
      return file
    }
  }

  /// Locks the file, and checks that nobody else can write to it or replace it.
  private func examine(_ file: Descriptor, locks: Bool) throws(PermissionError) {
    var call = "flock"
    let problem: String?
    do throws(Errno) {
      if locks { try system.flock(file) }
      call = "statx"
      let status = try system.statx(file)
      let folder = try system.status(of: path.parent)
      let own = try system.credentials().user.fileSystem
      if status.kind != .regular {
        problem = "is not a regular file"
      } else if status.uid != own {
        problem = "belongs to another user"
      } else if status.mode & 0o022 != 0 {
        problem = "is writable by others"
      } else if status.links != 1 {
        problem = "was removed, or has another hard link"
      } else if folder.uid != own && folder.uid != 0 || folder.mode & 0o022 != 0 {
        problem = "is in a folder that is writable by others"
      } else {
        problem = nil
      }
    } catch {
      throw failure("the journal of grants \(path) cannot be used", call, error)
    }
    if let problem {
      throw failure(
        "the journal of grants \(path) \(problem), so it is not trusted and nothing was changed",
        advice: "check the file, then make yourself the only owner and writer of it and its folder")
    }
  }

  /// Returns the contents of the journal.
  func read(_ file: Descriptor) throws(PermissionError) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(Errno) {
      while true {
        let part = try system.read(file, 1 << 16)
        if part.isEmpty { return bytes }
        bytes += part
        if bytes.count > 1 << 28 { throw .EFBIG }
      }
    } catch {
      throw failure("the journal of grants \(path) cannot be read", "read", error)
    }
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
