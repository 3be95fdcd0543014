/// Writes changes down before they are made, makes them, and takes them back, now or later.
///
/// Every change is a line before it is made and a line after, each on the disk before the next step.
/// Whatever kills the process, the next one finds what was half done and takes it back.
package struct GrantJournal: Sendable {
  /// The file of JSON lines.
  package let path: PathBytes
  private let system: any System

  /// What came of something: what was done, and what was left alone, for people.
  package struct Outcome: Hashable, Sendable {
    /// The grants that were made or taken back.
    package var grants: [Grant] = []
    /// Grants that another process left half done, or that were over, and were taken back.
    package var recovered: [Grant] = []
    /// What else is to be known.
    package var notes: [String] = []
  }

  /// Takes a file; nothing is opened yet.
  package init(_ path: PathBytes, system: any System = Systems.running) {
    self.path = path
    self.system = system
  }

  /// The journal of this process: root's own, or the user's.
  ///
  /// - Throws: Where there is no home to keep it in.
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

  // MARK: - What is done

  /// The grants that are not taken back, oldest first; none where there is no journal.
  package func grants() throws(PermissionError) -> [Grant] {
    guard let file = try open(forWriting: false) else { return [] }
    defer { system.close(file) }
    return try GrantRecord.grants(in: try read(file), self).filter { $0.stage != .undone }
  }

  /// Makes a plan's changes, all or none.
  ///
  /// - Parameters:
  ///   - lifetime: How long they are wanted.
  ///   - makePlan: Works the plan out, when nobody else can change anything by this journal; nil
  ///     when nothing is to be done.
  /// - Returns: The grants made, and what was taken back on the way.
  /// - Throws: Where one could not be made; then none is.
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

  /// Takes back what another process left half done, what ended with a process that is gone, and what
  /// is over.
  package func recover() throws(PermissionError) -> Outcome { try undo { _ in false } }

  /// Takes back the grants that `isWanted` names, the newest first.
  ///
  /// - Throws: Where one could not be taken back; the others are.
  package func undo(_ isWanted: (Grant) -> Bool) throws(PermissionError) -> Outcome {
    guard let file = try open(forWriting: true, creates: false) else { return Outcome() }
    defer { system.close(file) }
    var writer = try GrantJournalWriter(file, self, system)
    var outcome = try writer.recover()
    try writer.undo(writer.grants.filter { $0.stage != .undone && isWanted($0) }, &outcome)
    return outcome
  }

  // MARK: - The file

  private func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the journal and, for writing, waits until no other process has it.
  ///
  /// - Returns: Nil when there is none and none is to be created.
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

  /// Waits for the file, and makes sure that nobody else can write to it or put another in its place.
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

  func damaged(_ line: Int) -> PermissionError {
    failure(
      "line \(line) of the journal of grants \(path) names a grant that the journal does not contain,"
        + " so lines are missing and the journal is not trusted; nothing was changed",
      advice: "check the journal and the files that it names, then move the journal away")
  }

  func unreadable(_ line: Int) -> PermissionError {
    failure(
      "line \(line) of the journal of grants \(path) was written by a newer permcheck",
      advice: "use the newer permcheck")
  }

  func unwritable(_ call: String, _ errno: Errno) -> PermissionError {
    failure("the journal of grants \(path) cannot be written", call, errno)
  }
}
