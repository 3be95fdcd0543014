/// The owner, group, mode and ACL that the kernel gives a new file or folder.
///
/// These are for open(2) with mode 0666 and mkdir(2) with mode 0777, the usual arguments of
/// programs.
struct Creation: Sendable {
  /// The creator; its fsuid and fsgid become owner and group.
  var credentials: Credentials
  /// The bits that the process of the creator removes, 0 to 0777; see umask(2).
  var umask: UInt16

  /// Returns the inode that is created in a folder.
  ///
  /// Mirrors inode_init_owner() of fs/inode.c, then posix_acl_create() of fs/posix_acl.c.
  ///
  /// - Parameters:
  ///   - kind: `regular` or `directory`.
  ///   - folder: The index of the folder, whose default ACL was read.
  ///   - facts: The facts about the folder.
  /// - Returns: The inode, not yet in the facts; nil where the file system has rules of its own.
  func made(_ kind: FileKind, in folder: Int, of facts: AccessFacts) -> InodeFacts? {
    let parent = facts.inodes[folder]
    let mount = facts.mounts[parent.mount]
    let isFolder = kind == .directory
    var inode = InodeFacts(
      kind: kind, mode: isFolder ? 0o777 : 0o666, uid: credentials.user.fileSystem,
      gid: credentials.group.fileSystem, mount: parent.mount, parent: folder)
    inode.hasACLs = parent.hasACLs
    switch mount.creation {
    case .unknown: return nil
    case .fixed(let modes):
      inode.mode = isFolder ? modes.folder : modes.file
      (inode.uid, inode.gid) = (modes.uid, modes.gid)
      inode.hasACLs = false
      return inode
    case .ordinary(let keepsGroup):
      let isSet = parent.mode & 0o2000 != 0
      if isSet || keepsGroup { inode.gid = parent.gid }
      // ext4_new_inode() of fs/ext4/ialloc.c: with grpid the bit is not needed, and not handed on.
      if isSet, isFolder, !keepsGroup || mount.fileSystem == "xfs" { inode.mode |= 0o2000 }
    }
    guard let inherited = parent.defaultACL, parent.hasACLs != false else {
      inode.mode &= ~(umask & 0o777)
      return inode
    }
    if isFolder { inode.defaultACL = inherited }
    inode.inherit(inherited)
    return inode
  }

  /// Whether the umask applies in a folder.
  static func heedsUmask(_ folder: Int, of facts: AccessFacts) -> Bool {
    let parent = facts.inodes[folder]
    guard case .ordinary = facts.mounts[parent.mount].creation else { return false }
    return parent.defaultACL == nil || parent.hasACLs == false
  }
}

extension InodeFacts {
  /// Mirrors posix_acl_create_masq() of fs/posix_acl.c.
  fileprivate mutating func inherit(_ inherited: AccessControlList) {
    var list = inherited
    let special = mode & 0o7000
    func limited(_ item: ACLItem, _ shift: UInt16) -> UInt16 {
      guard let permissions = list[item] else { return 0 }
      list[item] = permissions.intersection(bits(shift))
      return UInt16((list[item] ?? []).rawValue) << shift
    }
    var made = limited(.owner, 6) | limited(ACLItem(.other), 0)
    made |= limited(list.mask == nil ? .owningGroup : .mask, 3)
    mode = special | made
    acl = list.mask != nil || list.hasNamed ? list : nil
  }
}

extension MountFacts {
  /// The rule by which new files get their owner, group and mode.
  enum CreationRule: Sendable {
    /// By the creator, the folder and the umask; `keepsGroup` if every folder gives its own group.
    case ordinary(keepsGroup: Bool)
    /// By the options of the mount.
    case fixed(FixedModes)
    /// By a server, a daemon, or rules that are not known here.
    case unknown
  }

  /// The owner, group and mode that the options of a mount give every file and folder.
  struct FixedModes: Sendable {
    var uid: UInt32
    var gid: UInt32
    var file: UInt16
    var folder: UInt16
  }

  /// How new files on this mount get their owner, group and mode.
  var creation: CreationRule {
    if isOtherMachine { return .ordinary(keepsGroup: false) }
    let options = superblockOptions.parts(by: ",")
    func value(_ name: String, radix: Int = 10) -> UInt32? {
      options.last { $0.hasPrefix(name + "=") }
        .flatMap { UInt32($0.dropFirst(name.utf8.count + 1), radix: radix) }
    }
    switch fileSystem {
    case "vfat", "msdos", "exfat":
      // fat_make_mode() of fs/fat/fat.h, exfat_make_mode() of fs/exfat/exfat_fs.h; an id of root is not
      // shown.
      guard let files = value("fmask", radix: 8), let folders = value("dmask", radix: 8)
      else { return .unknown }
      return .fixed(
        FixedModes(
          uid: value("uid") ?? 0, gid: value("gid") ?? 0, file: 0o777 & ~UInt16(files & 0o777),
          folder: 0o777 & ~UInt16(folders & 0o777)))
    case "cifs", "smb3":
      // cifs_fill_common_info() and cifs_show_options() of fs/smb/client: without the extensions of
      // Unix, the options alone.
      guard options.contains("nounix"), !options.contains("posix"),
        let files = value("file_mode", radix: 8), let folders = value("dir_mode", radix: 8),
        let uid = value("uid"), let gid = value("gid")
      else { return .unknown }
      return .fixed(
        FixedModes(
          uid: uid, gid: gid, file: UInt16(files & 0o777), folder: UInt16(folders & 0o777)))
    case "ext2", "ext3", "ext4", "xfs":
      return .ordinary(keepsGroup: options.contains("grpid") || options.contains("bsdgroups"))
    case "", "btrfs", "f2fs", "bcachefs", "zfs", "jfs", "nilfs2", "reiserfs", "gfs2", "ocfs2",
      "tmpfs", "ramfs", "rootfs", "devtmpfs", "ubifs", "jffs2":
      return .ordinary(keepsGroup: false)
    case "overlay":
      // The layers' own options are not shown, and grpid is rare.
      return rules.isDecidedByKernel && !mayBelongToNamespace
        ? .ordinary(keepsGroup: false) : .unknown
    default: return .unknown
    }
  }
}
