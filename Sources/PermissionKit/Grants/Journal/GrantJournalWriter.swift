/// Makes and undoes grants while this process holds the lock of the journal.
struct GrantJournalWriter {
  private var file: Descriptor
  let journal: GrantJournal
  let system: any System
  private(set) var ledger: GrantLedger
  private var size: Int
  /// Whether the last line is incomplete, so that the next record must begin with a newline.
  private var hasIncompleteLine: Bool
  /// The users whose grants changed, see `GrantMirror`.
  private var users: Set<UInt32> = []
  /// The grants that were released on their folders, and whose entries files may have inherited.
  private(set) var left: [InheritedSweep.Item] = []

  /// The size from which a journal is compacted if most of its lines are not needed.
  private static let compactionSize = 1 << 16
  /// The grants whose access is gone, and whose ends are not recorded yet.
  private var over: Set<String> = []

  /// The space that is reserved for the end of each open grant, in bytes.
  private static let reserve = 512
  /// The most inodes that are open at once.
  private static let width = 64

  /// Takes ownership of a locked file, and reads it; closes the file if it throws.
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
    users = GrantMirror(journal).unfinished()
    // A compacted journal has one line for each open grant, and one for its ACL; a request writes a third.
    let isLong = size > Self.compactionSize && ledger.lines > 4 * ledger.count + 200
    guard isLong, ledger.damaged == nil else { return }
    // Without space for the new file, the old one still serves.
    guard let (compacted, size) = try? journal.compact(ledger) else { return }
    system.close(file)
    (self.file, self.size, hasIncompleteLine) = (compacted, size, false)
  }

  /// Tells users of their grants, and releases the lock.
  mutating func close() {
    GrantMirror(journal).update(ledger, of: users)
    system.close(file)
  }

  private var now: String { Timestamp.rfc3339(system.realtime()) }

  // MARK: - Lines

  func record(_ event: GrantRecord.Event, _ id: String) -> GrantRecord {
    GrantRecord(time: now, event: event, id: id)
  }

  /// Notes that the file of a user's grants must be written again.
  private mutating func changes(_ uid: UInt32?) {
    if let uid, users.insert(uid).inserted { GrantMirror(journal).begin(uid) }
  }

  /// Changes the ledger, appends records, and waits until they are on the disk.
  ///
  /// The ledger is changed even if the records cannot be written.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - reserves: Whether grants begin, so that the disk must have space for their ends.
  /// - Throws: If the records cannot be written.
  mutating func append(
    _ records: [GrantRecord], reserves: Bool = false
  ) throws(PermissionError) {
    if records.isEmpty { return }
    var bytes: [UInt8] = hasIncompleteLine ? [UInt8(ascii: "\n")] : []
    for record in records {
      changes(record.uid ?? ledger[record.id]?.uid)
      ledger.add(record)
      bytes += record.line
    }
    if reserves { try reserve(bytes.count) }
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

  /// Reserves space on the disk for the end of every grant, so that a full disk keeps none.
  private func reserve(_ announced: Int) throws(PermissionError) {
    // Each end has a line like that of the beginning, and a short one.
    let space = 2 * (size + announced) + (ledger.count + 16) * Self.reserve
    do throws(Errno) {
      try system.fallocate(file, space)
    } catch .EOPNOTSUPP {
    } catch .ENOSYS {
    } catch {
      throw journal.unwritable("fallocate", error)
    }
  }

  /// Appends records about changes that are already made; if that fails, the outcome has a note.
  mutating func append(_ records: [GrantRecord], _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      try append(records)
    } catch {
      let note =
        "\(error.message) (\(error.errno?.description ?? "")), so the end of a grant is not recorded; the next run finds that it has ended"
      if !outcome.notes.contains(note) { outcome.notes.append(note) }
    }
  }

  /// Returns the line with the result of a merge.
  mutating func line(_ outcome: LeaseOutcome, of acl: String) -> GrantRecord {
    for id in outcome.ended { changes(ledger[id]?.uid) }
    return GrantRecord(time: now, acl, outcome)
  }

  // MARK: - Making

  /// Makes all grants, or none.
  ///
  /// - Parameters:
  ///   - made: The grants, in their order; they receive identifiers.
  ///   - outcome: Receives the new grants.
  /// - Throws: If one change cannot be made; then none remains.
  mutating func make(
    _ made: [Grant], _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    if made.isEmpty { return }
    let time = now
    let request = "\(time)-\(system.getpid())"
    var made = made
    let (present, wall) = (BootTime(system), system.realtime())
    for index in made.indices {
      if let present, let expires = made[index].lifetime.expires {
        let end = BootTime(boot: present.boot, time: present.time + expires - wall)
        made[index].lifetime.end = end
      }
      (made[index].request, made[index].time) = (request, time)
      made[index].id = "\(request)-\(index + 1)"
    }
    do throws(PermissionError) {
      try append(announcement(of: made), reserves: true)
      for grant in made { try grant.change.command.execute(system) }
      do throws(PermissionError) {
        try append(made.map(applied) + [record(.committed, request)])
      } catch {
        // The lines are written. If they are lost with the power, the next run undoes the changes.
        guard !hasIncompleteLine else { throw error }
        outcome.notes.append(error.description)
      }
    } catch {
      throw rollBack(made, after: error)
    }
    for grant in made {
      if case .inode(let change) = grant.change { outcome.notes += change.outcome?.notes ?? [] }
    }
    outcome.grants += made
  }

  /// Returns the lines that announce grants, each after that of its inode's ACL.
  private mutating func announcement(of made: [Grant]) -> [GrantRecord] {
    let by = (try? system.credentials())?.user.fileSystem
    var lines: [GrantRecord] = []
    for grant in made {
      var acl: String?
      if case .inode(let change) = grant.change, let merged = change.outcome {
        acl = merged.acl ?? grant.id
        lines.append(line(merged, of: acl ?? grant.id))
      }
      lines.append(GrantRecord(grant, acl: acl, by: by, pid: system.getpid()))
    }
    return lines
  }

  private func applied(_ grant: Grant) -> GrantRecord {
    var applied = record(.applied, grant.id)
    if case .inode(let change) = grant.change { applied.changed = change.lastChange(system) }
    return applied
  }

  /// Undoes the changes of a failed request, even if the journal cannot be written.
  private mutating func rollBack(
    _ made: [Grant], after error: PermissionError
  ) -> PermissionError {
    var error = error
    var outcome = GrantJournal.Outcome()
    // What cannot be undone is announced in the journal, so the next run tries again.
    release(made.reversed(), &outcome)
    if !outcome.missing.isEmpty {
      for note in outcome.notes { error.message += "; and \(note)" }
    }
    return error
  }

  // MARK: - Undoing

  /// Undoes grants, newest first.
  ///
  /// Undoes them even if the journal cannot be written: then the outcome has a note.
  mutating func undo(_ wanted: [Grant], _ outcome: inout GrantJournal.Outcome) {
    let begun = wanted.filter { $0.stage != .released }
    if let newest = begun.last {
      // If this process is killed, the next one undoes all of these grants.
      var together = record(.undoing, newest.id)
      together.ids = begun.map(\.id)
      // Without this line the next one undoes what is left when it is asked to.
      try? append([together])
    }
    release(wanted.reversed(), &outcome)
  }

  /// Undoes grants, those of many inodes together.
  ///
  /// A grant that cannot be ended, because its file is read-only or immutable or there is no space, stays in the
  /// journal, is named in the outcome as missing, and is tried again.
  private mutating func release(_ wanted: [Grant], _ outcome: inout GrantJournal.Outcome) {
    var acls: [String] = []
    var members: [String: [Grant]] = [:]
    // An owning group is put back where the file has no ACL any more.
    for grant in wanted.filter({ !$0.isOfOwningGroup }) {
      guard let entry = ledger[grant.id] else { continue }
      if entry.stage == .released {
        left.append(.init(grant))
        continue
      }
      if let acl = entry.acl {
        if members[acl] == nil { acls.append(acl) }
        members[acl, default: []].append(grant)
        continue
      }
      undo(grant, &outcome)
    }
    var finder = InodeFinder(system)
    defer { finder.close() }
    var next = 0
    while next < acls.count {
      let chunk = acls[next...].prefix(Self.width).map { ($0, members[$0] ?? []) }
      next += chunk.count
      release(chunk, &finder, &outcome)
    }
    for grant in wanted where grant.isOfOwningGroup && ledger[grant.id] != nil {
      undo(grant, &outcome)
    }
  }

  private mutating func undo(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      // If the line of an ACL is lost, the change had not begun.
      if let note = try undo(grant) { outcome.notes.append(note) }
      finish([grant], &outcome)
    } catch {
      miss(grant, error, &outcome)
    }
  }

  /// Undoes a grant that is no lease of an ACL.
  private func undo(_ grant: Grant) throws(PermissionError) -> String? {
    guard case .owningGroup(let group) = grant.change else {
      return try grant.change.undoable?.undo(system)
    }
    let open = ledger.owningGroups(of: group.file)
    let kept = open.filter { entry, _ in
      switch entry.stage {
      case .undoing, .missing: false
      default: entry.id != grant.id
      }
    }
    return try group.undo(system, keeping: kept.map(\.grant), open: open.map(\.grant))
  }

  /// Undoes the grants of some ACLs: finds the inodes, records what they become, and changes them.
  private mutating func release(
    _ acls: [(acl: String, grants: [Grant])], _ finder: inout InodeFinder,
    _ outcome: inout GrantJournal.Outcome
  ) {
    var found: [LeaseRelease] = []
    var deleted: [(grants: [Grant], leases: OpenLeases, path: PathBytes)] = []
    defer { for release in found { system.close(release.descriptor) } }
    for (acl, grants) in acls {
      guard let leases = ledger.leases(acl), case .inode(let grant) = grants[0].change else {
        finish(grants, &outcome)
        continue
      }
      do throws(PermissionError) {
        switch finder.find(grant) {
        case .deleted: deleted.append((grants, leases, grant.path))
        case .missing(let reason): for grant in grants { miss(grant, reason, &outcome) }
        case .found(let descriptor):
          let release = LeaseRelease(grants, grant, descriptor, leases)
          defer { found.append(release) }
          try release.look(system)
        }
      } catch {
        for grant in grants { miss(grant, error, &outcome) }
      }
    }
    let decided = found.compactMap { release in
      release.outcome.map { line($0, of: release.leases.acl) }
    }
    try? append(decided)
    var ends: [GrantRecord] = []
    for release in found where release.outcome != nil {
      do throws(PermissionError) {
        try carryOut(release)
        over.formUnion(release.grants.map(\.id))
        _ = try releaseCopies(release.grants, release.leases, &finder, &outcome)
        outcome.notes += release.outcome?.notes ?? []
        ends += end(of: release)
        if release.grant.attribute == .defaultACL {
          left += release.grants.map { .init($0) }
        } else {
          outcome.grants += release.grants
        }
      } catch {
        for grant in release.grants { miss(grant, error, &outcome) }
      }
    }
    append(ends, &outcome)
    over.removeAll()
    // A copy in the place of what is gone may have had leases of its own, which have ended now.
    for (grants, leases, path) in deleted {
      do throws(PermissionError) {
        if try !releaseCopies(grants, leases, &finder, &outcome) {
          outcome.notes.append("\(path) was deleted")
        }
        finish(grants, &outcome)
      } catch {
        for grant in grants { miss(grant, error, &outcome) }
      }
    }
  }

  /// Changes an inode; merges again if somebody else changed it meanwhile.
  private mutating func carryOut(
    _ release: LeaseRelease, isRecorded: Bool = true
  ) throws(PermissionError) {
    var again = 0
    while true {
      do throws(PermissionError) {
        return try release.carryOut(system)
      } catch {
        again += 1
        guard error.errno == .EAGAIN, again < 100 else { throw error }
        try release.look(system)
        if isRecorded, let outcome = release.outcome {
          try? append([line(outcome, of: release.leases.acl)])
        }
      }
    }
  }

  /// Undoes grants on the files that took the place of theirs together with its ACL; returns whether there is one.
  ///
  /// The journal remembers nothing of such a file, which is found again until the grants have ended.
  private mutating func releaseCopies(
    _ grants: [Grant], _ leases: OpenLeases, _ finder: inout InodeFinder,
    _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) -> Bool {
    let since = leases.record.since ?? .min
    let begin = GivenEntry(uid: .max, since: since).start(system)
    var seen: Set<PathBytes> = []
    var isCopied = false
    for one in grants {
      // The inode may have had several paths.
      guard case .inode(let grant) = one.change, seen.insert(grant.path).inserted else { continue }
      let ledger = ledger
      func own(_ file: Descriptor, _ identity: InodeIdentity) -> OpenLeases? {
        ledger.leases(around: grant.at(file, identity, system))
      }
      let copies = finder.copies(inPlaceOf: grant, leases, own: own, since: begin)
      defer { for copy in copies { system.close(copy.file) } }
      for (file, isPlain) in copies {
        isCopied = true
        if !isPlain {
          throw grant.failure(
            "\(grant.path) was replaced by a file of another owner, or with other hard links, with the same entry",
            advice: "look whose entry it is, take it out, and forget the grant with --forget")
        }
        if let status = try? system.statx(file), own(file, InodeIdentity(status)) != nil {
          // What was copied is below leases of its own, like what is inherited.
          let given = GivenEntry(
            uid: grant.uid, since: begin, rights: leases.values(of: grant.lease.item))
          _ = try release(
            SweepState.Item(
              inode: file, status: status, path: grant.path, attribute: grant.attribute,
              inheritance: Inheritance(given, above: leases.record.base)))
          continue
        }
        // A copy of an earlier state has what leases gave then.
        var known = leases
        let item = grant.lease.item
        known.record.written?[item] = try grant.state(file, system).list(grant.attribute)?[item]
        let release = LeaseRelease(grants, grant, file, known)
        try release.look(system)
        try carryOut(release, isRecorded: false)
        outcome.notes.append(
          "\(grant.path) was replaced by a copy with its ACL, from which the access was removed, too"
        )
      }
    }
    return isCopied
  }

  /// Returns the lines of grants that are undone.
  private func end(of release: LeaseRelease) -> [GrantRecord] {
    let changed = (try? system.statx(release.descriptor))?.changed
    return release.grants.map { grant in
      let isDefault = release.grant.attribute == .defaultACL
      var line = record(isDefault ? .released : .undone, grant.id)
      line.changed = changed
      return line
    }
  }

  /// Records that grants are undone.
  private mutating func finish(_ grants: [Grant], _ outcome: inout GrantJournal.Outcome) {
    outcome.grants += grants
    append(grants.map { record(.undone, $0.id) }, &outcome)
  }

  /// Records that a grant cannot be ended, because of an error.
  private mutating func miss(
    _ grant: Grant, _ error: PermissionError, _ outcome: inout GrantJournal.Outcome
  ) {
    var failure = error
    failure.advice = nil
    miss(grant, failure.description, advice: error.advice, &outcome)
  }

  /// Records that a grant cannot be ended: its file is not found, or cannot be changed.
  private mutating func miss(
    _ grant: Grant, _ reason: String, advice: String? = nil,
    _ outcome: inout GrantJournal.Outcome
  ) {
    outcome.missing.append(grant)
    let end = advice.map { "; \($0)" } ?? ""
    outcome.notes.append("\(reason), so the access of uid \(grant.uid) may still be there\(end)")
    guard ledger[grant.id]?.stage != .missing else { return }
    var missing = record(.missing, grant.id)
    missing.note = reason
    append([missing], &outcome)
  }

  // MARK: - Recovery

  /// Undoes unfinished and missing grants, expired grants, and grants whose process has ended.
  mutating func recover() -> GrantJournal.Outcome {
    var outcome = GrantJournal.Outcome()
    let time = system.realtime()
    // Many grants share a lifetime, and to look for a process takes system calls.
    var ended: [Grant.Lifetime: Bool] = [:]
    var wanted: [Grant] = []
    for entry in ledger.entries.reversed() {
      if entry.stage == .active {
        let hasEnded = ended[entry.end] ?? entry.end.hasEnded(at: time, system)
        ended[entry.end] = hasEnded
        guard hasEnded else { continue }
      }
      // What was not reached is tried again when somebody asks for it.
      if entry.isLeft { continue }
      guard let grant = entry.grant, journal.recovers(grant) else { continue }
      if entry.stage == .intended, let command = grant.change.undoable,
        (try? command.progress(system)) == .before
      {
        forget([grant], &outcome)
      } else {
        wanted.append(grant)
      }
    }
    release(wanted, &outcome)
    outcome.recovered = outcome.grants
    outcome.grants = []
    for index in left.indices { left[index].isRecovered = true }
    return outcome
  }

  /// Records that grants have ended, without a change.
  mutating func forget(_ grants: [Grant], _ outcome: inout GrantJournal.Outcome) {
    append(grants.map { record(.undone, $0.id) }, &outcome)
  }
}

