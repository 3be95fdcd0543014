/// The values that distinguish an inode from every other inode.
package struct InodeIdentity: Hashable, Sendable {
  /// The device that holds the file system.
  package var fileSystem: DeviceNumber
  /// The inode number.
  package var inode: UInt64
  /// The file type: the S_IFMT bits.
  package var type: UInt32
  /// The device number of a device node.
  package var device: DeviceNumber
  /// When the inode was created, in nanoseconds since 1970; nil if the file system does not report it, or
  /// an old journal does not contain it.
  package var birth: Int64?

  /// Creates an identity from the fields of statx(2).
  package init(_ status: StatusFields) {
    fileSystem = status.fileSystem
    inode = status.inode
    type = status.mode & 0o170000
    device = status.device
    birth = status.birth
  }
}
