internal import JSONSyntax

/// One line of the journal.
struct GrantRecord: Sendable {
  enum Event: String, Sendable {
    /// The record of an ACL with leases, written before the ACL is changed.
    case leased
    /// The request begins to make this change.
    case intent
    /// The change is made.
    case applied
    /// Every change of the request is made.
    case committed
    /// The undo of the change begins.
    case undoing
    /// The change is undone on its folder, but new files there may have inherited an entry.
    case released
    /// The change cannot be undone, because the file is not found.
    case missing
    /// The change is undone, or was never made.
    case undone
  }

  /// The version of this format; before version 3 each grant had the states of its inode.
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
  /// The record of an ACL, for `leased`: a `LeaseOutcome`.
  var leased: JSONValue?
  /// The later grants of the same inode after an undo, by identifier, before version 3.
  var rebased: JSONValue?
  /// The stage of the grant, for `intent` in a compacted journal.
  var stage: Grant.Stage?
  /// When the inode was changed, for `applied`, `undone` and `leased`.
  var changed: Int64?
  /// When the inode was changed at first, for `leased`; never in a journal.
  var applied: Int64?
  /// Why the file is not found, for `missing`; which files were not reached, for `released`.
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

  /// Creates the record of an ACL.
  init(time: String, _ acl: String, _ outcome: LeaseOutcome) {
    self.init(time: time, event: .leased, id: acl, leased: Self.leased.encode(outcome))
    changed = outcome.record.changed
  }

  /// The record as one line of JSON, with a newline.
  var line: [UInt8] {
    JSONWriter(sortsKeys: true).bytes(Self.record.json(self)) + [UInt8(ascii: "\n")]
  }

  /// Whether the sweep did not reach some file that inherited an entry.
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

  /// The change of an owning group; nil for another change.
  var owningGroup: OwningGroupGrant? {
    guard change?["owningGroup"] != nil, case .owningGroup(let group) = grant?.change else {
      return nil
    }
    return group
  }

  /// The change of an inode; nil for another change.
  var inodeGrant: InodeGrant? {
    get { if case .inode(let inode) = grant?.change { inode } else { nil } }
    set { change = newValue.map { Self.change.encode(.inode($0)) } }
  }

  /// The record of the ACL, for `leased`; without `seen` once it was written.
  var remembered: LeasedACL? {
    guard let leased, var record = (try? Self.leased.decode(leased))?.record else { return nil }
    if stage == .applied { record.seen = nil }
    record.changed = changed
    // The clock of this process was ahead of that of the file system.
    guard let applied else { return record }
    record.since = record.since.map { min($0, applied) }
    for index in record.given.indices {
      record.given[index].since = min(record.given[index].since, applied)
    }
    return record
  }
}

// Writes and reads the lines of the journal.

extension GrantRecord {
  /// The members of a line.
  static let record = JSONRecord<GrantRecord>([
    .required("v", \.v, .integer), .required("time", \.time, .string),
    .required("event", \.event, .name), .required("id", \.id, .string),
    .optional("ids", \.ids, JSONCodec<String>.string.list),
    .optional("request", \.request, .string), .optional("accessor", \.accessor, .string),
    .optional("path", \.path, .path), .optional("uid", \.uid, .integer),
    .optional("by", \.by, .integer),
    .optional("pid", \.pid, .integer), .optional("lifetime", \.lifetime, .lifetime),
    .optional("change", \.change, .raw), .optional("stage", \.stage, .name),
    .optional("note", \.note, .string), .optional("changed", \.changed, .integer),
    .optional("acl", \.acl, .string), .optional("leased", \.leased, .raw),
    .optional("rebased", \.rebased, .raw),
  ])

