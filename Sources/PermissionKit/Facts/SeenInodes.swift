/// The inodes that a `FactsReader` has read, which it finds again by the fields of statx(2).
struct SeenInodes {
  /// Additional knowledge about one inode.
  struct Inode {
    let identity: InodeIdentity
    /// The mount id; the same inode on another mount is another element, with other flags.
    let mount: UInt64?
    /// The descriptor of a directory, in which names can be looked up, or of a file that a link of /proc jumps to.
    let descriptor: Descriptor?
    var parentIsKnown: Bool
  }

  private struct Key: Hashable {
    let inode: UInt64
    let fileSystem: DeviceNumber
    let mount: UInt64?
  }

  /// The inodes, in the order of the facts.
  var inodes: [Inode] = []
  private var indices: [Key: Int] = [:]

  /// Returns the index of an inode that was read before; nil for any other inode.
  func index(of status: StatusFields) -> Int? {
    indices[Key(inode: status.inode, fileSystem: status.fileSystem, mount: status.mount)]
  }

  /// Adds an inode.
  mutating func append(_ inode: Inode) {
    let identity = inode.identity
    indices[Key(inode: identity.inode, fileSystem: identity.fileSystem, mount: inode.mount)] =
      inodes.count
    inodes.append(inode)
  }
}
