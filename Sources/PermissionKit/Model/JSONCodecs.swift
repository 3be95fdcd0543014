package import JSONSyntax

// How the words of the model are written in documents, the journal and the log.

extension JSONCodec<PathBytes> {
  /// Paths, bytes that are not UTF-8 escaped as `PathBytes.description` does.
  package static let path = JSONCodec(
    .string, expected: "a path", to: \.description, from: { PathBytes(escaped: $0) })
}

extension JSONCodec<Permissions> {
  /// The digit of a mode, 0 to 7.
  package static let permissions = JSONCodec(
    .integer, expected: "a number from 0 to 7", to: \.rawValue,
    from: { $0 <= 7 ? Permissions(rawValue: $0) : nil })
}

extension JSONCodec<DeviceNumber> {
  /// Major and minor.
  package static let deviceNumber = JSONRecord<DeviceNumber>([
    .required("major", \.major, .integer), .required("minor", \.minor, .integer),
  ]).codec(DeviceNumber(major: 0, minor: 0))
}

extension JSONCodec<AccessControlList> {
  /// The entries in their order, each with the tag of include/uapi/linux/posix_acl.h.
  package static let acl = JSONRecord<AccessControlList>([
    .required("entries", \.entries, entry.list)
  ]).codec(AccessControlList([]))

  private static let entry = JSONRecord<AccessControlList.Entry>([
    .required("tag", \.tag, .number), .defaulted("id", \.id, .integer),
    .required("permissions", \.permissions, .permissions),
  ]).codec(AccessControlList.Entry(.other, []))
}

extension JSONCodec<IDMapping> {
  /// The maps of users and groups, a range for each line of /proc/PID/uid_map.
  package static let idMapping = JSONRecord<IDMapping>([
    .required("users", \.users, map), .required("groups", \.groups, map),
  ]).codec(IDMapping(users: IDMap([]), groups: IDMap([])))

  private static let map = JSONRecord<IDMap>([.required("ranges", \.ranges, range.list)])
    .codec(IDMap([]))

  private static let range = JSONRecord<IDMap.Range>([
    .required("inside", \.inside, .integer), .required("outside", \.outside, .integer),
    .required("count", \.count, .integer),
  ]).codec(IDMap.Range(inside: 0, outside: 0, count: 0))
}

extension JSONCodec<Credentials> {
  /// Ids, groups and capabilities, the latter as bits.
  package static let credentials = JSONRecord<Credentials>([
    .required("user", \.user, ids), .required("group", \.group, ids),
    .required("groups", \.groups, JSONCodec<UInt32>.integer.list),
    .required("effective", \.effective, .number), .defaulted("permitted", \.permitted, .number),
    .optional("userNamespace", \.userNamespace, .idMapping),
    .defaulted("noSetUIDFixup", \.noSetUIDFixup, .bool),
  ]).codec(Credentials(uid: .max, gid: .max, groups: []))

  private static let ids = JSONRecord<Credentials.IDs>([
    .required("real", \.real, .integer), .required("effective", \.effective, .integer),
    .required("fileSystem", \.fileSystem, .integer),
  ]).codec(Credentials.IDs(0))
}
