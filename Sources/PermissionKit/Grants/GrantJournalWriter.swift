/// Makes and undoes grants while this process holds the lock of the journal.
struct GrantJournalWriter {
  private let file: Descriptor
  private let journal: GrantJournal
  private let system: any System
  private(set) var grants: [Grant]
  /// Whether the last line is incomplete, so that the next record must begin with a newline.
  private var hasIncompleteLine: Bool

  init(_ file: Descriptor, _ journal: GrantJournal, _ system: any System) throws(PermissionError) {
    self.file = file
    self.journal = journal
    self.system = system
    let bytes = try journal.read(file)
    grants = try GrantRecord.grants(in: bytes, journal)
    hasIncompleteLine = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
  }

  /// Appends records, and waits until they are on the disk.
  private mutating func append(_ records: [GrantRecord]) throws(PermissionError) {
    var bytes: [UInt8] = hasIncompleteLine ? [UInt8(ascii: "\n")] : []
    for record in records { bytes += record.line }
    var call = "write"
    do throws(Errno) {
      hasIncompleteLine = true
      try system.writeAll(file, bytes)
      hasIncompleteLine = false
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

  private mutating func set(_ stage: Grant.Stage, _ id: String) {
    for index in grants.indices where grants[index].id == id { grants[index].stage = stage }
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
        uid: plan.subject.credentials.user.fileSystem, lifetime: lifetime, change: step.change,
        stage: .intended)
    }
    let by = (try? system.credentials())?.user.fileSystem
    grants += made
    do throws(PermissionError) {
      try append(
        made.map { grant in
          GrantRecord(
            time: time, event: .intent, id: grant.id, request: request, accessor: grant.accessor,
            uid: grant.uid, by: by, pid: system.getpid(), lifetime: lifetime, change: grant.change)
        })
      for grant in made {
        try grant.change.command.execute(system)
        set(.applied, grant.id)
      }
      try append(made.map { record(.applied, $0.id) } + [record(.committed, request)])
    } catch {
      throw rollBack(made, after: error)
    }
    for grant in made {
      set(.active, grant.id)
      var grant = grant
      grant.stage = .active
      outcome.grants.append(grant)
    }
  }

  /// Undoes the changes of a failed request, even if the journal cannot be written.
  private mutating func rollBack(
    _ made: [Grant], after error: PermissionError
  ) -> PermissionError {
    var error = error
    for grant in made.reversed() {
      do throws(PermissionError) {
        if try grant.change.command.progress(system) == .after {
          _ = try grant.change.command.undo(system)
        }
        set(.undone, grant.id)
      } catch let second {
        // The journal contains the intent, so the next run tries again.
        error.message += "; and \(second.message)"
      }
    }
    let undone = made.filter { grant in grants.contains { $0.id == grant.id && $0.stage == .undone }
    }
    try? append(undone.map { record(.undone, $0.id) })
    return error
  }

  // MARK: - Undoing

  /// Undoes grants, newest first.
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
    try append([together])
    for grant in wanted { set(.undoing, grant.id) }
    var failure: PermissionError?
    for grant in wanted.reversed() {
      do throws(PermissionError) {
        if let note = try undo(grant) { outcome.notes.append(note) }
        outcome.grants.append(grant)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Undoes one grant even if later ones changed the inode.
  private mutating func undo(_ grant: Grant) throws(PermissionError) -> String? {
    // An earlier undo may have rebased this grant.
    let grant = grants.first { $0.id == grant.id } ?? grant
    let (shift, rebased) = shift(without: grant)
    if grant.stage != .undoing {
      try append([record(.undoing, grant.id)])
      set(.undoing, grant.id)
    }
    var note: String?
    var isShifted = false
    if let shift, try shift.progress(system) != .neither {
      if try shift.progress(system) == .before { try shift.execute(system) }
      isShifted = true
    } else {
      note = try grant.change.command.undo(system)
    }
    var undone = record(.undone, grant.id)
    if isShifted { undone.rebased = rebased }
    try append([undone])
    set(.undone, grant.id)
    if isShifted {
      for index in grants.indices {
        if let change = rebased[grants[index].id] { grants[index].change = change }
      }
    }
    return note
  }

  /// Returns the change that removes `grant` and keeps later grants of the same inode.
  ///
  /// - Parameter grant: The grant to remove.
  /// - Returns: The change, and the later grants as they are after it; nil if there are none.
  private func shift(without grant: Grant) -> (InodeGrant?, [String: GrantChange]) {
    guard case .inode(let own) = grant.change,
      let place = grants.firstIndex(where: { $0.id == grant.id })
    else { return (nil, [:]) }
    var rebased: [String: GrantChange] = [:]
    var state = own.before
    var last = own.after
    for other in grants[(place + 1)...] where other.stage != .undone {
      guard case .inode(let later) = other.change, later.path == own.path,
        later.identity == own.identity,
        (later.attribute == .defaultACL) == (own.attribute == .defaultACL)
      else { continue }
      let moved = later.rebased(onto: state)
      rebased[other.id] = .inode(moved)
      state = moved.after
      last = later.after
    }
    guard !rebased.isEmpty else { return (nil, [:]) }
    var shift = own
    shift.attribute = own.attribute == .defaultACL ? .defaultACL : .accessACL
    shift.before = last
    shift.after = state
    return (shift, rebased)
  }

  // MARK: - Recovery

  /// Undoes unfinished grants, expired grants, and grants whose process has ended.
  mutating func recover() throws(PermissionError) -> GrantJournal.Outcome {
    var outcome = GrantJournal.Outcome()
    let time = system.realtime()
    for grant in grants.reversed() {
      switch grant.stage {
      case .undone: continue
      case .intended, .applied, .undoing: recover(grant, &outcome)
      case .active:
        // The undo was not recorded, or somebody else undid the change.
        if (try? grant.change.command.progress(system)) == .before {
          forget(grant, &outcome)
          continue
        }
        let isExpired = grant.lifetime.expires.map { $0 <= time } ?? false
        let processEnded = grant.lifetime.process.map { !isAlive($0) } ?? false
        if isExpired || processEnded { recover(grant, &outcome) }
      }
    }
    return outcome
  }

  /// Returns whether a process still runs; true for every process if /proc is not readable.
  private func isAlive(_ process: ProcessMark) -> Bool {
    system.mark(of: system.getpid()) == nil || system.mark(of: process.pid) == process
  }

  /// Records that there is nothing to undo.
  private mutating func forget(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      try append([record(.undone, grant.id)])
      set(.undone, grant.id)
    } catch {
      outcome.notes.append(error.description)
    }
  }

  private mutating func recover(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      if grant.stage == .intended, try grant.change.command.progress(system) == .before {
        return forget(grant, &outcome)
      }
      if let note = try undo(grant) { outcome.notes.append(note) }
      outcome.recovered.append(grant)
    } catch {
      outcome.notes.append(error.description)
    }
  }
}
