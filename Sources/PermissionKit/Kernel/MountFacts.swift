/// The facts about one mount and its superblock, from /proc/PID/mountinfo, see proc(5).
package struct MountFacts: Hashable, Sendable {
  /// The flags of a mount that matter for a decision, see mount(2).
  package struct Flags: OptionSet, Hashable, Sendable {
    /// Bits of this library, which differ from those of mount(2).
    package let rawValue: UInt8

    /// Creates a set from its bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// MS_RDONLY: writing gives EROFS, checked after the permission bits.
    package static let readOnly = Flags(rawValue: 1)
    /// MS_NODEV: opening a device node gives EACCES, checked before the permission bits.
    package static let noDevices = Flags(rawValue: 2)
    /// MS_NOEXEC: executing a regular file gives EACCES.
    package static let noExecute = Flags(rawValue: 4)
    /// MS_NOSYMFOLLOW: following a symbolic link gives ELOOP.
    package static let noSymbolicLinks = Flags(rawValue: 8)
  }

  /// The mount id, also in statx(2) as `stx_mnt_id`; 0 if unknown.
  package var id: UInt64
  /// The type of the file system: `ext4`, `devtmpfs`, `fuse.sshfs`.
  package var fileSystem: String
  /// The flags of this mount, without the flags of its superblock.
  package var flags: Flags
  /// Whether the superblock is read-only: EROFS comes before the permission bits.
  package var superblockIsReadOnly: Bool
  /// The id mapping of the mount: ids on disk (`inside`) stand for ids outside (`outside`).
  ///
  /// See MOUNT_ATTR_IDMAP in mount_setattr(2). In facts read through the mount, ids are already
  /// translated: `inside` equals `outside`.
  package var idMapping: IDMapping?
  /// Whether the mount is idmapped with maps that could not be read.
  package var idMappingIsUnreadable = false
  /// Whether a user namespace may own the mount, which FS_USERNS_MOUNT allows some file systems.
  ///
  /// In such a mount devices do not open (SB_I_NODEV), and overlay writes with the credentials of
  /// the user who mounted it.
  package var mayBelongToNamespace = false
  /// Whether a layer of this overlay is on a file system where a server decides.
  package var hasLayerOnServer = false
  /// Whether the mount belongs to the tree of another machine (`--root`), where only the bits
  /// decide.
  package var isOtherMachine = false
  /// Whether the mount shows only a folder of its file system, as a bind mount or a subvolume does.
  package var isPart = false
  /// Whether only the id is known: mountinfo could not be read or lacks the mount.
  package var isUnreadable = false
  /// The mount point, as in mountinfo.
  package var point: PathBytes
  /// The options of the superblock, as in mountinfo: `rw,user_id=1000,allow_other`.
  package var superblockOptions: String

  /// Creates facts with these values; the defaults restrict nothing.
  ///
  /// - Parameters:
  ///   - id: The mount id; 0 if unknown.
  ///   - fileSystem: The type of the file system.
  ///   - flags: The flags of this mount, without the flags of its superblock.
  ///   - superblockIsReadOnly: Whether the superblock is read-only.
  ///   - idMapping: The id mapping of the mount; nil if there is none.
  ///   - point: The mount point.
  ///   - superblockOptions: The options of the superblock.
  package init(
    id: UInt64 = 0, fileSystem: String = "", flags: Flags = [],
    superblockIsReadOnly: Bool = false, idMapping: IDMapping? = nil, point: PathBytes = "/",
    superblockOptions: String = ""
  ) {
    self.id = id
    self.fileSystem = fileSystem
    self.flags = flags
    self.superblockIsReadOnly = superblockIsReadOnly
    self.idMapping = idMapping
    self.point = point
    self.superblockOptions = superblockOptions
  }

  /// Returns a mount of which only the id is known.
  package static func unreadable(id: UInt64) -> MountFacts {
    var mount = MountFacts(id: id, point: "")
    mount.isUnreadable = true
    return mount
  }

  /// Whether the mount or the superblock is read-only, so that no file can be opened for writing.
  package var isReadOnly: Bool { flags.contains(.readOnly) || superblockIsReadOnly }
}

extension MountFacts {
  /// The rules of the file system's type and options for access.
  var rules: FileSystemRules { FileSystemRules(self) }
}

extension MountFacts {
  /// Whether this is an automount that nothing is mounted on: autofs_mount of fs/autofs.
  ///
  /// The root of an indirect map is an ordinary directory, whose names are the automounts.
  var isTrigger: Bool { isAutomount && !isIndirect }

  /// Whether this is an autofs mount.
  var isAutomount: Bool { fileSystem == "autofs" && !isOtherMachine }

  /// Whether the names below this autofs mount are automounts, see autofs(5).
  var isIndirect: Bool { superblockOptions.parts(by: ",").contains("indirect") }
}

extension MountFacts {
  /// Whether its files have no paths: pipes, sockets and what processes make for themselves.
  var isOfNoPath: Bool {
    switch fileSystem {
    case "pipefs", "sockfs", "anon_inodefs": true
    default: false
    }
  }
}
