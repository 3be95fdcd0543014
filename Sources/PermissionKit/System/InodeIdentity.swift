/// What tells an inode from any other.
public struct InodeIdentity: Hashable, Sendable, Codable {
  /// The device that holds the file system.
  public var fileSystem: DeviceNumber
  /// The number of the inode.
  public var inode: UInt64
  /// The S_IFMT bits.
  public var type: UInt32
  /// The number of a device node.
  public var device: DeviceNumber

  /// Takes it out of what statx(2) says.
  public init(_ status: StatusFields) {
    fileSystem = status.fileSystem
    inode = status.inode
    type = status.mode & 0o170000
    device = status.device
  }
}
