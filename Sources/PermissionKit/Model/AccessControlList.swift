/// A POSIX access ACL.
///
/// Entries are in the order in which the file system keeps them. See acl(5).
public struct AccessControlList: Hashable, Sendable {
  /// The user or group that an entry is about.
  ///
  /// The values are the tags of include/uapi/linux/posix_acl.h.
  public enum Tag: UInt16, Hashable, Sendable {
    /// ACL_USER_OBJ: the owner, whose entry the mask does not limit.
    case owner = 0x01
    /// ACL_USER: the user with this id; the mask limits the entry.
    case user = 0x02
    /// ACL_GROUP_OBJ: the owning group of the inode; the mask limits the entry.
    case owningGroup = 0x04
    /// ACL_GROUP: the group with this id; the mask limits the entry.
    case group = 0x08
    /// ACL_MASK: the most that named users and all groups are granted.
    case mask = 0x10
    /// ACL_OTHER: every subject that no other entry matches; the mask does not limit the entry.
    case other = 0x20
  }

  /// One entry of an ACL.
  public struct Entry: Hashable, Sendable {
    /// The user or group that the entry is about.
    public var tag: Tag
    /// The uid of a `user` entry or the gid of a `group` entry; without meaning for other tags.
    public var id: UInt32
    /// The permissions of the entry, before the mask limits them.
    public var permissions: Permissions

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - tag: The user or group that the entry is about.
    ///   - id: The uid of a `user` entry or the gid of a `group` entry; leave out for other tags.
    ///   - permissions: The permissions, before the mask limits them.
    public init(_ tag: Tag, id: UInt32 = Self.undefinedID, _ permissions: Permissions) {
      self.tag = tag
      self.id = id
      self.permissions = permissions
    }

    /// Whether the mask limits this entry.
    var isMasked: Bool { tag == .user || tag == .owningGroup || tag == .group }

    /// ACL_UNDEFINED_ID: the id of an entry whose id has no meaning.
    public static let undefinedID = UInt32.max
  }

  /// The entries; if several name the same user, the first one decides.
  public var entries: [Entry]

  /// Creates an ACL with these entries, in this order, without checking that the ACL is valid.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// Creates the ACL that says the same as the permission bits of `mode`.
  init(mode: UInt16) {
    self.init([
      Entry(.owner, Permissions(rawValue: UInt8(mode >> 6 & 7))),
      Entry(.owningGroup, Permissions(rawValue: UInt8(mode >> 3 & 7))),
      Entry(.other, Permissions(rawValue: UInt8(mode & 7))),
    ])
  }

  /// The mask, which limits every entry except `owner` and `other`; nil if the ACL has no mask.
  public var mask: Permissions? { entries.first { $0.tag == .mask }?.permissions }
}

// MARK: - The extended attribute

extension AccessControlList {
  /// Creates an ACL from the value of `system.posix_acl_access`, as getxattr(2) returns it.
  ///
  /// The value is version 2, then entries of 8 bytes, little-endian: tag, permissions, id. See
  /// include/uapi/linux/posix_acl_xattr.h and `posix_acl_from_xattr()` in fs/posix_acl.c.
  /// Nil if the version, the length, a tag or a permission is wrong, or if `owner`, `owningGroup` or
  /// `other` is not there exactly once.
  package init?(xattr bytes: [UInt8]) {
    func number(_ offset: Int, _ length: Int) -> UInt32 {
      var value: UInt32 = 0
      for index in 0..<length { value |= UInt32(bytes[offset + index]) << (8 * UInt32(index)) }
      return value
    }
    guard bytes.count >= 4, (bytes.count - 4) % 8 == 0, number(0, 4) == 2 else { return nil }
    var entries: [Entry] = []
    entries.reserveCapacity((bytes.count - 4) / 8)
    for offset in stride(from: 4, to: bytes.count, by: 8) {
      let permissions = number(offset + 2, 2)
      guard let tag = Tag(rawValue: UInt16(number(offset, 2))), permissions <= 7 else { return nil }
      entries.append(
        Entry(tag, id: number(offset + 4, 4), Permissions(rawValue: UInt8(permissions))))
    }
    let required: [Tag] = [.owner, .owningGroup, .other]
    guard required.allSatisfy({ tag in entries.count { $0.tag == tag } == 1 }) else { return nil }
    self.init(entries)
  }

  /// The value for setxattr(2); `init(xattr:)` reads the same format.
  package var xattr: [UInt8] {
    var bytes: [UInt8] = [2, 0, 0, 0]
    for entry in entries {
      for shift: UInt32 in [0, 8] { bytes.append(UInt8(entry.tag.rawValue >> shift & 0xff)) }
      bytes += [entry.permissions.rawValue, 0]
      for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(entry.id >> shift & 0xff)) }
    }
    return bytes
  }
}

extension AccessControlList.Entry: CustomStringConvertible {
  /// The entry as getfacl(1) prints it with -n: `user:1000:rw-`, `mask::r--`.
  public var description: String {
    switch tag {
    case .owner: "user::\(permissions)"
    case .user: "user:\(id):\(permissions)"
    case .owningGroup: "group::\(permissions)"
    case .group: "group:\(id):\(permissions)"
    case .mask: "mask::\(permissions)"
    case .other: "other::\(permissions)"
    }
  }
}

/// A part of an ACL that is merged as a whole: the bits of the owner, of the owning group or of others,
/// the mask, or the entry of a user or group.
struct ACLItem: Hashable, Sendable {
  let tag: AccessControlList.Tag
  /// The uid or gid of a named entry; `undefinedID` for the other tags.
  let id: UInt32

