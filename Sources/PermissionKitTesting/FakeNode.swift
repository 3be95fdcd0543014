public import PermissionKit

/// What a `FakeSystem` has at one path: file type, mode, ids, ACL, and what can be read.
public struct FakeNode: Sendable {
  /// The file type.
  public var kind: FileKind
  /// Permission bits, 07777; nil for what is usual for the file type.
  public var mode: UInt16?
  /// The owner.
  public var uid: UInt32
  /// The owning group.
  public var gid: UInt32
  /// The access ACL; its mask takes the place of the mode's group bits.
  public var acl: AccessControlList?
  /// The number of a device node.
  public var device: DeviceNumber?
  /// What the driver's open answers; nil if it opens.
  public var driver: Errno?
  /// Where a symbolic link points.
  public var target: PathBytes?
  /// What can be read from a file.
  public var contents: String
  /// Nobody can write to the file, see chattr(1), `+i`.
  package var isImmutable = false
  /// The file can only be added to, see chattr(1), `+a`.
  package var isAppendOnly = false

  /// Creates a node; by default an empty file of root's that all can read.
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

  /// Returns a file of root's that all can read.
  public static func file(_ contents: String) -> FakeNode { FakeNode(contents: contents) }

  /// The inode without its place in the tree.
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
    return inode
  }
}
