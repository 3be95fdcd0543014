internal import JSONSyntax

/// The open grants of a journal, in the order in which they were made.
///
/// Each line of the journal changes a few grants, which are found by their identifiers, so that a
/// journal is read in one pass.
package struct GrantLedger: Sendable {
  /// An open grant, whose change is read from the line only if somebody needs it.
  struct Entry: Sendable {
    let id: String
    let request: String
    let time: String
    let accessor: String
    let path: PathBytes?
    let uid: UInt32
    let lifetime: Grant.Lifetime
    var stage: Grant.Stage
    /// When the inode was changed, if a line after the first one tells.
    var changed: Int64?
    private var change: GrantChange?
    private let json: JSONValue

    /// Creates an entry for a new grant.
    init(_ grant: Grant) {
      (id, request, time) = (grant.id, grant.request, grant.time)
      (accessor, path) = (grant.accessor, grant.path)
      (uid, stage) = (grant.uid, grant.stage)
      lifetime = grant.lifetime
      change = grant.change
      json = .null
    }

    /// Creates an entry for a line of the journal; nil if the line lacks something.
    init?(_ record: GrantRecord, change json: JSONValue) {
      guard let accessor = record.accessor, let uid = record.uid, let request = record.request
      else { return nil }
      id = record.id
      self.request = request
      time = record.time
      self.accessor = accessor
      path = record.path
      self.uid = uid
      lifetime = record.lifetime ?? .init()
      stage = record.stage ?? .intended
      self.json = json
    }

    /// The whole grant; nil if the line has no change that this version knows.
    var grant: Grant? {
      guard var change = change ?? (try? GrantRecord.change.decode(json)) else { return nil }
      if let changed, case .inode(var inode) = change {
        inode.changed = changed
        change = .inode(inode)
      }
      return Grant(
        id: id, request: request, time: time, accessor: accessor, path: path, uid: uid,
        lifetime: lifetime, change: change, stage: stage)
    }

    /// Returns whether the change may be of the inode with this number.
    func isAbout(inode number: UInt64) -> Bool {
      if case .inode(let change) = change { return change.identity.inode == number }
      return change == nil && json["inode"]?["identity"]?["inode"]?.integer() == number
    }

    mutating func set(_ change: GrantChange) { (self.change, changed) = (change, nil) }
  }

  private var slots: [Entry?] = []
  private var places: [String: Int] = [:]
  private var requests: [String: [Int]] = [:]
  /// The identifiers of all grants so far, with those that are undone.
  private var known: Set<String> = []
  /// The number of lines so far.
  private(set) var lines = 0
  /// The bytes that the first line of each wanted grant contains; nil if all are wanted.
  private let mark: [UInt8]?

  /// Creates an empty ledger.
  ///
  /// - Parameter uid: The user whose grants are wanted; nil for everybody's.
  init(of uid: UInt32? = nil) { mark = uid.map { Array("\"uid\":\($0),".utf8) } }

  /// The open grants, oldest first.
  var grants: [Grant] { slots.compactMap { $0?.grant } }

  /// The open grants without their changes, oldest first.
  var entries: [Entry] { slots.compactMap { $0 } }

  /// Returns the open grants of some users, oldest first.
  package func grants(of users: Set<UInt32>) -> [Grant] {
    slots.compactMap { entry in
      guard let entry, users.contains(entry.uid) else { return nil }
      return entry.grant
    }
  }

  /// Returns the open grants of a user, and those of others on the same inodes, oldest first.
  func grants(around uid: UInt32) -> [Grant] {
    let numbers = Set(
      grants(of: [uid]).compactMap { grant -> UInt64? in
        if case .inode(let change) = grant.change { change.identity.inode } else { nil }
      })
    return slots.compactMap { entry in
      guard let entry, entry.uid == uid || numbers.contains(where: entry.isAbout) else {
        return nil
      }
      return entry.grant
    }
  }

  /// The number of open grants.
  var count: Int { places.count }

  /// The open grant with this identifier; nil if there is none.
  subscript(id: String) -> Entry? { places[id].flatMap { slots[$0] } }

  /// Adds a grant that was not known before.
  mutating func add(_ grant: Grant) { add(Entry(grant)) }

  private mutating func add(_ entry: Entry) {
    places[entry.id] = slots.count
    known.insert(entry.id)
    requests[entry.request, default: []].append(slots.count)
    slots.append(entry)
  }

  /// Removes a grant that has ended.
  mutating func remove(_ id: String) {
    if let place = places.removeValue(forKey: id) { slots[place] = nil }
  }

  /// Sets the stage of an open grant.
  mutating func set(_ stage: Grant.Stage, of id: String) {
    if let place = places[id] { slots[place]?.stage = stage }
  }

  /// Sets the change of an open grant.
  mutating func set(_ change: GrantChange, of id: String) {
    if let place = places[id] { slots[place]?.set(change) }
  }

  /// Returns the open grants of the same ACL, oldest first.
  func sharing(_ grant: InodeGrant) -> [(id: String, grant: InodeGrant)] {
    slots.compactMap { slot in
      guard let slot, slot.isAbout(inode: grant.identity.inode),
        case .inode(let other) = slot.grant?.change, other.isSameACL(as: grant)
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
      if let mark, line.contains(Self.intent), !line.contains(mark) { continue }
      guard let json = try? reader.value(from: Array(line)) else { continue }
      if let version = json["v"], ![1, 2].contains(version.integer()) {
        throw journal.unreadable(lines)
      }
      let (header, change) = Self.split(json)
      guard let record = try? GrantRecord.codec.decode(header) else { continue }
      guard add(record, change) || mark != nil else { throw journal.damaged(lines) }
    }
    // What `split` gives after the last newline is no line.
    lines -= 1
  }

  /// What the first line of a grant contains.
  private static let intent = Array("\"event\":\"intent\"".utf8)

  /// Returns the line without its change, and the change.
  private static func split(_ json: JSONValue) -> (JSONValue, JSONValue) {
    guard let change = json["change"], let object = json.object else { return (json, .null) }
    let members = object.members.filter { $0.key != "change" }.map { ($0.key, $0.value) }
    return (.object(JSONObject(members)), change)
  }

  /// Changes the grants as a record says; returns false if it names an unknown grant.
  private mutating func add(_ record: GrantRecord, _ change: JSONValue) -> Bool {
    let id = record.id
    switch record.event {
    case .intent:
      guard let entry = Entry(record, change: change) else { return false }
      add(entry)
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
      remove(id)
      for (id, change) in record.rebased ?? [:] { set(change, of: id) }
      return true
    }
  }

  /// Sets the time when a grant changed its inode.
  mutating func setChanged(_ time: Int64?, _ id: String) {
    if let time, let place = places[id] { slots[place]?.changed = time }
  }

  /// Sets the stage of grants; returns false if none of them was ever known.
  private mutating func set(_ stage: Grant.Stage, _ ids: [String]) -> Bool {
    for id in ids { set(stage, of: id) }
    return ids.contains { known.contains($0) }
  }
}

extension ArraySlice<UInt8> {
  /// Returns whether the bytes contain other bytes, which are not empty.
  fileprivate func contains(_ wanted: [UInt8]) -> Bool {
    unsafe withUnsafeBufferPointer { bytes in
      unsafe wanted.withUnsafeBufferPointer { wanted in
        var start = 0
        while start + wanted.count <= bytes.count {
          var length = 0
          while length < wanted.count, unsafe bytes[start + length] == wanted[length] {
            length += 1
          }
          if length == wanted.count { return true }
          start += 1
        }
        return false
      }
    }
  }
}
