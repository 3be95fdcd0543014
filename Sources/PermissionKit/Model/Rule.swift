/// The rule of the kernel that decided, each with the function that holds it.
///
/// Functions are those of Linux 6.12 to 7.2.
public enum Rule: Hashable, Sendable {
  // MARK: fs/namei.c:acl_permission_check(), fs/posix_acl.c:posix_acl_permission()

  /// The owner's bits alone count for the owner: acl_permission_check() in fs/namei.c.
  case ownerBits
  /// No ACL, and the subject is in the owning group: the group's bits alone count.
  ///
  /// See acl_permission_check() in fs/namei.c.
  case groupBits
  /// No ACL, neither owner nor in the owning group: acl_permission_check() in fs/namei.c.
  case otherBits
  /// The mask is empty, so the ACL is not read: group bits, all of them off.
  ///
  /// See acl_permission_check() in fs/namei.c.
  case groupBitsMaskEmpty
  /// The mask is empty, so the ACL is not read: the other bits, contrary to acl(5).
  ///
  /// See acl_permission_check() in fs/namei.c.
  case otherBitsMaskEmpty
  /// The entry that names the subject's uid: posix_acl_permission() in fs/posix_acl.c.
  case aclUser(UInt32)
  /// The entry of the owning group: posix_acl_permission() in fs/posix_acl.c.
  case aclOwningGroup
  /// The entry of a named group the subject is in: posix_acl_permission() in fs/posix_acl.c.
  case aclGroup(UInt32)
  /// No other entry is about the subject: posix_acl_permission() in fs/posix_acl.c.
  case aclOther
  /// The entry of this user would grant it, but the mask takes the right away.
  ///
  /// See posix_acl_permission() in fs/posix_acl.c.
  case maskLimitsUser(UInt32)
  /// The entry of the owning group would grant it, but the mask takes the right away.
  ///
  /// See posix_acl_permission() in fs/posix_acl.c.
  case maskLimitsOwningGroup
  /// The entry of this group would grant it, but the mask takes the right away.
  ///
  /// See posix_acl_permission() in fs/posix_acl.c.
  case maskLimitsGroup(UInt32)

  // MARK: fs/namei.c:generic_permission()

  /// CAP_DAC_OVERRIDE grants what the bits refuse: generic_permission() in fs/namei.c.
  case capDACOverride
  /// CAP_DAC_READ_SEARCH grants reading or search: generic_permission() in fs/namei.c.
  case capDACReadSearch

  // MARK: fs/namei.c:inode_permission()

  /// Nothing was asked of the inode but that it be there, as by F_OK of access(2).
  case nothingAsked
  /// The superblock is read-only, EROFS before any bits: sb_permission() in fs/namei.c.
  case readOnlySuperblock
  /// The inode is immutable, EPERM before any bits: inode_permission() in fs/namei.c.
  case immutable
  /// The inode's owner or group means nothing on this mount, so no writing (EACCES).
  ///
  /// See HAS_UNMAPPED_ID() in include/linux/fs.h, asked by inode_permission() in fs/namei.c.
  case unmappedOwner
  /// The device cgroup refuses, EPERM after the bits, by its whitelist or a BPF program.
  ///
  /// See devcgroup_check_permission() in security/device_cgroup.c.
  case deviceCgroup
  /// Another user's FUSE mount without `allow_other`, even for root (EACCES).
  ///
  /// See fuse_allow_current_process() in fs/fuse/dir.c.
  case fuseOtherUser

  // MARK: fs/namei.c:link_path_walk(), lookup_open(), pick_link()

