/// What was read about one inode: all that the kernel looks at when it decides on access.
///
/// Ids are as statx(2) shows them in the view that read them, before any idmapped mount is undone.
public struct InodeFacts: Hashable, Sendable, Codable {
  /// A name in a directory and what was found there.
  public struct Entry: Hashable, Sendable {
    /// One component, as getdents64(2) gives it.
    public var name: PathBytes
    /// What a lookup of the name gave.
    public var found: Found

    /// What a lookup can give.
    public enum Found: Hashable, Sendable {
      /// The inode with this index in `AccessFacts.inodes`.
      case inode(Int)
      /// Nothing: a lookup gives ENOENT.
      case missing
      /// The lookup itself was refused to the reader: nothing is known.
      case unreadable(Errno)
    }

    /// Makes one of its parts.
    public init(name: PathBytes, found: Found) {
      self.name = name
      self.found = found
    }
  }

  /// The file type, on which it depends what else is asked.
  public var kind: FileKind
  /// Permission bits with set-id and sticky bits, 07777.
  ///
  /// With an ACL the group bits are its mask.
  public var mode: UInt16
  /// The owner's uid, `stx_uid`.
  public var uid: UInt32
  /// The owning group's gid, `stx_gid`.
  public var gid: UInt32
  /// The access ACL; nil when the inode has none beyond its mode.
  public var acl: AccessControlList?
  /// Of a directory: the ACL that what is created in it inherits; read only where it is asked for.
  public var defaultACL: AccessControlList?
  /// The ACL could not be read, for this reason; `acl` then says nothing.
  public var aclError: Errno?
  /// The file system keeps ACLs; nil when it was not asked.
  public var hasACLs: Bool?
  /// STATX_ATTR_IMMUTABLE, see ioctl_iflags(2).
  public var isImmutable = false
  /// STATX_ATTR_APPEND, see ioctl_iflags(2).
  public var isAppendOnly = false
  /// The device number of a device node.
  public var device: DeviceNumber?
  /// What the driver's own open answers, where that is known; 0 when it opens.
  public var driverErrno: Errno?
  /// Index into `AccessFacts.mounts`.
  public var mount: Int
  /// Index of the directory that `..` leads to; a root is its own parent.
  public var parent: Int
  /// Of a directory: the names that were looked up, or all there are.
  public var entries: [Entry] = []
  /// `entries` holds every name: one that is not there is missing.
  public var entriesAreComplete = false
  /// Of a symbolic link: its target, as readlink(2) gives it.
  public var target: PathBytes?
  /// Of a magic link (/proc/PID/fd/N): the inode it jumps to, see `nd_jump_link()` in fs/namei.c.
  public var jump: Int?

  /// Makes one of its parts; attributes, entries and what failed are set afterwards.
  public init(
    kind: FileKind, mode: UInt16, uid: UInt32, gid: UInt32, acl: AccessControlList? = nil,
    device: DeviceNumber? = nil, mount: Int = 0, parent: Int = 0, target: PathBytes? = nil
  ) {
    self.kind = kind
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.acl = acl
    self.device = device
    self.mount = mount
    self.parent = parent
    self.target = target
  }

  /// The mode as ls(1) prints it: `crw-rw----`, with a `+` behind it when there is an ACL.
  public var modeText: String {
    let type =
      switch kind {
      case .directory: "d"
      case .regular: "-"
      case .symbolicLink: "l"
      case .characterDevice: "c"
      case .blockDevice: "b"
      case .fifo: "p"
      case .socket: "s"
      }
    func triplet(_ shift: UInt16, _ special: UInt16, _ letter: String) -> String {
      let bits = Permissions(rawValue: UInt8(mode >> shift & 7))
      guard mode & special != 0 else { return bits.description }
      let last = bits.contains(.execute) ? letter : letter.uppercased()
      return String(bits.description.dropLast()) + last
    }
    return type + triplet(6, 0o4000, "s") + triplet(3, 0o2000, "s") + triplet(0, 0o1000, "t")
      + (acl == nil ? "" : "+")
  }
}

extension InodeFacts.Entry: Codable {
  private enum CodingKeys: String, CodingKey { case name, inode, errno }

  /// Reads `{name, inode}`, `{name, errno}` for what could not be looked up, or `{name}` for what
  /// is not there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let name = try container.decode(PathBytes.self, forKey: .name)
    if let inode = try container.decodeIfPresent(Int.self, forKey: .inode) {
      self.init(name: name, found: .inode(inode))
    } else if let errno = try container.decodeIfPresent(Errno.self, forKey: .errno) {
      self.init(name: name, found: .unreadable(errno))
    } else {
      self.init(name: name, found: .missing)
    }
  }

  /// Writes what `init(from:)` reads.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    switch found {
    case .inode(let index): try container.encode(index, forKey: .inode)
    case .unreadable(let errno): try container.encode(errno, forKey: .errno)
    case .missing: break
    }
  }
}
