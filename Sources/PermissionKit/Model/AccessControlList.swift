/// A POSIX access ACL, its entries in the order in which the file system keeps them, see acl(5).
public struct AccessControlList: Hashable, Sendable {
  /// What an entry is about.
  ///
  /// The values are the tags of include/uapi/linux/posix_acl.h.
  public enum Tag: UInt16, Hashable, Sendable {
    /// ACL_USER_OBJ: the owner, whom the mask does not bound.
    case owner = 0x01
    /// ACL_USER: the user with this id, bounded by the mask.
    case user = 0x02
    /// ACL_GROUP_OBJ: the inode's own group, bounded by the mask.
    case owningGroup = 0x04
    /// ACL_GROUP: the group with this id, bounded by the mask.
    case group = 0x08
    /// ACL_MASK: the most that named users and all groups are granted.
    case mask = 0x10
    /// ACL_OTHER: whoever no other entry is about; the mask does not bound it.
    case other = 0x20
  }

  /// One entry; `id` means something for `user` and `group` only.
  public struct Entry: Hashable, Sendable {
    /// Whom the entry is about.
    public var tag: Tag
    /// The uid of a `user` entry, the gid of a `group` entry.
    public var id: UInt32
    /// What the entry holds, before the mask bounds it.
    public var permissions: Permissions

    /// Makes one of its parts; an id is for `user` and `group` only.
    public init(_ tag: Tag, id: UInt32 = Self.undefinedID, _ permissions: Permissions) {
      self.tag = tag
      self.id = id
      self.permissions = permissions
    }

    /// Whether the mask bounds it.
    var isMasked: Bool { tag == .user || tag == .owningGroup || tag == .group }

    /// ACL_UNDEFINED_ID, what the extended attribute holds where an id means nothing.
    public static let undefinedID = UInt32.max
  }

  /// The entries; of several that name a user the first decides.
  public var entries: [Entry]

  /// Makes an ACL of entries in their order; whether it is valid is not checked.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// The ACL that a mode alone stands for.
  init(mode: UInt16) {
    self.init([
      Entry(.owner, Permissions(rawValue: UInt8(mode >> 6 & 7))),
      Entry(.owningGroup, Permissions(rawValue: UInt8(mode >> 3 & 7))),
      Entry(.other, Permissions(rawValue: UInt8(mode & 7))),
    ])
  }

  /// The mask, which bounds every entry but `owner` and `other`; nil when there is none.
  public var mask: Permissions? { entries.first { $0.tag == .mask }?.permissions }
}

// MARK: - The extended attribute

extension AccessControlList {
  /// Reads the value of `system.posix_acl_access`, as getxattr(2) gives it.
  ///
  /// Version 2, then entries of 8 bytes, little-endian: tag, permissions, id. See
  /// include/uapi/linux/posix_acl_xattr.h and `posix_acl_from_xattr()` in fs/posix_acl.c.
  ///
  /// - Returns: Nil when the bytes are no such value: wrong version, length, tag or permissions.
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

  /// The value for setxattr(2): what `init(xattr:)` reads.
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
  /// As getfacl(1) prints it with -n: `user:1000:rw-`, `mask::r--`.
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
