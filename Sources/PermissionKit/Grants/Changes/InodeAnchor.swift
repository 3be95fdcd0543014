/// The identity of an inode, by which it is found again after a move or on another mount.
package struct InodeAnchor: Hashable, Sendable {
  /// The result of name_to_handle_at(2); nil if the file system has no handles.
  package var handle: [UInt8]?
  /// The handle of the folder that the path is in; nil if it is unknown.
  var folder: [UInt8]?
  /// The type of the file system, see statfs(2).
  package var type: UInt64
  /// The id of the file system, see `FileSystemFields.id`.
  package var fileSystem: UInt64
  /// The block device, see `BlockDevices`; nil if a copy would have the same.
  var device: String?
  /// /proc/sys/kernel/random/boot_id; nil if it cannot be read.
  package var boot: String?

  /// Creates an anchor with these values.
  package init(handle: [UInt8]?, type: UInt64, fileSystem: UInt64, boot: String?) {
    self.handle = handle
    self.type = type
    self.fileSystem = fileSystem
    self.boot = boot
  }

  /// Reads the anchor of an inode that is open, perhaps with O_PATH; nil if fstatfs(2) fails.
  init?(_ descriptor: Descriptor, _ system: any System) {
    guard var fields = try? system.fstatfs(descriptor) else { return nil }
    // The UUID of an XFS wants a descriptor that is not O_PATH, and a device must not be opened.
    if fields.type == 0x5846_5342, let whole = Self.fields(ofMountOf: descriptor, system) {
      fields = whole
    }
    self.init(
      handle: try? system.name_to_handle_at(descriptor), type: fields.type, fileSystem: fields.id,
      boot: Self.boot(system))
  }

  /// Returns the fields of the mount that an inode is on, read at its mount point.
  private static func fields(
    ofMountOf descriptor: Descriptor, _ system: any System
  ) -> FileSystemFields? {
    guard let status = try? system.statx(descriptor),
      let bytes = try? system.contents(of: MountTable.own, limit: 1 << 26),
      let mount = MountTable(mountinfo: bytes).mounts.first(where: { $0.id == status.mount }),
      let folder = try? system.openRoot(of: mount, through: [])
    else { return nil }
    defer { system.close(folder) }
    guard (try? system.statx(folder))?.fileSystem == status.fileSystem else { return nil }
    return try? system.fstatfs(folder)
  }

  /// /proc/sys/kernel/random/boot_id; nil if it cannot be read.
  static func boot(_ system: any System) -> String? {
    system is LinuxSystem ? present : read(system)
  }

  /// It stays the same as long as this process lives.
  private static let present = read(LinuxSystem())

  private static func read(_ system: any System) -> String? {
    (try? system.line(of: "/proc/sys/kernel/random/boot_id"))?.description
  }

  /// Whether the file system ends with the boot: tmpfs and devtmpfs, ramfs, sysfs, or cgroups of either version.
  var isInMemory: Bool {
    switch type {
    case 0x0102_1994, 0x8584_58f6, 0x6265_6572, 0x6367_7270, 0x27_e0eb: true
    default: false
    }
  }
}

extension InodeIdentity {
  /// Returns whether both are the same inode, by the members that both have.
  ///
  /// The time of birth distinguishes an inode from a later one with the same number. It also proves
  /// that an inode is the same if its file system has another device number now.
  func matches(_ other: InodeIdentity) -> Bool {
    guard inode == other.inode, type == other.type, device == other.device else { return false }
    if let birth, let otherBirth = other.birth { return birth == otherBirth }
    return fileSystem == other.fileSystem
  }
}