  /// The path is empty (ENOENT): getname_flags() in fs/namei.c.
  case emptyPath
  /// The path has 4,096 bytes or more (ENAMETOOLONG): getname_flags() in fs/namei.c.
  case pathTooLong
  /// A component has over 255 bytes (ENAMETOOLONG), asked by the file system's own lookup.
  case nameTooLong
  /// There is no such name, and none is to be created (ENOENT): step_into() in fs/namei.c.
  case missing
  /// More follows or a directory is wanted, and this is none (ENOTDIR).
  ///
  /// See link_path_walk() and do_open() in fs/namei.c.
  case notADirectory
  /// The 41st symbolic link of one walk (ELOOP): pick_link() in fs/namei.c.
  case tooManyLinks
  /// Somebody else's link in a sticky directory that all can write to (EACCES).
  ///
  /// See may_follow_link() in fs/namei.c, and fs.protected_symlinks in proc_sys_fs(5).
  case protectedSymlink
  /// A symbolic link on a nosymfollow mount (ELOOP): pick_link() in fs/namei.c.
  case noSymlinkMount

  // MARK: fs/open.c:build_open_flags(), do_dentry_open(); fs/namei.c:do_open(), may_open()

  /// Flags that do not go together (EINVAL): build_open_flags() in fs/open.c.
  case invalidFlags
  /// The last component is a link that is not followed (ELOOP): may_open() in fs/namei.c.
  case openOfSymlink
  /// A directory cannot be opened for writing, EISDIR before any bits: may_open() in fs/namei.c.
  case writeToDirectory
  /// A directory cannot be executed, EACCES before any bits: may_open() in fs/namei.c.
  case executeDirectory
  /// A device, FIFO or socket cannot be executed (EACCES): may_open() in fs/namei.c.
  case executeSpecialFile
  /// A device node on a nodev mount, EACCES before any bits: may_open_dev() in fs/namei.c.
  case noDeviceMount
  /// Executing on a noexec mount, EACCES before any bits: path_noexec() in fs/exec.c.
  case noExecuteMount
  /// The mount is read-only (EROFS): mnt_want_write() in fs/namespace.c.
  case readOnlyMount
  /// Writing without O_APPEND, or O_TRUNC, of an append-only inode, EPERM after the bits.
  ///
  /// See may_open() in fs/namei.c.
  case appendOnly
  /// O_NOATIME by neither the owner nor CAP_FOWNER (EPERM): may_open() in fs/namei.c.
  case notOwnerForNoAccessTime
  /// O_CREAT with O_EXCL of what exists (EEXIST): do_open() in fs/namei.c.
  case exclusiveButExists
  /// O_CREAT of what is a directory (EISDIR): do_open() in fs/namei.c.
  case createOnDirectory
  /// O_CREAT of a path that ends in a slash (EISDIR): open_last_lookups() in fs/namei.c.
  case createWithTrailingSlash
  /// O_CREAT of somebody else's file or node in a sticky, shared directory (EACCES).
  ///
  /// See may_create_in_sticky() in fs/namei.c, and fs.protected_regular in proc_sys_fs(5).
  case stickyDirectory
  /// Creating where the subject's own ids mean nothing on the mount (EOVERFLOW).
  ///
  /// See may_o_create() in fs/namei.c.
  case unmappedSubject
  /// The file would be created; its own mode is not asked: do_open() in fs/namei.c.
  case created
  /// O_PATH asks nothing of the inode itself: do_o_path() in fs/namei.c.
  case pathOnly
  /// A Landlock layer does not allow these rights (EACCES).
  ///
  /// See hook_file_open() in security/landlock/fs.c.
  case landlock(LandlockRights)
  /// sysfs wants the mode bit, whoever asks (EACCES): kernfs_fop_open() in fs/kernfs/file.c.
  case kernfsMode
  /// The driver's own open refuses, or there is no driver: chrdev_open() in fs/char_dev.c.
  case driver
  /// A socket cannot be opened by its name (ENXIO): no_open() in fs/inode.c.
  case socketInode
  /// O_WRONLY and O_NONBLOCK on a FIFO nobody reads (ENXIO): fifo_open() in fs/pipe.c.
  case fifoWithoutReader
  /// Access mode 3 on a FIFO (EINVAL): fifo_open() in fs/pipe.c.
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
  /// The file system grants by rules of its own: proc_sys_permission() of fs/proc/proc_sysctl.c,
  /// ptrace_may_access() for what is below /proc/PID.
  case fileSystemRules
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
    case .fileSystemRules: "file-system-rules"
    case .unreadableIDMapping: "unreadable-id-mapping"
    }
  }
}
