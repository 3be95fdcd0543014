internal import JSONSyntax

/// The open grants of a journal, in the order in which they were made.
///
/// Each line of the journal changes a few grants, which are found by their identifiers, so that a
/// journal is read in one pass.
struct GrantLedger {
  private var slots: [Grant?] = []
  private var places: [String: Int] = [:]
  private var requests: [String: [Int]] = [:]
  /// The identifiers of all grants so far, with those that are undone.
  private var known: Set<String> = []
  /// The number of lines so far.
  private(set) var lines = 0

  /// The open grants, oldest first.
  var grants: [Grant] { slots.compactMap { $0 } }

  /// The number of open grants.
  var count: Int { places.count }

  /// The open grant with this identifier; nil if there is none.
  subscript(id: String) -> Grant? {
    get { places[id].flatMap { slots[$0] } }
    set {
      guard let place = places[id] else { return }
      slots[place] = newValue
      if newValue == nil { places[id] = nil }
    }
  }

  /// Adds a grant that was not known before.
  mutating func add(_ grant: Grant) {
    places[grant.id] = slots.count
    known.insert(grant.id)
    requests[grant.request, default: []].append(slots.count)
    slots.append(grant)
  }

  /// Returns the open grants of the same ACL, oldest first.
  func sharing(_ grant: InodeGrant) -> [(id: String, grant: InodeGrant)] {
    slots.compactMap { slot in
      guard let slot, case .inode(let other) = slot.change,
        other.identity.inode == grant.identity.inode, other.isSameACL(as: grant)
      else { return nil }
      return (slot.id, other)
    }
  }

  // MARK: - Reading

  /// Adds the lines of a journal.
  ///
  /// Ignores incomplete lines, because the change that such a line announces had not begun.
  ///
  /// - Parameters:
  ///   - bytes: The next lines.
  ///   - journal: The journal, for error messages.
  /// - Throws: If a line has another version, or names a grant that no earlier line contains.
  mutating func read(
    _ bytes: ArraySlice<UInt8>, _ journal: GrantJournal
  ) throws(PermissionError) {
    let reader = JSONReader()
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      lines += 1
      guard let json = try? reader.value(from: Array(line)) else { continue }
      if let version = json["v"], ![1, 2].contains(version.integer()) {
        throw journal.unreadable(lines)
      }
      guard let record = try? GrantRecord.codec.decode(json) else { continue }
      guard add(record) else { throw journal.damaged(lines) }
    }
    // What `split` gives after the last newline is no line.
    lines -= 1
  }

  /// Changes the grants as a record says; returns false if it names an unknown grant.
  private mutating func add(_ record: GrantRecord) -> Bool {
    let id = record.id
    switch record.event {
    case .intent:
      guard let accessor = record.accessor, let uid = record.uid, let change = record.change,
        let request = record.request
      else { return false }
      add(
        Grant(
          id: id, request: request, time: record.time, accessor: accessor, uid: uid,
          lifetime: record.lifetime ?? .init(), change: change, stage: record.stage ?? .intended))
      return true
    case .committed:
      guard let members = requests[id] else { return false }
      for place in members where slots[place]?.stage == .applied { slots[place]?.stage = .active }
      return true
    case .applied:
      setChanged(record.changed, id)
      return set(.applied, [id])
    case .missing: return set(.missing, [id])
    case .undoing: return set(.undoing, [id] + (record.ids ?? []))
    case .undone:
      // The intent line may be incomplete; its grant is undone nevertheless.
      self[id] = nil
      for (id, change) in record.rebased ?? [:] { self[id]?.change = change }
      return true
    }
  }

  /// Sets the time when a grant changed its inode.
  mutating func setChanged(_ time: Int64?, _ id: String) {
    guard let time, case .inode(var change) = self[id]?.change else { return }
    change.changed = time
    self[id]?.change = .inode(change)
  }

  /// Sets the stage of grants; returns false if none of them was ever known.
  private mutating func set(_ stage: Grant.Stage, _ ids: [String]) -> Bool {
    for id in ids { self[id]?.stage = stage }
    return ids.contains { known.contains($0) }
  }
}
