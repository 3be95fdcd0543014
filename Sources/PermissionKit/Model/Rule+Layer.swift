/// A rule of mode or ACL, see `acl_permission_check()` in fs/namei.c.
package enum BitRule: Hashable, Sendable {
  /// The owner's bits.
  case owner
  /// The group's bits; `isMaskEmpty` if there is an ACL that the kernel does not read.
  case group(isMaskEmpty: Bool)
  /// The other bits; `isMaskEmpty` if there is an ACL that the kernel does not read.
  case other(isMaskEmpty: Bool)
  /// The ACL entry of the user with this id; `isMasked` if the mask takes the right away.
  case aclUser(UInt32, isMasked: Bool)
  /// The ACL entry of the owning group.
  case aclOwningGroup(isMasked: Bool)
  /// The ACL entry of the group with this id.
  case aclGroup(UInt32, isMasked: Bool)
  /// The ACL entry of all other subjects.
  case aclOther
}

extension Rule {
  /// The part of the kernel that a rule belongs to, which tells what can be changed.
  package enum Layer: Hashable, Sendable {
    /// Mode and ACL: a change of permissions helps.
    case bits(BitRule)
    /// A capability grants what the bits refuse.
    case capability
    /// The lookup: the path leads to nothing that can be opened.
    case lookup
    /// A symbolic link that the kernel does not follow.
    case link
    /// The flags of a mount, or its superblock.
    case mount
    /// An attribute of the inode: immutable, append-only.
    case attribute
    /// Ids without a mapping on the mount.
    case idMapping
    /// The device cgroup.
    case deviceCgroup
    /// A security module: Landlock.
    case securityModule
    /// A rule of the file system itself.
    case fileSystem
    /// The driver of a device.
    case driver
    /// The call: open(2) asks for something that this kind of file cannot do.
    case call
    /// The kernel asked nothing of the inode itself, or the file would be new.
    case nothing
    /// The deciding fact is not known.
    case unknown
  }

  /// The part of the kernel that the rule belongs to.
  package var layer: Layer {
    switch self {
    case .ownerBits: .bits(.owner)
    case .groupBits: .bits(.group(isMaskEmpty: false))
    case .otherBits: .bits(.other(isMaskEmpty: false))
    case .groupBitsMaskEmpty: .bits(.group(isMaskEmpty: true))
    case .otherBitsMaskEmpty: .bits(.other(isMaskEmpty: true))
    case .aclUser(let id): .bits(.aclUser(id, isMasked: false))
    case .aclOwningGroup: .bits(.aclOwningGroup(isMasked: false))
    case .aclGroup(let id): .bits(.aclGroup(id, isMasked: false))
    case .aclOther: .bits(.aclOther)
    case .maskLimitsUser(let id): .bits(.aclUser(id, isMasked: true))
    case .maskLimitsOwningGroup: .bits(.aclOwningGroup(isMasked: true))
    case .maskLimitsGroup(let id): .bits(.aclGroup(id, isMasked: true))
    case .capDACOverride, .capDACReadSearch: .capability
    case .emptyPath, .pathTooLong, .nameTooLong, .missing, .notADirectory, .tooManyLinks,
      .socketInode, .fifoWithoutReader, .fifoAccessMode:
      .lookup
    case .protectedSymlink, .noSymlinkMount, .openOfSymlink: .link
    case .readOnlySuperblock, .readOnlyMount, .noDeviceMount, .noExecuteMount: .mount
    case .immutable, .appendOnly: .attribute
    case .unmappedOwner, .unmappedSubject: .idMapping
    case .deviceCgroup: .deviceCgroup
    case .landlock: .securityModule
    case .fuseOtherUser, .kernfsMode, .stickyDirectory: .fileSystem
    case .driver: .driver
    case .invalidFlags, .writeToDirectory, .executeDirectory, .executeSpecialFile,
      .notOwnerForNoAccessTime, .exclusiveButExists, .createOnDirectory, .createWithTrailingSlash:
      .call
    case .nothingAsked, .created, .pathOnly: .nothing
    case .unreadable, .unmappedID, .networkFileSystem, .fuseDaemon, .fileSystemRules,
      .unreadableIDMapping:
      .unknown
    }
  }

  /// Whether mode or ACL decided, so that a change of permissions could help.
  package var isOfBits: Bool { if case .bits = layer { true } else { false } }
}
