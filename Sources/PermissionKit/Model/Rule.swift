/// The rule of the kernel that decided; each case names the kernel function.
///
/// The functions are those of Linux 6.12 to 7.2.
public enum Rule: Hashable, Sendable {
  // MARK: fs/namei.c:acl_permission_check(), fs/posix_acl.c:posix_acl_permission()

  /// The owner is judged by the owner bits alone: acl_permission_check() in fs/namei.c.
  case ownerBits
  /// There is no ACL and the subject is in the owning group: the group bits alone count.
  ///
  /// See acl_permission_check() in fs/namei.c.
  case groupBits
  /// There is no ACL, and the other bits count: acl_permission_check() in fs/namei.c.
  ///
  /// The subject is neither the owner nor in the owning group.
  case otherBits
  /// The mask is empty, so the kernel does not read the ACL: the group bits count, all off.
  ///
  /// See acl_permission_check() in fs/namei.c.
  case groupBitsMaskEmpty
  /// The mask is empty, so the kernel does not read the ACL: the other bits count, unlike acl(5).
  ///
  /// See acl_permission_check() in fs/namei.c.
  case otherBitsMaskEmpty
  /// The entry that names the subject's uid: posix_acl_permission() in fs/posix_acl.c.
  case aclUser(UInt32)
  /// The entry of the owning group: posix_acl_permission() in fs/posix_acl.c.
  case aclOwningGroup
  /// The entry of a named group of the subject: posix_acl_permission() in fs/posix_acl.c.
  case aclGroup(UInt32)
  /// The entry for all others, since no other matches: posix_acl_permission() in fs/posix_acl.c.
  case aclOther
  /// The entry of this user would grant the right, but the mask takes it away.
  ///
  /// See posix_acl_permission() in fs/posix_acl.c.
  case maskLimitsUser(UInt32)
  /// The entry of the owning group would grant the right, but the mask takes it away.
  ///
  /// See posix_acl_permission() in fs/posix_acl.c.
  case maskLimitsOwningGroup
  /// The entry of this group would grant the right, but the mask takes it away.
  ///
  /// See posix_acl_permission() in fs/posix_acl.c.
  case maskLimitsGroup(UInt32)

  // MARK: fs/namei.c:generic_permission()

  /// CAP_DAC_OVERRIDE grants what the bits refuse: generic_permission() in fs/namei.c.
  case capDACOverride
  /// CAP_DAC_READ_SEARCH grants reading or search: generic_permission() in fs/namei.c.
  case capDACReadSearch

  // MARK: fs/namei.c:inode_permission()

  /// The inode only has to exist, as with F_OK of access(2).
  case nothingAsked
  /// The superblock is read-only (EROFS), checked before any bits: sb_permission() in fs/namei.c.
  case readOnlySuperblock
  /// The subvolume of btrfs is read-only (EROFS), checked before any bits.
  ///
  /// See btrfs_permission() and btrfs_setattr() in fs/btrfs/inode.c.
  case readOnlySubvolume
  /// The inode is immutable (EPERM), checked before any bits: inode_permission() in fs/namei.c.
  case immutable
  /// The mount has no id mapping for the inode's owner or group, so no writing (EACCES).
  ///
  /// See HAS_UNMAPPED_ID() in include/linux/fs.h, called by inode_permission() in fs/namei.c.
  case unmappedOwner
  /// The device cgroup refuses by its whitelist or a BPF program (EPERM), checked after the bits.
  ///
  /// See devcgroup_check_permission() in security/device_cgroup.c.
  case deviceCgroup
  /// A FUSE mount of another user without `allow_other`, which refuses even root (EACCES).
  ///
  /// See fuse_allow_current_process() in fs/fuse/dir.c.
  case fuseOtherUser
  /// The file or directory is encrypted and its key is not there (ENOKEY): fs/crypto.
  case locked

  // MARK: fs/namei.c:link_path_walk(), lookup_open(), pick_link()

