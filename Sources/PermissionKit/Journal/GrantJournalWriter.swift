/// Makes and undoes grants while this process holds the lock of the journal.
struct GrantJournalWriter {
  private var file: Descriptor
  private let journal: GrantJournal
  private let system: any System
  private(set) var ledger: GrantLedger
  private var size: Int
  /// Whether the last line is incomplete, so that the next record must begin with a newline.
  private var hasIncompleteLine: Bool
  /// The users whose grants changed, see `GrantMirror`.
  private var users: Set<UInt32> = []

  /// The size from which a journal is compacted if most of its lines are not needed.
  private static let compactionSize = 1 << 16
  /// The space that is reserved for the end of each open grant, in bytes.
  private static let reserve = 512

  /// Takes over a locked file, and reads it; closes the file if it throws.
  init(_ file: Descriptor, _ journal: GrantJournal, _ system: any System) throws(PermissionError) {
    self.file = file
    self.journal = journal
    self.system = system
    do throws(PermissionError) {
      (ledger, size, hasIncompleteLine) = try journal.ledger(of: file)
    } catch {
      system.close(file)
      throw error
    }
    // A compacted journal has one line for each open grant.
    guard size > Self.compactionSize, ledger.lines > 2 * ledger.count + 200 else { return }
    // Without space for the new file, the old one still serves.
    guard let (compacted, size) = try? journal.compact(ledger) else { return }
    system.close(file)
    (self.file, self.size, hasIncompleteLine) = (compacted, size, false)
  }

  /// Tells users of their grants, and releases the lock.
  mutating func close() {
    GrantMirror(journal).update(ledger.grants(of: users), of: users)
    system.close(file)
  }

  /// Returns the open grants of a user, or of everybody, oldest first.
  func grants(of uid: UInt32?) -> [Grant] { uid.map { ledger.grants(of: [$0]) } ?? ledger.grants }

  /// Appends records, and waits until they are on the disk.
  private mutating func append(_ records: [GrantRecord]) throws(PermissionError) {
    var bytes: [UInt8] = hasIncompleteLine ? [UInt8(ascii: "\n")] : []
    for record in records { bytes += record.line }
    var call = "write"
    do throws(Errno) {
      hasIncompleteLine = true
      try system.writeAll(file, bytes)
      hasIncompleteLine = false
      size += bytes.count
      call = "fsync"
      try system.fsync(file)
    } catch {
      throw journal.unwritable(call, error)
    }
  }

  private var now: String { Timestamp.rfc3339(system.realtime()) }

  private func record(_ event: GrantRecord.Event, _ id: String) -> GrantRecord {
    GrantRecord(time: now, event: event, id: id)
  }

  /// Removes a grant from the open ones.
  private mutating func end(_ id: String) {
    if let entry = ledger[id] { users.insert(entry.uid) }
    ledger.remove(id)
  }

  // MARK: - Making

  /// Makes all changes of a plan, or none.
  ///
  /// - Parameters:
  ///   - plan: The changes.
  ///   - lifetime: When the grants end.
  ///   - outcome: Receives the new grants.
  /// - Throws: If one change cannot be made; then none remains.
  mutating func make(
    _ plan: GrantPlan, _ lifetime: Grant.Lifetime, _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    let time = now
    let request = "\(time)-\(system.getpid())"
    let made = plan.steps.enumerated().map { number, step in
      Grant(
        id: "\(request)-\(number + 1)", request: request, time: time, accessor: plan.accessor,
        path: plan.path, uid: plan.subject.credentials.user.fileSystem, lifetime: lifetime,
        change: step.change,
        stage: .intended)
    }
    let by = (try? system.credentials())?.user.fileSystem
    try reserve(made.count)
    for grant in made { ledger.add(grant) }
    do throws(PermissionError) {
      try append(made.map { GrantRecord($0, by: by, pid: system.getpid()) })
      for grant in made {
        try grant.change.command.execute(system)
        ledger.set(.applied, of: grant.id)
        if case .inode(let change) = grant.change {
          ledger.setChanged(change.lastChange(system), grant.id)
        }
      }
      do throws(PermissionError) {
        try append(made.map { applied($0.id) } + [record(.committed, request)])
      } catch {
        // The lines are written. If they are lost with the power, the next run undoes the changes.
        guard !hasIncompleteLine else { throw error }
        outcome.notes.append(error.description)
      }
    } catch {
      throw rollBack(made, after: error)
    }
    for var grant in made {
      ledger.set(.active, of: grant.id)
      users.insert(grant.uid)
      grant.stage = .active
      outcome.grants.append(grant)
    }
  }

  private func applied(_ id: String) -> GrantRecord {
    var applied = record(.applied, id)
    if case .inode(let change) = ledger[id]?.grant?.change { applied.changed = change.changed }
    return applied
  }

  /// Reserves space on the disk for the end of every grant, so that a full disk keeps none.
  private func reserve(_ count: Int) throws(PermissionError) {
    let space = size + (ledger.count + count) * Self.reserve + count << 13
    do throws(Errno) {
      try system.fallocate(file, space)
    } catch .EOPNOTSUPP {
    } catch .ENOSYS {
    } catch {
      throw journal.unwritable("fallocate", error)
    }
  }

