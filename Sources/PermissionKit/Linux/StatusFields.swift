/// The fields of statx(2) that matter for a decision.
@_spi(SystemCalls) public struct StatusFields: Hashable, Sendable {
  /// The S_IFMT bits and the 07777 bits.
  public var mode: UInt32
  /// `stx_uid`: the owner, in the user namespace of the reader.
  public var uid: UInt32
  /// `stx_gid`: the owning group, in the user namespace of the reader.
  public var gid: UInt32
  /// `stx_rdev`: the number of a device node; 0:0 for any other file.
  public var device: DeviceNumber
  /// `stx_dev`: the device that holds the file system.
  public var fileSystem: DeviceNumber
  /// `stx_ino`: the inode number, unique within its file system.
  public var inode: UInt64
  /// `stx_nlink`: the number of names of the inode.
  public var links: UInt32
  /// `stx_mnt_id`; nil before Linux 5.8.
  public var mount: UInt64?
  /// STATX_ATTR_IMMUTABLE: nobody can write to the file, see ioctl_iflags(2).
  public var isImmutable: Bool
  /// STATX_ATTR_APPEND: writers can only add to the end of the file, see ioctl_iflags(2).
  public var isAppendOnly: Bool
  /// `stx_size`: the size in bytes.
  public var size: UInt64 = 0
  /// STATX_ATTR_ENCRYPTED: the file system encrypts the file or directory, see fscrypt.
  public var isEncrypted = false
  /// `stx_btime` in nanoseconds since 1970: when the inode was created; nil if the file system does
  /// not report it.
  public var birth: Int64?
  /// `stx_ctime` in nanoseconds since 1970: when owner, mode or ACL last changed; nil if unknown.
  public var changed: Int64?
  /// `stx_mtime` in nanoseconds since 1970: when a directory last got or lost a name.
  public var modified: Int64 = 0

  /// Creates the fields.
  ///
  /// - Parameters:
  ///   - mode: The S_IFMT bits and the 07777 bits.
  ///   - uid: The owner.
  ///   - gid: The owning group.
  ///   - device: The number of a device node.
  ///   - fileSystem: The device that holds the file system.
  ///   - inode: The inode number.
  ///   - links: The number of names of the inode.
  ///   - mount: The mount id; nil before Linux 5.8.
  ///   - isImmutable: Whether STATX_ATTR_IMMUTABLE is set.
  ///   - isAppendOnly: Whether STATX_ATTR_APPEND is set.
  ///   - birth: When the inode was created, in nanoseconds since 1970.
  ///   - changed: When owner, mode or ACL last changed, in nanoseconds since 1970.
  public init(
    mode: UInt32, uid: UInt32, gid: UInt32, device: DeviceNumber = .init(major: 0, minor: 0),
    fileSystem: DeviceNumber = .init(major: 0, minor: 0), inode: UInt64,
    links: UInt32 = 1, mount: UInt64? = nil, isImmutable: Bool = false, isAppendOnly: Bool = false,
    birth: Int64? = nil, changed: Int64? = nil
  ) {
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.device = device
    self.fileSystem = fileSystem
    self.inode = inode
    self.links = links
    self.mount = mount
    self.isImmutable = isImmutable
    self.isAppendOnly = isAppendOnly
    self.birth = birth
    self.changed = changed
  }

  /// The file type; nil if inode(7) does not list the S_IFMT bits.
  public var kind: FileKind? { Self.kind(ofMode: mode) }

  static func kind(ofMode mode: UInt32) -> FileKind? {
    switch mode & 0o170000 {
    case 0o040000: .directory
    case 0o100000: .regular
    case 0o120000: .symbolicLink
    case 0o020000: .characterDevice
    case 0o060000: .blockDevice
    case 0o010000: .fifo
    case 0o140000: .socket
    default: nil
    }
  }
}

/// The fields of fstatfs(2) that matter for a decision.
@_spi(SystemCalls) public struct FileSystemFields: Hashable, Sendable {
  /// `f_flags`: ST_… bits of sys/statvfs.h.
  public var flags: UInt64
  /// `f_type`: a magic number of linux/magic.h.
  public var type: UInt64
  /// `f_fsid`, which ext4 and btrfs derive from the UUID of the file system; for XFS its UUID if the
  /// descriptor is not O_PATH, and else its device number.
  public var id: UInt64

  /// Creates the fields.
  public init(flags: UInt64, type: UInt64, id: UInt64 = 0) {
    self.flags = flags
    self.type = type
    self.id = id
  }

  /// Whether ST_NOSUID is set: execve(2) ignores set-user-ID bits and file capabilities.
  package var ignoresSetUID: Bool { flags & 2 != 0 }
}