  /// The path is empty (ENOENT): getname_flags() in fs/namei.c.
  case emptyPath
  /// The path has 4,096 bytes or more (ENAMETOOLONG): getname_flags() in fs/namei.c.
  case pathTooLong
  /// A component has over 255 bytes (ENAMETOOLONG): the lookup of the file system checks it.
  case nameTooLong
  /// There is no such name and open(2) does not create it (ENOENT): step_into() in fs/namei.c.
  case missing
  /// Not a directory, although the path continues or a directory is asked for (ENOTDIR).
  ///
  /// See link_path_walk() and do_open() in fs/namei.c.
  case notADirectory
  /// The 41st symbolic link of one walk (ELOOP): pick_link() in fs/namei.c.
  case tooManyLinks
  /// A link of another user in a sticky, world-writable directory (EACCES).
  ///
  /// See may_follow_link() in fs/namei.c, and fs.protected_symlinks in proc_sys_fs(5).
  case protectedSymlink
  /// A symbolic link on a nosymfollow mount (ELOOP): pick_link() in fs/namei.c.
  case noSymlinkMount

  // MARK: fs/open.c:build_open_flags(), do_dentry_open(); fs/namei.c:do_open(), may_open()

  /// Flags that exclude one another (EINVAL): build_open_flags() in fs/open.c.
  case invalidFlags
  /// The last component is a link that the call does not follow (ELOOP): may_open() in fs/namei.c.
  case openOfSymlink
  /// A directory opened for writing (EISDIR), checked before any bits: may_open() in fs/namei.c.
  case writeToDirectory
  /// A directory executed (EACCES), checked before any bits: may_open() in fs/namei.c.
  case executeDirectory
  /// A device, FIFO or socket executed (EACCES): may_open() in fs/namei.c.
  case executeSpecialFile
  /// A device node on a nodev mount (EACCES), before any bits: may_open_dev() in fs/namei.c.
  case noDeviceMount
  /// A file executed on a noexec mount (EACCES), before any bits: path_noexec() in fs/exec.c.
  case noExecuteMount
  /// The mount is read-only (EROFS): mnt_want_write() in fs/namespace.c.
  case readOnlyMount
  /// An append-only inode opened for writing without O_APPEND, or with O_TRUNC (EPERM).
  ///
  /// The kernel checks this after the bits: may_open() in fs/namei.c.
  case appendOnly
  /// O_NOATIME without ownership or CAP_FOWNER (EPERM): may_open() in fs/namei.c.
  case notOwnerForNoAccessTime
  /// O_CREAT with O_EXCL on a path that exists (EEXIST): do_open() in fs/namei.c.
  case exclusiveButExists
  /// O_CREAT on a directory (EISDIR): do_open() in fs/namei.c.
  case createOnDirectory
  /// O_CREAT on a path that ends in a slash (EISDIR): open_last_lookups() in fs/namei.c.
  case createWithTrailingSlash
  /// O_CREAT on a file or node of another user in a sticky, shared directory (EACCES).
  ///
  /// See may_create_in_sticky() in fs/namei.c, and fs.protected_regular in proc_sys_fs(5).
  case stickyDirectory
  /// Creating on a mount that has no id mapping for the subject (EOVERFLOW).
  ///
  /// See may_o_create() in fs/namei.c.
  case unmappedSubject
  /// The file would be new, so the kernel does not check its mode: do_open() in fs/namei.c.
  case created
  /// O_PATH, for which the kernel does not check the inode itself: do_o_path() in fs/namei.c.
  case pathOnly
  /// A Landlock layer does not allow these rights (EACCES).
  ///
  /// See hook_file_open() in security/landlock/fs.c.
  case landlock(LandlockRights)
  /// sysfs requires the mode bit of everybody (EACCES): kernfs_fop_open() in fs/kernfs/file.c.
  case kernfsMode
  /// The open of the driver refuses, or there is no driver: chrdev_open() in fs/char_dev.c.
  case driver
  /// A socket cannot be opened by its path (ENXIO): no_open() in fs/inode.c.
  case socketInode
  /// O_WRONLY and O_NONBLOCK on a FIFO without a reader (ENXIO): fifo_open() in fs/pipe.c.
  case fifoWithoutReader
  /// Access mode 3 on a FIFO (EINVAL): fifo_open() in fs/pipe.c.
  case fifoAccessMode

