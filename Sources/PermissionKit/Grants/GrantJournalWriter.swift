/// The journal while this process alone has it.
struct GrantJournalWriter {
  private let file: Descriptor
  private let journal: GrantJournal
  private let system: any System
  private(set) var grants: [Grant]
  /// The last line is torn, so the next one begins with a newline.
  private var isTorn: Bool

  init(_ file: Descriptor, _ journal: GrantJournal, _ system: any System) throws(PermissionError) {
    self.file = file
    self.journal = journal
    self.system = system
    let bytes = try journal.read(file)
    grants = try GrantRecord.grants(in: bytes, journal)
    isTorn = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
  }

  /// Writes lines, and waits until they are on the disk.
  private mutating func append(_ records: [GrantRecord]) throws(PermissionError) {
    var bytes: [UInt8] = isTorn ? [UInt8(ascii: "\n")] : []
    for record in records { bytes += record.line }
    var call = "write"
    do throws(Errno) {
      isTorn = true
      try system.writeAll(file, bytes)
      isTorn = false
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
      throw takeBack(made, after: error)
    }
    for grant in made {
      set(.active, grant.id)
      var grant = grant
      grant.stage = .active
      outcome.grants.append(grant)
    }
  }

  /// All or none: takes back what was made, whether or not that can be written down.
  private mutating func takeBack(
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
        // The journal has the intent: the next run tries again.
        error.message += "; and \(second.message)"
      }
    }
    let undone = made.filter { grant in grants.contains { $0.id == grant.id && $0.stage == .undone }
    }
    try? append(undone.map { record(.undone, $0.id) })
    return error
  }

  // MARK: - Taking back

  mutating func undo(
    _ wanted: [Grant], _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    guard let newest = wanted.last else { return }
    // Whoever finds this half done takes all of it back.
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

  /// Takes back one, though others may have come to stand upon it.
  private mutating func undo(_ grant: Grant) throws(PermissionError) -> String? {
    // What was taken back before it may have moved it.
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

  /// The change that leaves the later grants of the same inode as if `grant` had not been, and what
  /// they then are; nil when there are none.
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

  // MARK: - What was half done

  /// Takes back what another process left half done, and what is no longer wanted.
  mutating func recover() throws(PermissionError) -> GrantJournal.Outcome {
    var outcome = GrantJournal.Outcome()
    let time = system.realtime()
    for grant in grants.reversed() {
      switch grant.stage {
      case .undone: continue
      case .intended, .applied, .undoing: recover(grant, &outcome)
      case .active:
        // It was taken back, and that could not be written down; or somebody else undid it.
        if (try? grant.change.command.progress(system)) == .before {
          forget(grant, &outcome)
          continue
        }
        let isOver = grant.lifetime.expires.map { $0 <= time } ?? false
        let isAlone = grant.lifetime.process.map { !isAlive($0) } ?? false
        if isOver || isAlone { recover(grant, &outcome) }
      }
    }
    return outcome
  }

  /// Where /proc shows not even this process, every other counts as alive.
  private func isAlive(_ process: ProcessMark) -> Bool {
    system.mark(of: system.getpid()) == nil || system.mark(of: process.pid) == process
  }

  /// Writes down that there is nothing to take back.
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