  /// Undoes the changes of a failed request, even if the journal cannot be written.
  private mutating func rollBack(
    _ made: [Grant], after error: PermissionError
  ) -> PermissionError {
    var error = error
    var undone: [String] = []
    for grant in made.reversed() {
      do throws(PermissionError) {
        if try grant.change.command.progress(system) == .after {
          _ = try grant.change.command.undo(system)
        }
        end(grant.id)
        undone.append(grant.id)
      } catch let second {
        // The journal contains the intent, so the next run tries again.
        error.message += "; and \(second.message)"
      }
    }
    try? append(undone.map { record(.undone, $0) })
    return error
  }

  // MARK: - Undoing

  /// Undoes grants, newest first.
  ///
  /// Undoes them even if the journal cannot be written: then the outcome has a note.
  ///
  /// - Parameters:
  ///   - wanted: The grants, oldest first.
  ///   - outcome: Receives the grants that were undone, and notes.
  /// - Throws: The first error; the other grants are undone nevertheless.
  mutating func undo(
    _ wanted: [Grant], _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    guard let newest = wanted.last else { return }
    // If this process is killed, the next one undoes all of these grants.
    var together = record(.undoing, newest.id)
    together.ids = wanted.map(\.id)
    // Without this line the next one undoes what is left when it is asked to.
    try? append([together])
    for grant in wanted { ledger.set(.undoing, of: grant.id) }
    var failure: PermissionError?
    for grant in wanted.reversed() {
      do throws(PermissionError) {
        if try undo(grant, &outcome) { outcome.grants.append(grant) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Undoes one grant even if later ones changed the inode.
  ///
  /// - Returns: False if the file is not found.
  private mutating func undo(
    _ grant: Grant, _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) -> Bool {
    let isAgain = grant.stage == .undoing
    // An earlier undo may have rebased this grant.
    let grant = ledger[grant.id]?.grant ?? grant
    var undone = record(.undone, grant.id)
    if case .inode(let own) = grant.change {
      let sharing = ledger.sharing(own)
      guard let place = sharing.firstIndex(where: { $0.id == grant.id }) else { return true }
      let release = try own.release(
        system, among: sharing.map(\.grant), at: place, isAgain: isAgain)
      switch release {
      case .missing(let reason):
        miss(grant, reason, &outcome)
        return false
      case .released(let note, let rebased):
        if let note { outcome.notes.append(note) }
        for (index, other) in rebased where other != sharing[index].grant {
          undone.rebased = undone.rebased ?? [:]
          undone.rebased?[sharing[index].id] = .inode(other)
        }
      }
    } else if let note = try grant.change.command.undo(system) {
      outcome.notes.append(note)
    }
    end(grant.id)
    for (id, change) in undone.rebased ?? [:] { ledger.set(change, of: id) }
    write(undone, &outcome)
    return true
  }

  /// Writes a record about a change that is already made.
  private mutating func write(_ record: GrantRecord, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      try append([record])
    } catch {
      let note =
        "\(error.message) (\(error.errno?.description ?? "")), so the end of a grant is not recorded; the next run finds that it has ended"
      if !outcome.notes.contains(note) { outcome.notes.append(note) }
    }
  }

  /// Records that the file of a grant is not found.
  private mutating func miss(
    _ grant: Grant, _ reason: String, _ outcome: inout GrantJournal.Outcome
  ) {
    outcome.missing.append(grant)
    outcome.notes.append("\(reason), so the access of uid \(grant.uid) may still be there")
    guard ledger[grant.id]?.stage != .missing || grant.stage != .missing else { return }
    ledger.set(.missing, of: grant.id)
    users.insert(grant.uid)
    var missing = record(.missing, grant.id)
    missing.note = reason
    write(missing, &outcome)
  }

  // MARK: - Recovery

  /// Undoes unfinished and missing grants, expired grants, and grants whose process has ended.
  mutating func recover() -> GrantJournal.Outcome {
    var outcome = GrantJournal.Outcome()
    let time = system.realtime()
    // Many grants share a lifetime, and to look for a process takes system calls.
    var ended: [Grant.Lifetime: Bool] = [:]
    for entry in ledger.entries.reversed() {
      switch entry.stage {
      case .undone: continue
      case .intended, .applied, .undoing, .missing: break
      case .active:
        let hasEnded = ended[entry.lifetime] ?? entry.lifetime.hasEnded(at: time, system)
        ended[entry.lifetime] = hasEnded
        guard hasEnded else { continue }
      }
      if let grant = ledger[entry.id]?.grant, journal.recovers(grant) { recover(grant, &outcome) }
    }
    return outcome
  }

  /// Records that a grant has ended, without a change.
  mutating func forget(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    end(grant.id)
    write(record(.undone, grant.id), &outcome)
  }

  private mutating func recover(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      if grant.stage == .intended, try grant.change.command.progress(system) == .before {
        return forget(grant, &outcome)
      }
      if try undo(grant, &outcome) { outcome.recovered.append(grant) }
    } catch {
      outcome.notes.append(error.description)
    }
  }
}