  // MARK: fs/namei.c:filename_create(), may_delete(), vfs_rename(), may_linkat(); fs/attr.c

  /// The name exists already (EEXIST): filename_create() in fs/namei.c.
  case exists
  /// The path ends in `.`, `..` or is the root, which no call makes, removes or renames.
  ///
  /// EEXIST, EISDIR, EINVAL, ENOTEMPTY or EBUSY: filename_create(), do_rmdir(), do_renameat2() in
  /// fs/namei.c.
  case dots
  /// A name in a sticky directory that is neither the subject's file nor directory (EPERM).
  ///
  /// See __check_sticky() in fs/namei.c.
  case sticky
  /// A directory where the call wants a file (EISDIR): may_delete() in fs/namei.c, vfs_truncate() in
  /// fs/open.c.
  case isDirectory
  /// A directory that holds names cannot be removed or replaced (ENOTEMPTY).
  case notEmpty
  /// A mount point cannot be removed or renamed (EBUSY): is_local_mountpoint() in fs/namei.c.
  case mountPoint
  /// Both names must be on one mount (EXDEV): do_renameat2(), do_linkat() in fs/namei.c.
  case otherMount
  /// Both names must be in one subvolume of btrfs (EXDEV): btrfs_link(), btrfs_rename() in
  /// fs/btrfs/inode.c.
  case otherSubvolume
  /// A directory cannot be moved below itself (EINVAL): do_renameat2() in fs/namei.c.
  case intoItself
  /// A directory has one name only (EPERM): vfs_link() in fs/namei.c.
  case linkOfDirectory
  /// A link to another user's file that the subject cannot read and write, or that is no plain file
  /// (EPERM).
  ///
  /// See may_linkat() in fs/namei.c, and fs.protected_hardlinks in proc_sys_fs(5).
  case protectedHardlink
  /// Only the owner may do this, or CAP_FOWNER (EPERM): inode_owner_or_capable() in fs/inode.c.
  case notOwner
  /// The subject is the owner, as inode_owner_or_capable() in fs/inode.c wants.
  case owner
  /// CAP_FOWNER counts as ownership: inode_owner_or_capable() in fs/inode.c.
  case capFowner
  /// A new owner, or a group that the subject is not in, needs CAP_CHOWN (EPERM).
  ///
  /// See chown_ok() and chgrp_ok() in fs/attr.c.
  case needsChown
  /// CAP_CHOWN allows any owner: chown_ok() in fs/attr.c.
  case capChown
  /// A device node needs CAP_MKNOD of the first user namespace (EPERM): vfs_mknod() in fs/namei.c.
  case needsMknod
  /// The call is for regular files (EINVAL), or for files and directories (EPERM).
  ///
  /// See vfs_truncate() in fs/open.c, xattr_permission() in fs/xattr.c.
  case notAFile
  /// A process without a controlling terminal (ENXIO): tty_open_current_tty() of drivers/tty/tty_io.c.
  case noTerminal
  /// The log of the kernel, which kernel.dmesg_restrict or printk_devkmsg closes (EPERM): devkmsg_open() of
  /// kernel/printk/printk.c.
  case kernelLog
  /// A file of no format that the kernel loads (ENOEXEC): search_binary_handler() in fs/exec.c.
  case noFormat
  /// A format that an entry of binfmt_misc, or the support of 32-bit programs, may load: not looked at.
  case otherFormats
  /// The file system holds only files that the kernel makes (EACCES): no i_op->create in lookup_open() of fs/namei.c.
  case makesNoFiles
  /// More than five interpreters, of which each is a script itself (ELOOP): exec_binprm() in fs/exec.c.
  case manyInterpreters
  /// Not a socket (ECONNREFUSED): unix_find_bsd() in net/unix/af_unix.c.
  case notASocket
  /// The file system has no such call (EPERM, EOPNOTSUPP): vfs_link(), vfs_symlink() in fs/namei.c.
  case notSupported

  // MARK: undetermined

