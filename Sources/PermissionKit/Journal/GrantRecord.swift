internal import JSONSyntax

/// One line of the journal.
struct GrantRecord: Sendable {
  enum Event: String, Sendable {
    /// What is remembered of an ACL with leases, before it is changed.
    case leased
    /// The request begins to make this change.
    case intent
    /// The change is made.
    case applied
    /// Every change of the request is made.
    case committed
    /// The undo of the change begins.
    case undoing
    /// The change is undone on its folder, but what was made there may have inherited an entry.
    case released
    /// The change cannot be undone, because the file is not found.
    case missing
    /// The change is undone, or was never made.
    case undone
  }

  /// The version of this format; before version 3 each grant had pictures of its inode.
  var v = 3
  var time: String
  var event: Event
  /// The identifier of the grant; that of the request for `committed`, of the record for `leased`.
  var id: String
  /// All grants that are undone together, for `undoing`; one line makes the list atomic.
  var ids: [String]?
  var request: String?
  var accessor: String?
  /// The path that the request named.
  var path: PathBytes?
  var uid: UInt32?
  /// The fsuid of the process that wrote the line.
  var by: UInt32?
  /// The id of the process that wrote the line.
  var pid: Int32?
  var lifetime: Grant.Lifetime?
  /// The change, which is read only if somebody needs it, see `grant`.
  var change: JSONValue?
  /// The identifier of the record of the inode's ACL, see `leased`.
  var acl: String?
  /// What is remembered of an ACL, for `leased`: a `LeaseOutcome`.
  var leased: JSONValue?
  /// The later grants of the same inode after an undo, by identifier, before version 3.
  var rebased: JSONValue?
  /// The stage of the grant, for `intent` in a compacted journal.
  var stage: Grant.Stage?
  /// When the inode was changed, for `applied`, `undone` and `leased`.
  var changed: Int64?
  /// Why the file is not found, for `missing`; what was not reached, for `released`.
  var note: String?
}

extension GrantRecord {
  /// Creates a record that contains a whole grant.
  init(_ grant: Grant, acl: String?, by: UInt32?, pid: Int32?) {
    self.init(
      time: grant.time, event: .intent, id: grant.id, request: grant.request,
      accessor: grant.accessor, path: grant.path, uid: grant.uid, by: by, pid: pid,
      lifetime: grant.lifetime, change: Self.change.encode(grant.change.recorded), acl: acl)
  }

  /// Creates a record of what is remembered of an ACL.
  init(time: String, _ acl: String, _ outcome: LeaseOutcome) {
    self.init(time: time, event: .leased, id: acl, leased: Self.leased.encode(outcome))
    changed = outcome.record.changed
  }

  /// The record as one line of JSON, with a newline.
  var line: [UInt8] {
    JSONWriter(sortsKeys: true).bytes(Self.record.json(self)) + [UInt8(ascii: "\n")]
  }

  /// Whether something that inherited from it was not reached.
  var isLeft: Bool { stage == .released && note != nil }

  /// When the grant ends.
  var end: Grant.Lifetime { lifetime ?? .init() }

  /// The whole grant; nil if the line has no change that this version knows.
  var grant: Grant? {
    guard let accessor, let uid, let request,
      let change = change.flatMap({ try? Self.change.decode($0) })
    else { return nil }
    return Grant(
      id: id, request: request, time: time, accessor: accessor, path: path, uid: uid,
      lifetime: end, change: change, stage: stage ?? .intended)
  }

  /// The number of the inode that changes; nil for other changes.
  var inode: UInt64? { change?["inode"]?["identity"]?["inode"]?.integer() }

  /// The change of an inode; nil for another change.
  var inodeGrant: InodeGrant? {
    get { if case .inode(let inode) = grant?.change { inode } else { nil } }
    set { change = newValue.map { Self.change.encode(.inode($0)) } }
  }

  /// What is remembered of the ACL, for `leased`; without `seen` once it was written.
  var remembered: LeasedACL? {
    guard let leased, var record = (try? Self.leased.decode(leased))?.record else { return nil }
    if stage == .applied { record.seen = nil }
    record.changed = changed
    return record
  }
}
