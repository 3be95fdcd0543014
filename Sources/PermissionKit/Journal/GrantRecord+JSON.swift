internal import JSONSyntax

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
    .optional("change", \.change, .change), .optional("stage", \.stage, .name),
    .optional("note", \.note, .string), .optional("changed", \.changed, .integer),
    .optional("rebased", \.rebased, JSONCodec<GrantChange>.change.dictionary),
  ])

  /// The codec of the member `change` of a line.
  static let change = JSONCodec<GrantChange>.change

  /// The codec of a line.
  static let codec = record.codec(GrantRecord(time: "", event: .intent, id: ""))
}

extension JSONCodec<Grant.Lifetime> {
  fileprivate static let lifetime = JSONRecord<Grant.Lifetime>([
    .optional("expires", \.expires, .integer), .optional("process", \.process, process),
  ]).codec(Grant.Lifetime())

  private static let process = JSONRecord<ProcessMark>([
    .required("pid", \.pid, .integer), .required("start", \.start, .integer),
  ]).codec(ProcessMark(pid: 0, start: 0))
}

extension JSONCodec<GrantChange> {
  /// An object with one member, whose name is the kind of change.
  fileprivate static let change = JSONCodec(
    schema: JSONSchema.object(nil, required: [], properties: []),
    encode: { change in
      switch change {
      case .inode(let grant): ["inode": JSONCodec<InodeGrant>.inode.encode(grant)]
      case .group(let grant): ["group": JSONCodec<GroupGrant>.group.encode(grant)]
      case .udevRule(let grant): ["udevRule": JSONCodec<UdevRuleGrant>.udevRule.encode(grant)]
      }
    }
  ) { json in
    if let inode = json["inode"] { return .inode(try JSONCodec<InodeGrant>.inode.decode(inode)) }
    if let group = json["group"] { return .group(try JSONCodec<GroupGrant>.group.decode(group)) }
    guard let rule = json["udevRule"] else {
      throw JSONMismatch(expected: "a member inode, group or udevRule")
    }
    return .udevRule(try JSONCodec<UdevRuleGrant>.udevRule.decode(rule))
  }
}

extension JSONCodec<InodeGrant> {
  fileprivate static let inode = JSONRecord<InodeGrant>([
    .required("path", \.path, .path), .required("identity", \.identity, identity),
    .required("uid", \.uid, .integer), .optional("user", \.user, .string),
    .required("permissions", \.permissions, .permissions), .required("before", \.before, state),
    .required("after", \.after, state), .required("persistence", \.persistence, .name),
    .required("attribute", \.attribute, .name),
    .required("arguments", \.arguments, JSONCodec<PathBytes>.path.list),
    .optional("bits", \.bits, .integer), .optional("changed", \.changed, .integer),
    .optional("anchor", \.anchor, anchor),
  ]).codec(.blank)

  private static let anchor = JSONRecord<InodeAnchor>([
    .optional("handle", \.handle, handle), .required("type", \.type, .integer),
    .required("fileSystem", \.fileSystem, .integer), .optional("boot", \.boot, .string),
  ]).codec(InodeAnchor(handle: nil, type: 0, fileSystem: 0, boot: nil))

  /// Bytes as hexadecimal digits.
  private static let handle = JSONCodec<[UInt8]>(
    .string, expected: "hexadecimal digits",
    to: { bytes in
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    },
    from: { text in
      let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
      guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
      return stride(from: 0, to: digits.count, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
      }
    })

  private static let state = JSONRecord<InodeGrant.State>([
    .required("mode", \.mode, .integer), .optional("acl", \.acl, .acl),
  ]).codec(InodeGrant.State(mode: 0, acl: nil))

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
    user: nil, permissions: [], before: State(mode: 0, acl: nil), after: State(mode: 0, acl: nil),
    persistence: .permanent, attribute: .accessACL, arguments: [])
}

extension JSONCodec<GroupGrant> {
  fileprivate static let group = JSONRecord<GroupGrant>([
    .required("user", \.user, .string), .required("group", \.group, .string),
  ]).codec(GroupGrant(user: "", group: ""))
}

extension JSONCodec<UdevRuleGrant> {
  fileprivate static let udevRule = JSONRecord<UdevRuleGrant>([
    .required("path", \.path, .path), .required("contents", \.contents, .string),
    .required("entries", \.entries, JSONCodec<InodeGrant>.inode.list),
  ]).codec(UdevRuleGrant(path: "", contents: "", entries: []))
}