// What files and folders inherited from leases on default ACLs.
extension GrantJournalWriter {
  /// Records the files that a sweep for a grant did not reach.
  mutating func leave(_ grant: Grant, _ note: String, _ outcome: inout GrantJournal.Outcome) {
    var line = record(.released, grant.id)
    line.note = note
    append([line], &outcome)
  }

  /// Removes inherited entries from an inode with leases, which stay; returns whether it had some.
  mutating func release(_ item: SweepState.Item) throws(PermissionError) -> Bool {
    let status = item.status
    var probe = InodeGrant(
      path: item.path, identity: InodeIdentity(status), uid: .max, permissions: [],
      persistence: .permanent, attribute: item.attribute, arguments: [])
    probe.anchor = InodeAnchor(item.inode, system)
    let isDefault = item.attribute == .defaultACL
    let now = try probe.state(item.inode, system)
    guard var leases = ledger.leases(around: probe), let first = leases.grants.first else {
      guard let list = now.list(item.attribute) else { return false }
      let left =
        isDefault
        ? item.inheritance.releasedDefault(list, birth: status.birth)
        : item.inheritance.released(list, birth: status.birth)
      try probe.set(
        now.setting(left, item.attribute), from: now, isPutBack: true, item.inode, system)
      return left != list
    }
    leases.grants.removeAll { over.contains($0.id) }
    let base = leases.record.base
    leases.record = leases.record.released(
      item.inheritance, birth: status.birth, isDefault: isDefault)
    let look = try first.grant.look(at: item.inode, leases, system)
    let target = InodeGrant.State(look.inode { _ in true }, item.attribute)
    // A process that was killed may have written the line alone.
    if target == now, leases.record.base == base { return false }
    try append([line(look.outcome(target, releasing: []), of: leases.acl)])
    try first.grant.set(target, from: now, isPutBack: true, item.inode, system)
    return true
  }
}