  /// The verdict depends on a name, an inode or an ACL that could not be read.
  case unreadable
  /// The verdict depends on an id that is not mapped in the reader's user namespace.
  case unmappedID
  /// The server of a network file system decides, whatever the mode bits are.
  case networkFileSystem
  /// Mode and ACL grant access as far as the client knows, and a server or daemon has the last
  /// word.
  case serverDecides
  /// The verdict depends on an ACL that the kernel may ignore: the file system shows ACLs, and
  /// does not say that it uses them (SB_POSIXACL).
  case ignoredACL
  /// The path leads to an automount that is not mounted yet, and checking further would mount it.
  case automount
  /// The server or daemon of a mount did not answer in time.
  case notAnswering
  /// The FUSE daemon decides.
  case fuseDaemon
  /// The file system grants access by its own rules.
  ///
  /// See proc_sys_permission() in fs/proc/proc_sysctl.c, and ptrace_may_access() for /proc/PID.
  case fileSystemRules
  /// The maps of an idmapped mount could not be read.
  case unreadableIDMapping
}

extension Rule {
  /// The former name of `ignoredACL`.
  @available(*, deprecated, renamed: "ignoredACL")
  public static var unheededACL: Rule { .ignoredACL }
}

extension Rule: CustomStringConvertible {
  /// A stable token for documents: `group-bits`, `acl-user:1000`.
  public var description: String { entry.token }

  /// The part of the kernel that the rule belongs to.
  package var layer: Layer { entry.layer }