  /// The codec of the member `change` of a line.
  static let change = JSONCodec<GrantChange>.change
  /// The codec of the member `leased` of a line.
  static let leased = JSONRecord<LeaseOutcome>([
    .required("base", \.record.base, .list), .required("written", \.record.written, .list),
    .optional("seen", \.record.seen, .list), .optional("owner", \.record.owner, .integer),
    .required("mask", \.record.hadMask, .bool),
    .optional(
      "given", given.list, get: { $0.record.given.isEmpty ? nil : $0.record.given },
      set: { $0.record.given = $1 }),
    .optional("since", \.record.since, .integer), .optional("origin", \.record.origin, .brief),
    .optional(
      "rights", .rights, get: { $0.rights.isEmpty ? nil : $0.rights }, set: { $0.rights = $1 }),
    .optional(
      "ended", JSONCodec<String>.string.list, get: { $0.ended.isEmpty ? nil : $0.ended },
      set: { $0.ended = $1 }),
  ]).codec(LeaseOutcome(record: LeasedACL(nil, owner: nil)))

  private static let given = JSONRecord<GivenEntry>([
    .required("uid", \.uid, .integer), .required("since", \.since, .integer),
    .required("rights", \.rights, .values), .optional("at", \.at, .bootTime),
  ]).codec(GivenEntry(uid: 0, since: 0))

  /// The codec of a line.
  static let codec = record.codec(GrantRecord(time: "", event: .intent, id: ""))
}

extension JSONCodec<Grant.Lifetime> {
  fileprivate static let lifetime = JSONRecord<Grant.Lifetime>([
    .optional("expires", \.expires, .integer), .optional("process", \.process, process),
    .optional("at", \.end, .bootTime),
  ]).codec(Grant.Lifetime())

  private static let process = JSONRecord<ProcessMark>([
    .required("pid", \.pid, .integer), .required("start", \.start, .integer),
  ]).codec(ProcessMark(pid: 0, start: 0))
}

extension JSONCodec<BootTime> {
  fileprivate static let bootTime = JSONRecord<BootTime>([
    .required("boot", \.boot, .string), .required("time", \.time, .integer),
  ]).codec(BootTime(boot: "", time: 0))
}

extension JSONCodec<GrantChange> {
  /// An object with one member, whose name is the kind of change.
  fileprivate static let change = JSONCodec(
    schema: JSONSchema.object(nil, required: [], properties: []),
    encode: { change in
      switch change {
      case .inode(let grant): ["inode": JSONCodec<InodeGrant>.inode.encode(grant)]
      case .owningGroup(let grant):
        ["owningGroup": JSONCodec<OwningGroupGrant>.owningGroup.encode(grant)]
      case .group(let grant): ["group": JSONCodec<GroupGrant>.group.encode(grant)]
      case .udevRule(let grant): ["udevRule": JSONCodec<UdevRuleGrant>.udevRule.encode(grant)]
      }
    }
  ) { json in
    if let inode = json["inode"] { return .inode(try JSONCodec<InodeGrant>.inode.decode(inode)) }
    if let group = json["owningGroup"] {
      return .owningGroup(try JSONCodec<OwningGroupGrant>.owningGroup.decode(group))
    }
    if let group = json["group"] { return .group(try JSONCodec<GroupGrant>.group.decode(group)) }
    guard let rule = json["udevRule"] else {
      throw JSONMismatch(expected: "a member inode, owningGroup, group or udevRule")
    }
    return .udevRule(try JSONCodec<UdevRuleGrant>.udevRule.decode(rule))
  }
}

extension JSONCodec<InodeGrant> {
  fileprivate static let inode = JSONRecord<InodeGrant>([
    .required("path", \.path, .path), .required("identity", \.identity, identity),
    .required("uid", \.uid, .integer), .optional("user", \.user, .string),
    .required("permissions", \.permissions, .permissions),
    .required("persistence", \.persistence, .name),
    .required("attribute", \.attribute, .name),
    .required("arguments", \.arguments, JSONCodec<PathBytes>.path.list),
    .optional("bits", \.bits, .integer), .optional("anchor", \.anchor, anchor),
  ]).codec(.blank)

  private static let anchor = JSONRecord<InodeAnchor>([
    .optional("handle", \.handle, .hexadecimal), .optional("folder", \.folder, .hexadecimal),
    .optional("device", \.device, .string),
    .required("type", \.type, .integer),
    .required("fileSystem", \.fileSystem, .integer), .optional("boot", \.boot, .string),
  ]).codec(InodeAnchor(handle: nil, type: 0, fileSystem: 0, boot: nil))

