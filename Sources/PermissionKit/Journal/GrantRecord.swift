internal import JSONSyntax

/// One line of the journal.
struct GrantRecord: Sendable {
  enum Event: String, Sendable {
    /// The request begins to make this change.
    case intent
    /// The change is made.
    case applied
    /// Every change of the request is made.
    case committed
    /// The undo of the change begins.
    case undoing
    /// The change cannot be undone, because the file is not found.
    case missing
    /// The change is undone, or was never made.
    case undone
  }

  /// The version of this format; version 1 did not know `stage`, `note` and `missing`.
  var v = 2
  var time: String
  var event: Event
  /// The identifier of the grant; that of the request for `committed`.
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
  var change: GrantChange?
  /// The later grants of the same inode as they are after an undo, by identifier.
  var rebased: [String: GrantChange]?
  /// The stage of the grant, for `intent` in a compacted journal.
  var stage: Grant.Stage?
  /// When the inode was changed, for `applied`.
  var changed: Int64?
  /// Why the file is not found, for `missing`.
  var note: String?

  /// The record as one line of JSON, with a newline.
  var line: [UInt8] {
    JSONWriter(sortsKeys: true).bytes(Self.record.json(self)) + [UInt8(ascii: "\n")]
  }

  /// Creates a record that contains a whole grant.
  init(_ grant: Grant, by: UInt32?, pid: Int32?) {
    self.init(
      time: grant.time, event: .intent, id: grant.id, request: grant.request,
      accessor: grant.accessor, path: grant.path, uid: grant.uid, by: by, pid: pid,
      lifetime: grant.lifetime, change: grant.change)
  }

  /// Creates a record with these values.
  init(
    time: String, event: Event, id: String, request: String? = nil, accessor: String? = nil,
    path: PathBytes? = nil, uid: UInt32? = nil, by: UInt32? = nil, pid: Int32? = nil,
    lifetime: Grant.Lifetime? = nil,
    change: GrantChange? = nil
  ) {
    self.time = time
    self.event = event
    self.id = id
    self.request = request
    self.accessor = accessor
    self.path = path
    self.uid = uid
    self.by = by
    self.pid = pid
    self.lifetime = lifetime
    self.change = change
  }
}
