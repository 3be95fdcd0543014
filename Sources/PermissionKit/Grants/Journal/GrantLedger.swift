internal import JSONSyntax

/// The open grants of a journal, in the order in which they were made.
///
/// Each line of the journal changes a few grants, which are found by their identifiers, so that a
/// journal is read in one pass. A line that is written changes them in the same way.
package struct GrantLedger: Sendable {
  private var slots: [GrantRecord?] = []
  private var places: [String: Int] = [:]
  private var requests: [String: [Int]] = [:]
  /// The records of ACLs, by the identifier of the journal's record.
  private var acls: [String: GrantRecord] = [:]
  /// The places of the grants on each ACL.
  private var members: [String: [Int]] = [:]
  /// The identifiers of all grants so far, with those that are undone.
  private var known: Set<String> = []
  /// Whether the grants of an old journal have their records, see `adopt`.
  private var isAdopted = false
  /// The number of lines so far.
  private(set) var lines = 0
  /// The first line that names a grant of which an earlier line is missing.
  private(set) var damaged: Int?

  /// Creates an empty ledger.
  package init() {}

  /// The first lines of the open grants, with their present stages, oldest first.
  var entries: [GrantRecord] { slots.compactMap { $0 } }

  /// Returns the open grants of a user, or of everybody, oldest first.
  package func grants(of uid: UInt32?) -> [Grant] {
    slots.compactMap { entry in uid == nil || entry?.uid == uid ? entry?.grant : nil }
  }

  /// The number of open grants.
  var count: Int { places.count }

  /// The open grant with this identifier; nil if there is none.
  subscript(id: String) -> GrantRecord? { places[id].flatMap { slots[$0] } }

  // MARK: - Leases

  /// Returns the record of an ACL, with its open leases; nil if there are none.
  func leases(_ acl: String) -> OpenLeases? {
    guard let record = acls[acl]?.remembered else { return nil }
    var leases = OpenLeases(acl: acl, record: record, grants: [])
    for place in members[acl] ?? [] {
      guard let entry = slots[place], let grant = entry.inodeGrant else { continue }
      leases.givers.insert(grant.uid)
      if entry.stage != .released { leases.grants.append((entry.id, grant)) }
    }
    return leases
  }

  /// Returns the record of the ACL that a grant changes; nil if there are no leases on it.
  func leases(around grant: InodeGrant) -> OpenLeases? {
    let entry = slots.first { entry in
      guard let entry, entry.acl != nil, entry.inode == grant.identity.inode else { return false }
      return entry.inodeGrant?.isSameACL(as: grant) == true
    }
    return entry??.acl.flatMap(leases)
  }

  /// Returns the open grants of the owning group of a file, oldest first.
  func owningGroups(of file: InodeGrant) -> [(entry: GrantRecord, grant: OwningGroupGrant)] {
    slots.compactMap { entry in
      guard let entry, let grant = entry.owningGroup, grant.file.isSameACL(as: file) else {
        return nil
      }
      return (entry, grant)
    }
  }

  /// Returns the open grants, oldest first, with what is seen of them now: `ended` are those whose access somebody else
  /// removed, `deleted` those whose file is gone and no other in its place, `missing` those whose file is not found,
  /// `undoing` those that could not be ended.
  func grantsNow(_ system: any System) -> [Grant] {
    var stages: [String: Grant.Stage] = [:]
    var finder = InodeFinder(system)
    defer { finder.close() }
    for acl in acls.keys {
      guard let leases = leases(acl), let grant = leases.grants.first?.grant else { continue }
      let ids = leases.grants.map(\.id)
      switch finder.find(grant) {
      case .deleted(isReplaced: true): continue
      case .deleted: for id in ids { stages[id] = .deleted }
      case .missing: for id in ids { stages[id] = .missing }
      case .found(let descriptor):
        defer { system.close(descriptor) }
        for id in ids where self[id]?.stage == .missing { stages[id] = .undoing }
        let ended = (try? grant.look(at: descriptor, leases, system))?.ended ?? []
        for id in ended { stages[id] = .ended }
      }
    }
    for case let entry? in slots {
      guard let group = entry.owningGroup else { continue }
      switch finder.find(group.file) {
      case .deleted(isReplaced: true): continue
      case .deleted: stages[entry.id] = .deleted
      case .missing: stages[entry.id] = .missing
      case .found(let descriptor):
        defer { system.close(descriptor) }
        if entry.stage == .missing { stages[entry.id] = .undoing }
        if entry.stage == .active, (try? group.hasEnded(descriptor, system)) == true {
          stages[entry.id] = .ended
        }
      }
    }
    return grants(of: nil).map { grant in
      var grant = grant
      grant.stage = stages[grant.id] ?? grant.stage
      return grant
    }
  }

  // MARK: - What was inherited

  /// The identifiers of the open grants on files and folders.
  var openings: Set<String> {
    Set(slots.compactMap { $0 }.filter { $0.inodeGrant?.isOfDevice == false }.map(\.id))
  }

  /// The numbers of the files and folders with open leases.
  var leasedInodes: Set<UInt64> {
    Set(
      slots.compactMap { entry in
        guard let entry, entry.stage != .released, let grant = entry.inodeGrant, !grant.isOfDevice
        else { return nil }
        return grant.identity.inode
      })
  }

  /// The records of default ACLs, by the number of the inode, with the grants that are released.
  var folders: [UInt64: [(ids: [String], grant: InodeGrant, record: LeasedACL)]] {
    var folders: [UInt64: [(ids: [String], grant: InodeGrant, record: LeasedACL)]] = [:]
    for (acl, places) in members {
      guard let record = acls[acl]?.remembered, !record.given.isEmpty else { continue }
      let entries = places.compactMap { slots[$0] }
      guard let grant = entries.first?.inodeGrant else { continue }
      let ids = entries.filter { $0.stage == .released }.map(\.id)
      folders[grant.identity.inode, default: []].append((ids, grant, record))
    }
    return folders
  }

  // MARK: - Lines

  /// Returns the lines of a journal that contains only the open grants.
  ///
  /// - Parameters:
  ///   - time: The present, RFC 3339.
  ///   - uid: The user whose grants are wanted, as if what others have by grants were theirs; nil for
  ///     everybody's.
  /// - Returns: The lines.
  func lines(at time: String, of uid: UInt32? = nil) -> [UInt8] {
    var bytes: [UInt8] = []
    var written: Set<String> = []
    for var entry in entries where uid == nil || entry.uid == uid {
      if let acl = entry.acl, written.insert(acl).inserted, let leases = leases(acl) {
        let record = uid.map(leases.seen(by:)) ?? leases.record
        bytes += GrantRecord(time: time, acl, LeaseOutcome(record: record)).line
      }
      (entry.by, entry.pid) = (nil, nil)
      bytes += entry.line
    }
    return bytes
  }

  /// Adds the lines of a journal.
  ///
  /// Ignores incomplete lines, because the change that such a line announces had not begun.
  ///
  /// A line that names a grant of which an earlier line is missing holds up that grant alone, see `damaged`.
  ///
  /// - Throws: If a line has another version.
  mutating func read(
    _ bytes: ArraySlice<UInt8>, _ journal: GrantJournal
  ) throws(PermissionError) {
    let reader = JSONReader()
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      lines += 1
      guard let json = try? reader.value(from: Array(line)) else { continue }
      if let version = json["v"], ![1, 2, 3].contains(version.integer()) {
        throw journal.unreadable(lines)
      }
      guard let record = try? GrantRecord.codec.decode(json) else { continue }
      if !add(record), damaged == nil { damaged = lines }
    }
    // What `split` gives after the last newline is no line.
    lines -= 1
  }

  /// Changes the grants as a record says; returns false if it names an unknown grant.
  @discardableResult
  mutating func add(_ record: GrantRecord) -> Bool {
    let id = record.id
    if record.v > 2 { adopt() }
    switch record.event {
    case .leased: return remember(record)
    case .intent: return open(record)
    case .committed:
      guard let members = requests[id] else { return false }
      for place in members where slots[place]?.stage == .applied { slots[place]?.stage = .active }
      return true
    case .applied:
      setWritten(record)
      return set(.applied, [id])
    case .released:
      setWritten(record)
      if let place = places[id] { slots[place]?.note = record.note }
      return set(.released, [id])
    case .missing: return set(.missing, [id])
    case .undoing: return set(.undoing, [id] + (record.ids ?? []))
    case .undone:
      setWritten(record)
      // The intent line may be incomplete; its grant is undone nevertheless.
      remove(id)
      for member in record.rebased?.object?.members ?? [] {
        if let place = places[member.key] { slots[place]?.change = member.value }
      }
      return true
    }
  }

  private mutating func open(_ record: GrantRecord) -> Bool {
    guard record.accessor != nil, record.uid != nil, let request = record.request else {
      return false
    }
    if let acl = record.acl, acls[acl] == nil { return false }
    let place = slots.count
    places[record.id] = place
    known.insert(record.id)
    requests[request, default: []].append(place)
    if let acl = record.acl { members[acl, default: []].append(place) }
    slots.append(record)
    if record.stage == nil { slots[place]?.stage = .intended }
    return true
  }

  private mutating func remember(_ record: GrantRecord) -> Bool {
    guard let leased = record.leased else { return false }
    if leased["rights"] != nil || leased["ended"] != nil,
      let outcome = try? GrantRecord.leased.decode(leased)
    {
      for (id, rights) in outcome.rights { reduce(id, to: rights) }
      for id in outcome.ended { remove(id) }
    }
    // A lease on it may follow.
    acls[record.id] = record
    return true
  }

  private mutating func reduce(_ id: String, to rights: Permissions) {
    if let place = places[id] { slots[place]?.inodeGrant?.permissions = rights }
  }

  /// Notes that an ACL was written as the record says.
  private mutating func setWritten(_ record: GrantRecord) {
    guard let acl = self[record.id]?.acl else { return }
    acls[acl]?.stage = .applied
    guard let changed = record.changed else { return }
    acls[acl]?.changed = changed
    if record.event == .applied { acls[acl]?.applied = changed }
  }

  private mutating func remove(_ id: String) {
    guard let place = places.removeValue(forKey: id) else { return }
    let acl = slots[place]?.acl
    slots[place] = nil
    guard let acl else { return }
    members[acl]?.removeAll { $0 == place }
    if members[acl]?.isEmpty != false { (acls[acl], members[acl]) = (nil, nil) }
  }

  /// Sets the stage of grants; returns false if none of them was ever known.
  private mutating func set(_ stage: Grant.Stage, _ ids: [String]) -> Bool {
    for id in ids { if let place = places[id] { slots[place]?.stage = stage } }
    return ids.contains { known.contains($0) }
  }

  // MARK: - Other journals

  /// Adds the open grants of another journal.
  mutating func add(_ other: GrantLedger) {
    acls.merge(other.acls) { own, _ in own }
    for entry in other.entries { _ = open(entry) }
  }

  /// Computes the records of an old journal, in which each grant had the states of its inode.
  mutating func adopt() {
    if isAdopted { return }
    isAdopted = true
    var firsts: [UInt64: [(acl: String, grant: InodeGrant)]] = [:]
    for place in slots.indices {
      guard let entry = slots[place], entry.acl == nil, var grant = entry.inodeGrant,
        let before = InodeGrant.State(entry.change?["inode"]?["before"]),
        let after = InodeGrant.State(entry.change?["inode"]?["after"])
      else { continue }
      if grant.attribute == .mode { grant.bits = grant.bits ?? after.mode & ~before.mode }
      let list = before.list(grant.attribute)
      var record = LeasedACL(list, owner: nil)
      let number = grant.identity.inode
      let acl = firsts[number]?.first { $0.grant.isSameACL(as: grant) }?.acl ?? entry.id
      if let open = leases(acl) {
        let merge = LeaseMerge(
          open.record, now: list, owner: nil, leases: open.grants.map(\.grant.lease))
        (record.base, record.hadMask) = (merge.base, open.record.hadMask)
        for ((id, _), lease) in zip(open.grants, merge.leases) { reduce(id, to: lease.rights) }
      } else {
        firsts[number, default: []].append((acl, grant))
      }
      record.written = after.list(grant.attribute)
      record.seen = entry.stage == .active ? nil : .some(list)
      acls[acl] = GrantRecord(time: entry.time, acl, LeaseOutcome(record: record))
      var adopted = entry
      (adopted.v, adopted.acl, adopted.inodeGrant) = (3, acl, grant)
      slots[place] = adopted
      members[acl, default: []].append(place)
    }
  }
}