  /// The token and the layer of each rule.
  private var entry: (token: String, layer: Layer) {
    switch self {
    case .ownerBits: ("owner-bits", .bits)
    case .groupBits: ("group-bits", .bits)
    case .otherBits: ("other-bits", .bits)
    case .groupBitsMaskEmpty: ("group-bits(mask-empty)", .bits)
    case .otherBitsMaskEmpty: ("other-bits(mask-empty)", .bits)
    case .aclUser(let id): ("acl-user:\(id)", .bits)
    case .aclOwningGroup: ("acl-owning-group", .bits)
    case .aclGroup(let id): ("acl-group:\(id)", .bits)
    case .aclOther: ("acl-other", .bits)
    case .maskLimitsUser(let id): ("acl-mask:user:\(id)", .bits)
    case .maskLimitsOwningGroup: ("acl-mask:owning-group", .bits)
    case .maskLimitsGroup(let id): ("acl-mask:group:\(id)", .bits)
    case .capDACOverride: ("cap-dac-override", .capability)
    case .capDACReadSearch: ("cap-dac-read-search", .capability)
    case .nothingAsked: ("nothing-asked", .nothing)
    case .readOnlySuperblock: ("read-only-superblock", .mount)
    case .readOnlySubvolume: ("read-only-subvolume", .attribute)
    case .immutable: ("immutable", .attribute)
    case .unmappedOwner: ("unmapped-owner", .idMapping)
    case .deviceCgroup: ("device-cgroup", .deviceCgroup)
    case .fuseOtherUser: ("fuse-other-user", .fileSystem)
    case .emptyPath: ("empty-path", .lookup)
    case .pathTooLong: ("path-too-long", .lookup)
    case .nameTooLong: ("name-too-long", .lookup)
    case .missing: ("missing", .lookup)
    case .notADirectory: ("not-a-directory", .lookup)
    case .tooManyLinks: ("too-many-links", .lookup)
    case .protectedSymlink: ("protected-symlink", .link)
    case .noSymlinkMount: ("nosymfollow-mount", .link)
    case .invalidFlags: ("invalid-flags", .call)
    case .openOfSymlink: ("open-of-symlink", .link)
    case .writeToDirectory: ("write-to-directory", .call)
    case .executeDirectory: ("execute-directory", .call)
    case .executeSpecialFile: ("execute-special-file", .call)
    case .noDeviceMount: ("nodev-mount", .mount)
    case .noExecuteMount: ("noexec-mount", .mount)
    case .readOnlyMount: ("read-only-mount", .mount)
    case .appendOnly: ("append-only", .attribute)
    case .notOwnerForNoAccessTime: ("noatime-not-owner", .call)
    case .exclusiveButExists: ("exclusive-but-exists", .call)
    case .createOnDirectory: ("create-on-directory", .call)
    case .createWithTrailingSlash: ("create-with-trailing-slash", .call)
    case .stickyDirectory: ("sticky-directory", .fileSystem)
    case .unmappedSubject: ("unmapped-subject", .idMapping)
    case .created: ("created", .nothing)
    case .pathOnly: ("path-only", .nothing)
    case .landlock(let rights): ("landlock:\(rights.rawValue)", .securityModule)
    case .kernfsMode: ("kernfs-mode", .fileSystem)
    case .driver: ("driver", .driver)
    case .socketInode: ("socket-inode", .lookup)
    case .fifoWithoutReader: ("fifo-without-reader", .lookup)
    case .fifoAccessMode: ("fifo-access-mode", .lookup)
    case .exists: ("exists", .call)
    case .dots: ("dots", .call)
    case .sticky: ("sticky", .fileSystem)
    case .isDirectory: ("is-a-directory", .call)
    case .notEmpty: ("not-empty", .call)
    case .mountPoint: ("mount-point", .mount)
    case .otherMount: ("other-mount", .call)
    case .otherSubvolume: ("other-subvolume", .call)
    case .intoItself: ("into-itself", .call)
    case .linkOfDirectory: ("link-of-directory", .call)
    case .protectedHardlink: ("protected-hardlink", .link)
    case .notOwner: ("not-owner", .fileSystem)
    case .owner: ("owner", .nothing)
    case .capFowner: ("cap-fowner", .capability)
    case .needsChown: ("needs-cap-chown", .fileSystem)
    case .capChown: ("cap-chown", .capability)
    case .needsMknod: ("needs-cap-mknod", .fileSystem)
    case .notAFile: ("not-a-file", .call)
    case .noTerminal: ("no-terminal", .driver)
    case .kernelLog: ("kernel-log", .driver)
    case .noFormat: ("no-program-format", .call)
    case .makesNoFiles: ("makes-no-files", .fileSystem)
    case .otherFormats: ("other-formats", .unknown)
    case .manyInterpreters: ("too-many-interpreters", .call)
    case .notASocket: ("not-a-socket", .call)
    case .notSupported: ("not-supported", .call)
    case .unreadable: ("unreadable-facts", .unknown)
    case .unmappedID: ("unmapped-id", .unknown)
    case .networkFileSystem: ("network-file-system", .unknown)
    case .serverDecides: ("server-decides", .unknown)
    case .ignoredACL: ("unheeded-acl", .unknown)
    case .automount: ("automount", .unknown)
    case .notAnswering: ("not-answering", .unknown)
    case .locked: ("locked", .fileSystem)
    case .fuseDaemon: ("fuse-daemon", .unknown)
    case .fileSystemRules: ("file-system-rules", .unknown)
    case .unreadableIDMapping: ("unreadable-id-mapping", .unknown)
    }
  }

  /// The rule of mode or ACL; nil for other layers.
  package var bits: BitRule? {
    switch self {
    case .ownerBits: .owner
    case .groupBits: .group(isMaskEmpty: false)
    case .otherBits: .other(isMaskEmpty: false)
    case .groupBitsMaskEmpty: .group(isMaskEmpty: true)
    case .otherBitsMaskEmpty: .other(isMaskEmpty: true)
    case .aclUser(let id): .aclUser(id, isMasked: false)
    case .aclOwningGroup: .aclOwningGroup(isMasked: false)
    case .aclGroup(let id): .aclGroup(id, isMasked: false)
    case .aclOther: .aclOther
    case .maskLimitsUser(let id): .aclUser(id, isMasked: true)
    case .maskLimitsOwningGroup: .aclOwningGroup(isMasked: true)
    case .maskLimitsGroup(let id): .aclGroup(id, isMasked: true)
    default: nil
    }
  }
}

extension Rule {
  /// The part of the kernel that a rule belongs to, which decides what can be changed.
  package enum Layer: Sendable {
    /// Mode and ACL: a change of permissions helps.
    case bits
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
}

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
