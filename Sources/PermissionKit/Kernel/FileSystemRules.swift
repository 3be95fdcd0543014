/// The access rules of a file system type: who decides, which facts matter, and what the kernel's
/// answer proves.
///
/// The kernel calls `->permission` of a file system, or generic_permission() of fs/namei.c if there
/// is none. The answer is known only for the types that are listed here.
struct FileSystemRules: Hashable, Sendable {
  /// The kernel or program that decides about access to the files.
  enum Authority: Hashable, Sendable {
    /// The kernel decides by the mode bits and ACLs that stat and getxattr show.
    case kernel
    /// A server decides and may map or squash ids.
    ///
    /// If the client checks the bits before, they can prove a refusal.
    case server(checksModes: Bool)
    /// A FUSE daemon decides, see fuse(4).
    ///
    /// Without `allow_other`, the kernel lets only this owner in. The kernel checks mode bits only
    /// with `default_permissions`, and then the daemon has the last word.
    case fuse(uid: UInt32, gid: UInt32, allowsOthers: Bool, checksModes: Bool)
    /// The type, or options that decide, could not be read.
    case unknown
  }

  var authority = Authority.kernel
  /// Whether the kernel uses the ACLs that getxattr(2) shows (SB_POSIXACL); nil if this is not
  /// visible.
  var honoursACLs: Bool? = true
  /// Whether the file system type can be written at all, whatever the mount options are.
  var isWritable = true
  /// Whether modes and owners are stored; otherwise mount options set them for all files.
  var storesModes = true
  /// Whether faccessat2(2) asks the server or daemon that decides.
  var answersAccess = false
  /// Whether a FUSE daemon grants everything that the kernel's check of the bits grants.
  var daemonIsTrusted = false

  /// Whether only the bits and ACLs that can be read decide.
  var isDecidedByKernel: Bool { authority == .kernel }
  /// Whether a change of mode or ACL is stored, and certainly gives access.
  var honoursChanges: Bool { isDecidedByKernel && isWritable && storesModes }
}

extension FileSystemRules {
  /// Returns the rules for a mount.
  init(_ mount: MountFacts) {
    self.init(mount.fileSystem, mount)
    guard mount.isUnreadable, !mount.isOtherMachine else { return }
    if mount.fileSystem.isEmpty || authority != .kernel { authority = .unknown }
  }

  private init(_ type: String, _ mount: MountFacts) {
    self.init()
    if mount.isOtherMachine { return }
    // Split only for the types that need it.
    var options: Options { Options(mount.superblockOptions) }
    switch type {
    case "nfs", "nfs4":
      // nfs_permission() of fs/nfs/dir.c sends ACCESS for everything but an open, and never looks
      // at the mode bits, for the server may squash ids.
      self.init(authority: .server(checksModes: false), answersAccess: true)
    case "afs", "coda":
      // afs_permission() of fs/afs/security.c, coda_permission() of fs/coda/dir.c.
      self.init(authority: .server(checksModes: false), answersAccess: true)
    case "cifs", "smb3":
      // cifs_permission() of fs/smb/client/cifsfs.c: generic_permission() without `noperm`. The
      // server is asked by readdir, create and the open of a file.
      self.init(authority: .server(checksModes: !options.contains("noperm")), honoursACLs: nil)
    case "9p":
      // No ->permission, so generic_permission(). v9fs_get_acl() of fs/9p/acl.c gives the kernel
      // ACLs only with `posixacl`.
      self.init(authority: .server(checksModes: true), honoursACLs: options.contains("posixacl"))
    case "ceph", "lustre", "orangefs", "vboxsf":
      // ceph_permission() of fs/ceph/inode.c and the like: generic_permission(), then the server.
      self.init(authority: .server(checksModes: true), honoursACLs: nil)
    case "virtiofs":
      // fs/fuse/virtio_fs.c always sets default_permissions and allow_other. Whether the daemon has
      // FUSE_POSIX_ACL cannot be seen.
      self.init(authority: .server(checksModes: true), honoursACLs: nil)
    case "overlay":
      // ovl_permission() of fs/overlayfs/inode.c: the bits for the caller, and the layer for the
      // user who mounted it. Without an upper layer ovl_fill_super() sets SB_RDONLY for good.
      if mount.hasLayerOnServer { authority = .server(checksModes: true) }
      isWritable = options.has("upperdir=") || mount.superblockOptions.isEmpty
    case "squashfs", "iso9660", "erofs", "cramfs", "romfs", "efs", "qnx4", "qnx6", "befs":
      isWritable = false
    case "vfat", "msdos", "exfat", "ntfs", "ntfs3", "hfs", "hfsplus": storesModes = false
    case let type where type == "fuse" || type == "fuseblk" || type.hasPrefix("fuse."):
      // fuse_permission() of fs/fuse/dir.c. These daemons act as root, or as the root of their
      // container, so that the kernel's check is the only one.
      daemonIsTrusted = type == "fuseblk" || type == "fuse.fuse-overlayfs"
      let options = options
      authority = .fuse(
        uid: options.id("user_id="), gid: options.id("group_id="),
        allowsOthers: options.contains("allow_other"),
        checksModes: options.contains("default_permissions"))
      honoursACLs = nil
    case let type:
      // Nothing is known about any other type, so neither the bits nor their absence prove a thing.
      if !Self.decidedByKernel.contains(type) { authority = .server(checksModes: false) }
    }
  }

  /// The types that leave the decision to generic_permission(), or whose own rules are known here.
  private static let decidedByKernel: [String] = [
    // Unknown, in saved facts and below another root.
    "",
    // On disks.
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "jfs", "nilfs2", "reiserfs",
    "gfs2", "ocfs2", "udf", "minix", "ufs", "affs", "bfs", "hpfs", "omfs", "sysv", "v7", "ubifs",
    "jffs2", "zonefs", "adfs",
    // In memory and of the kernel.
    "tmpfs", "ramfs", "rootfs", "devtmpfs", "devpts", "hugetlbfs", "mqueue", "proc", "sysfs",
    "cgroup", "cgroup2", "cpuset", "securityfs", "debugfs", "tracefs", "configfs", "efivarfs",
    "pstore", "bpf", "binfmt_misc", "fusectl", "rpc_pipefs", "nfsd", "selinuxfs", "smackfs",
    "resctrl", "functionfs", "binder", "nsfs", "pidfs", "pipefs", "sockfs", "bdev", "anon_inodefs",
    "autofs", "ecryptfs",
  ]

  /// The options of a superblock, as mountinfo shows them.
  private struct Options {
    let options: [Substring]

    init(_ text: String) { options = text.parts(by: ",") }

    func contains(_ option: Substring) -> Bool { options.contains(option) }

    func has(_ prefix: String) -> Bool { options.contains { $0.hasPrefix(prefix) } }

    func id(_ name: String) -> UInt32 {
      for option in options where option.hasPrefix(name) {
        return UInt32(option.dropFirst(name.count)) ?? .max
      }
      return .max
    }
  }
}