  private static let identity = JSONRecord<InodeIdentity>([
    .required("fileSystem", \.fileSystem, .deviceNumber), .required("inode", \.inode, .integer),
    .required("type", \.type, .integer), .required("device", \.device, .deviceNumber),
    .optional("birth", \.birth, .integer),
  ]).codec(InodeIdentity(StatusFields(mode: 0, uid: 0, gid: 0, inode: 0)))
}

extension InodeGrant {
  /// An empty value that the codec fills with the members of a document.
  fileprivate static let blank = InodeGrant(
    path: "", identity: InodeIdentity(StatusFields(mode: 0, uid: 0, gid: 0, inode: 0)), uid: .max,
    user: nil, permissions: [], persistence: .permanent, attribute: .accessACL, arguments: [])
}

extension JSONCodec<JSONValue> {
  /// Members that are decoded only on demand.
  fileprivate static let raw = JSONCodec(schema: .bool(true), encode: { $0 }, decode: { $0 })
}

extension InodeGrant.State {
  /// Parses a state in an old journal.
  init?(_ json: JSONValue?) {
    guard let json, let mode: UInt16 = json["mode"]?.integer() else { return nil }
    let acl = json["acl"].map { try? JSONCodec<AccessControlList>.acl.decode($0) }
    if case .some(.none) = acl { return nil }
    self.init(mode: mode, acl: acl ?? nil)
  }
}

extension JSONCodec<[String: Permissions]> {
  /// Permissions by the identifiers of grants.
  fileprivate static let rights = JSONCodec(
    schema: JSONSchema.object(nil, required: [], properties: []),
    encode: { .object(JSONObject($0.map { ($0.key, JSONValue($0.value.rawValue)) })) },
    decode: { json in
      (json.object?.members ?? []).reduce(into: [:]) { rights, member in
        rights[member.key] = Permissions(rawValue: member.value.integer() ?? 0)
      }
    })
}

extension JSONCodec<Set<Permissions>> {
  /// Permissions, each as the digit of a mode.
  fileprivate static let values = JSONCodec(
    JSONCodec<Permissions>.permissions.list, expected: "permissions",
    to: { $0.sorted { $0.rawValue < $1.rawValue } }, from: { Set($0) })
}

extension JSONCodec<AccessControlList> {
  /// An ACL as setfacl(1) reads it, with numbers.
  fileprivate static let brief = JSONCodec(
    .string, expected: "an ACL", to: \.brief, from: { AccessControlList(brief: $0) })
}

extension JSONCodec<OwningGroupGrant> {
  fileprivate static let owningGroup = JSONRecord<OwningGroupGrant>([
    .required("file", \.file, .inode), .required("group", \.group, .string),
    .required("before", \.before, state), .required("after", \.after, state),
    .required("others", \.others, .integer),
  ]).codec(
    OwningGroupGrant(
      file: .blank, group: "", before: .init(gid: 0, bits: 0), after: .init(gid: 0, bits: 0),
      others: 0))

  private static let state = JSONRecord<OwningGroupGrant.State>([
    .required("gid", \.gid, .integer), .required("bits", \.bits, .integer),
  ]).codec(OwningGroupGrant.State(gid: 0, bits: 0))
}

extension JSONCodec<GroupGrant> {
  fileprivate static let group = JSONRecord<GroupGrant>([
    .required("user", \.user, .string), .required("group", \.group, .string),
    .optional("uid", \.uid, .integer), .optional("gid", \.gid, .integer),
    .optional("since", \.since, .integer),
  ]).codec(GroupGrant(user: "", group: ""))
}

extension JSONCodec<UdevRuleGrant> {
  fileprivate static let udevRule = JSONRecord<UdevRuleGrant>([
    .required("path", \.path, .path), .required("contents", \.contents, .string),
    .required("entries", \.entries, JSONCodec<InodeGrant>.inode.list),
  ]).codec(UdevRuleGrant(path: "", contents: "", entries: []))
}
