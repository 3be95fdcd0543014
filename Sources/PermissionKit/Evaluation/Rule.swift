/// The rule of the kernel that decided, each with the function that holds it.
///
/// Functions are those of Linux 6.12 to 7.2.
public enum Rule: Hashable, Sendable {
  // MARK: fs/namei.c:acl_permission_check(), fs/posix_acl.c:posix_acl_permission()

  /// The subject owns the inode: the owner's bits alone count.
  case ownerBits
  /// No ACL, and the subject is in the owning group: the group's bits alone count.
  case groupBits
  /// No ACL, neither owner nor in the owning group.
  case otherBits
  /// The mask is empty, so the ACL is not read: group bits, all of them off.
  case groupBitsMaskEmpty
  /// The mask is empty, so the ACL is not read: the other bits, contrary to acl(5).
  case otherBitsMaskEmpty
  /// The ACL entry that names the subject's uid.
  case aclUser(UInt32)
  /// The ACL entry of the owning group.
  case aclOwningGroup
  /// The ACL entry of a named group the subject is in.
  case aclGroup(UInt32)
  /// No other entry of the ACL is about the subject.
  case aclOther
  /// The entry would grant it, but the mask takes the right away.
  case maskLimitsUser(UInt32)
  case maskLimitsOwningGroup
  case maskLimitsGroup(UInt32)

  // MARK: fs/namei.c:generic_permission()

  case capDACOverride
  case capDACReadSearch

  // MARK: fs/namei.c:inode_permission()

  /// Nothing was asked of the inode but that it be there.
  case nothingAsked
  /// fs/namei.c:sb_permission()
  case readOnlySuperblock
  case immutable
  /// HAS_UNMAPPED_ID(): the inode's owner or group means nothing on this mount, so no writing.
  case unmappedOwner
  /// security/device_cgroup.c:devcgroup_check_permission(), or a BPF device program
  case deviceCgroup
  /// fs/fuse/dir.c:fuse_allow_current_process()
  case fuseOtherUser

  // MARK: fs/namei.c:link_path_walk(), lookup_open(), pick_link()

  case emptyPath
  case pathTooLong
  case nameTooLong
  case missing
  case notADirectory
  case tooManyLinks
  /// fs/namei.c:may_follow_link()
  case protectedSymlink
  case noSymlinkMount

  // MARK: fs/open.c:build_open_flags(), do_dentry_open(); fs/namei.c:do_open(), may_open()

  case invalidFlags
  case openOfSymlink
  case writeToDirectory
  case executeDirectory
  case executeSpecialFile
  case noDeviceMount
  case noExecuteMount
  case readOnlyMount
  case appendOnly
  case notOwnerForNoAccessTime
  case exclusiveButExists
  case createOnDirectory
  case createWithTrailingSlash
  /// fs/namei.c:may_create_in_sticky()
  case stickyDirectory
  /// fs/namei.c:may_o_create(): the subject's own ids mean nothing on this mount.
  case unmappedSubject
  case created
  case pathOnly
  /// security/landlock/fs.c:hook_file_open()
  case landlock(LandlockRights)
  /// fs/kernfs/file.c:kernfs_fop_open(): sysfs wants the mode bit, whoever asks.
  case kernfsMode
  /// The driver's own open.
  case driver
  case socketInode
  case fifoWithoutReader
  case fifoAccessMode

  // MARK: undetermined

  /// A name, an inode or an ACL on which the verdict depends could not be read.
  case unreadable
  /// An id that is not mapped in the reader's user namespace, on which the verdict depends.
  case unmappedID
  /// The server of a network file system has the last word.
  case networkFileSystem
  /// The FUSE daemon has the last word.
  case fuseDaemon
  /// The maps of an idmapped mount could not be read.
  case unreadableIDMapping
}

extension Rule: CustomStringConvertible {
  /// A stable token for documents: `group-bits`, `acl-user:1000`.
  public var description: String {
    switch self {
    case .ownerBits: "owner-bits"
    case .groupBits: "group-bits"
    case .otherBits: "other-bits"
    case .groupBitsMaskEmpty: "group-bits(mask-empty)"
    case .otherBitsMaskEmpty: "other-bits(mask-empty)"
    case .aclUser(let id): "acl-user:\(id)"
    case .aclOwningGroup: "acl-owning-group"
    case .aclGroup(let id): "acl-group:\(id)"
    case .aclOther: "acl-other"
    case .maskLimitsUser(let id): "acl-mask:user:\(id)"
    case .maskLimitsOwningGroup: "acl-mask:owning-group"
    case .maskLimitsGroup(let id): "acl-mask:group:\(id)"
    case .capDACOverride: "cap-dac-override"
    case .capDACReadSearch: "cap-dac-read-search"
    case .nothingAsked: "nothing-asked"
    case .readOnlySuperblock: "read-only-superblock"
    case .immutable: "immutable"
    case .unmappedOwner: "unmapped-owner"
    case .deviceCgroup: "device-cgroup"
    case .fuseOtherUser: "fuse-other-user"
    case .emptyPath: "empty-path"
    case .pathTooLong: "path-too-long"
    case .nameTooLong: "name-too-long"
    case .missing: "missing"
    case .notADirectory: "not-a-directory"
    case .tooManyLinks: "too-many-links"
    case .protectedSymlink: "protected-symlink"
    case .noSymlinkMount: "nosymfollow-mount"
    case .invalidFlags: "invalid-flags"
    case .openOfSymlink: "open-of-symlink"
    case .writeToDirectory: "write-to-directory"
    case .executeDirectory: "execute-directory"
    case .executeSpecialFile: "execute-special-file"
    case .noDeviceMount: "nodev-mount"
    case .noExecuteMount: "noexec-mount"
    case .readOnlyMount: "read-only-mount"
    case .appendOnly: "append-only"
    case .notOwnerForNoAccessTime: "noatime-not-owner"
    case .exclusiveButExists: "exclusive-but-exists"
    case .createOnDirectory: "create-on-directory"
    case .createWithTrailingSlash: "create-with-trailing-slash"
    case .stickyDirectory: "sticky-directory"
    case .unmappedSubject: "unmapped-subject"
    case .created: "created"
    case .pathOnly: "path-only"
    case .landlock(let rights): "landlock:\(rights.rawValue)"
    case .kernfsMode: "kernfs-mode"
    case .driver: "driver"
    case .socketInode: "socket-inode"
    case .fifoWithoutReader: "fifo-without-reader"
    case .fifoAccessMode: "fifo-access-mode"
    case .unreadable: "unreadable-facts"
    case .unmappedID: "unmapped-id"
    case .networkFileSystem: "network-file-system"
    case .fuseDaemon: "fuse-daemon"
    case .unreadableIDMapping: "unreadable-id-mapping"
    }
  }
}
