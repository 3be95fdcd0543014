/// What tells an inode from any other.
package struct InodeIdentity: Hashable, Sendable {
  /// The device that holds the file system.
  package var fileSystem: DeviceNumber
  /// The number of the inode.
  package var inode: UInt64
  /// The S_IFMT bits.
  package var type: UInt32
  /// The number of a device node.
  package var device: DeviceNumber

  /// Takes it out of what statx(2) says.
  package init(_ status: StatusFields) {
    fileSystem = status.fileSystem
    inode = status.inode
    type = status.mode & 0o170000
    device = status.device
  }
}
