package import JSONSyntax

// How documents, the journal and the log write the types of the model.

extension JSONCodec<PathBytes> {
  /// A path; bytes that are not UTF-8 are escaped as in `PathBytes.description`.
  package static let path = JSONCodec(
    .string, expected: "a path", to: \.description, from: { PathBytes(escaped: $0) })
}

extension JSONCodec<Permissions> {
  /// Permissions as the digit of a mode, 0 to 7.
  package static let permissions = JSONCodec(
    .integer, expected: "a number from 0 to 7", to: \.rawValue,
    from: { $0 <= 7 ? Permissions(rawValue: $0) : nil })
}

extension JSONCodec<DeviceNumber> {
  /// A device number as major and minor.
  package static let deviceNumber = JSONRecord<DeviceNumber>([
    .required("major", \.major, .integer), .required("minor", \.minor, .integer),
  ]).codec(DeviceNumber(major: 0, minor: 0))
}

extension JSONCodec<AccessControlList> {
  /// An ACL as its entries in order, each with the tag of include/uapi/linux/posix_acl.h.
  package static let acl = JSONRecord<AccessControlList>([
    .required("entries", \.entries, entry.list)
  ]).codec(AccessControlList([]))

  private static let entry = JSONRecord<AccessControlList.Entry>([
    .required("tag", \.tag, .number), .required("id", \.id, .integer),
    .required("permissions", \.permissions, .permissions),
  ]).codec(AccessControlList.Entry(.other, []))
}

extension JSONCodec<AccessControlList?> {
  /// An ACL as setfacl(1) reads it, with numbers; empty if there is none.
  static let list = JSONCodec(
    .string, expected: "an ACL", to: { $0?.brief ?? "" },
    from: { text in
      if text.isEmpty { return .some(nil) }
      return AccessControlList(brief: text).map { .some($0) }
    })
}

extension JSONCodec<IDMapping> {
  /// A pair of id maps; each range is a line of /proc/PID/uid_map or gid_map.
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
  /// Credentials: ids and groups as numbers, capabilities as bits.
  package static let credentials = JSONRecord<Credentials>([
    .required("user", \.user, ids), .required("group", \.group, ids),
    .required("groups", \.groups, JSONCodec<UInt32>.integer.list),
    .required("effective", \.effective, .number), .required("permitted", \.permitted, .number),
    .optional("userNamespace", \.userNamespace, .idMapping),
    .required("noSetUIDFixup", \.noSetUIDFixup, .bool),
  ]).codec(Credentials(uid: .max, gid: .max, groups: []))

  private static let ids = JSONRecord<Credentials.IDs>([
    .required("real", \.real, .integer), .required("effective", \.effective, .integer),
    .required("fileSystem", \.fileSystem, .integer),
  ]).codec(Credentials.IDs(0))
}

extension JSONCodec<[UInt8]> {
  /// Bytes as hexadecimal digits.
  static let hexadecimal = JSONCodec<[UInt8]>(
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
}