  init(_ tag: AccessControlList.Tag, id: UInt32 = AccessControlList.Entry.undefinedID) {
    self.tag = tag
    self.id = tag == .user || tag == .group ? id : AccessControlList.Entry.undefinedID
  }

  init(_ entry: AccessControlList.Entry) { self.init(entry.tag, id: entry.id) }

  var isNamed: Bool { tag == .user || tag == .group }
  /// Whether the mask limits the item.
  var isMasked: Bool { isNamed || tag == .owningGroup }
}

extension ACLItem {
  static let owner = ACLItem(.owner)
  static let owningGroup = ACLItem(.owningGroup)
  static let mask = ACLItem(.mask)
}

extension AccessControlList {
  /// The permissions of an item; where a user is named twice the first entry decides.
  subscript(item: ACLItem) -> Permissions? {
    get { entries.first { ACLItem($0) == item }?.permissions }
    set {
      if let newValue {
        set([item: newValue])
      } else {
        entries.removeAll { ACLItem($0) == item }
      }
    }
  }

  /// Sets items; new ones are inserted in the order of posix_acl_valid().
  mutating func set(_ items: [ACLItem: Permissions]) {
    var rest = items
    for index in entries.indices {
      guard let value = rest.removeValue(forKey: ACLItem(entries[index])) else { continue }
      entries[index].permissions = value
    }
    if rest.isEmpty { return }
    entries += rest.map { Entry($0.tag, id: $0.id, $1) }
    sort()
  }

  mutating func sort() {
    entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
  }

  /// Limits the entries that the mask limits.
  mutating func limit(to mask: Permissions) {
    for index in entries.indices where entries[index].isMasked {
      entries[index].permissions.formIntersection(mask)
    }
  }

  /// The items of users and groups, each once.
  var named: [ACLItem] {
    Set(entries.map(ACLItem.init)).filter(\.isNamed).sorted {
      ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id)
    }
  }

  /// Whether the entries form a complete ACL, as acl_valid(3) says, whose time grows with their square.
  package var isValid: Bool {
    let counts = Dictionary(entries.map { (ACLItem($0), 1) }, uniquingKeysWith: +)
    if counts.values.contains(where: { $0 != 1 }) || mask == nil && hasNamed { return false }
    return [.owner, .owningGroup, ACLItem(.other)].allSatisfy { counts[$0] != nil }
      && counts.keys.allSatisfy { !$0.isNamed || $0.id != Entry.undefinedID }
  }

  var hasNamed: Bool { entries.contains { $0.tag == .user || $0.tag == .group } }

  /// The most that named entries and the owning group get.
  var top: Permissions { mask ?? self[.owningGroup] ?? [] }

  /// The ACL with a mask that limits only the owning group folded into the group's bits.
  var withoutIdleMask: AccessControlList {
    guard let mask, !hasNamed else { return self }
    var list = self
    list[.owningGroup]?.formIntersection(mask)
    list[.mask] = nil
    return list
  }

  /// The entries of the owner, the owning group and others.
  var unnamed: AccessControlList {
    AccessControlList(entries.filter { [.owner, .owningGroup, .other].contains($0.tag) })
  }

  /// The nine mode bits of the ACL, as stat(2) shows them.
  var mode: UInt16 {
    entries.reduce(into: 0) { mode, entry in
      let bits = UInt16(entry.permissions.rawValue)
      switch entry.tag {
      case .owner: mode |= bits << 6
      case .mask: mode |= bits << 3
      case .owningGroup: if mask == nil { mode |= bits << 3 }
      case .other: mode |= bits
      case .user, .group: break
      }
    }
  }

  /// The ACL as in `u::rwx,u:5:rwx,g::r-x,m::rwx,o::---`.
  var brief: String { entries.map(\.brief).joined(separator: ",") }

  /// Reads what `brief` writes; nil for anything else.
  init?(brief text: String) {
    self.init([])
    // As bytes: to find characters takes far longer.
    for part in text.utf8.split(separator: UInt8(ascii: ",")) {
      guard let entry = Entry(brief: part) else { return nil }
      entries.append(entry)
    }
  }
}

extension AccessControlList? {
  /// The permissions by item.
  var items: [ACLItem: Permissions] {
    Dictionary(
      (self?.entries ?? []).map { (ACLItem($0), $0.permissions) },
      uniquingKeysWith: { first, _ in first })
  }
}

extension AccessControlList.Entry {
  private static let letters:
    [(letter: Character, unnamed: AccessControlList.Tag, named: AccessControlList.Tag)] = [
      ("u", .owner, .user), ("g", .owningGroup, .group), ("m", .mask, .mask), ("o", .other, .other),
    ]

  /// The entry as in `u:5:rwx`.
  fileprivate var brief: String {
    let kind = Self.letters.first { $0.unnamed == tag || $0.named == tag }?.letter ?? "?"
    return "\(kind):\(ACLItem(self).isNamed ? "\(id)" : ""):\(permissions)"
  }

  /// Reads what `brief` writes; nil for anything else.
  fileprivate init?(brief text: Substring.UTF8View) {
    let fields = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map(Substring.init)
    guard fields.count == 3, fields[0].utf8.count == 1,
      let kind = Self.letters.first(where: { $0.letter.utf8.first == fields[0].utf8.first })
    else { return nil }
    let id = UInt32(fields[1])
    guard let permissions = Permissions(fields[2]), fields[1].isEmpty || id != nil
    else { return nil }
    self.init(id == nil ? kind.unnamed : kind.named, id: id ?? Self.undefinedID, permissions)
  }
}
