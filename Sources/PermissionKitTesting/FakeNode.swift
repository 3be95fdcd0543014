@_spi(SystemCalls) public import PermissionKit

/// The file at one path of a `FakeSystem`: file type, mode, ids, ACL and contents.
public struct FakeNode: Sendable {
  /// The file type.
  public var kind: FileKind
  /// The permission bits, 07777; nil for the usual mode of the file type.
  public var mode: UInt16?
  /// The uid of the owner.
  public var uid: UInt32
  /// The gid of the owning group.
  public var gid: UInt32
  /// The access ACL; its mask replaces the group bits of the mode.
  public var acl: AccessControlList?
  /// The number of a device node.
  public var device: DeviceNumber?
  /// The errno of the driver's open; nil if the driver opens the device.
  public var driver: Errno?
  /// The target of a symbolic link.
  public var target: PathBytes?
  /// The contents of a file.
  public var contents: String
  /// Whether a program listens on a socket.
  public var hasListener = true
  /// Nobody can write to the file, see chattr(1), `+i`.
  public var isImmutable = false
  /// The file can only be added to, see chattr(1), `+a`.
  public var isAppendOnly = false
  /// The file is encrypted, and its key is missing.
  public var isLocked = false

  /// Creates a node; by default an empty file that root owns and everybody can read.
  ///
  /// - Parameters:
  ///   - kind: The file type.
  ///   - mode: The permission bits, 07777; nil for the usual mode of the file type.
  ///   - uid: The uid of the owner.
  ///   - gid: The gid of the owning group.
  ///   - acl: The access ACL.
  ///   - device: The number of a device node.
  ///   - driver: The errno of the driver's open; nil if the driver opens the device.
  ///   - target: The target of a symbolic link.
  ///   - contents: The contents of a file.
  public init(
    kind: FileKind = .regular, mode: UInt16? = nil, uid: UInt32 = 0, gid: UInt32 = 0,
    acl: AccessControlList? = nil, device: DeviceNumber? = nil, driver: Errno? = nil,
    target: PathBytes? = nil, contents: String = ""
  ) {
    self.kind = kind
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.acl = acl
    self.device = device
    self.driver = driver
    self.target = target
    self.contents = contents
  }

  /// Returns a file that root owns and everybody can read.
  public static func file(_ contents: String) -> FakeNode { FakeNode(contents: contents) }

  /// The facts about the inode, without its place in the tree.
  var inode: InodeFacts {
    let standard: UInt16 = kind == .directory ? 0o755 : kind == .symbolicLink ? 0o777 : 0o644
    var inode = InodeFacts(
      kind: kind, mode: mode ?? standard, uid: uid, gid: gid, acl: acl, device: device,
      target: target)
    if let mask = acl?.mask {
      inode.mode = inode.mode & ~0o070 | UInt16(mask.rawValue) << 3
    }
    inode.driverErrno = driver
    inode.isImmutable = isImmutable
    inode.isAppendOnly = isAppendOnly
    inode.isLocked = isLocked
    return inode
  }
}
