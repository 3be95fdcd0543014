/// What was read about one mount and its superblock, from /proc/PID/mountinfo, see proc(5).
package struct MountFacts: Hashable, Sendable {
  /// mount(2)'s per-mount flags that take part in a decision.
  package struct Flags: OptionSet, Hashable, Sendable {
    /// Bits of this library's own, not those of mount(2).
    package let rawValue: UInt8

    /// Takes the bits as they are.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// MS_RDONLY: writing gives EROFS, after the permission bits were asked.
    package static let readOnly = Flags(rawValue: 1)
    /// MS_NODEV: opening a device node gives EACCES, before the permission bits are asked.
    package static let noDevices = Flags(rawValue: 2)
    /// MS_NOEXEC: executing a regular file gives EACCES.
    package static let noExecute = Flags(rawValue: 4)
    /// MS_NOSYMFOLLOW: following a symbolic link gives ELOOP.
    package static let noSymbolicLinks = Flags(rawValue: 8)
  }

  /// The mount id of this line, also in statx(2) as `stx_mnt_id`; 0 when unknown.
  package var id: UInt64
  /// The type of the file system: `ext4`, `devtmpfs`, `fuse.sshfs`.
  package var fileSystem: String
  /// The flags of this mount alone, without those of its superblock.
  package var flags: Flags
  /// The superblock itself is read-only: EROFS comes before the permission bits.
  package var superblockIsReadOnly: Bool
  /// Ids on disk (`inside`) stand for these (`outside`), see mount_setattr(2), MOUNT_ATTR_IDMAP.
  ///
  /// Facts read through the mount have the latter already: then both are these.
  package var idMapping: IDMapping?
  /// The mount is idmapped, but with which maps could not be read.
  package var idMappingIsUnreadable = false
  /// It may have been mounted in a user namespace, as FS_USERNS_MOUNT lets some file systems be: then
  /// its devices do not open (SB_I_NODEV), and overlay writes as the one who mounted it.
  package var mayBelongToNamespace = false
  /// Nothing but the id is known: mountinfo could not be read or has no such line.
  package var isUnreadable = false
  /// Where it is mounted, as mountinfo has it.
  package var point: PathBytes
  /// The options of the superblock, as mountinfo has them: `rw,user_id=1000,allow_other`.
  package var superblockOptions: String

  /// Makes one of its parts; the default restricts nothing.
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

  /// A mount of which nothing but its id is known.
  package static func unreadable(id: UInt64) -> MountFacts {
    var mount = MountFacts(id: id, point: "")
    mount.isUnreadable = true
    return mount
  }

  /// Nothing can be opened for writing here: by the mount or by the superblock.
  package var isReadOnly: Bool { flags.contains(.readOnly) || superblockIsReadOnly }
}

extension MountFacts {
  /// Who has the last word on access to what is mounted here.
  enum Authority {
    /// The mode bits and ACLs that stat and getxattr show.
    case kernel
    /// A server elsewhere, which maps and squashes ids as it likes.
    case server
    /// A FUSE daemon; the kernel itself lets only this owner in unless `allow_other` was given, and
    /// compares mode bits only with `default_permissions`, see fuse(4).
    case fuse(uid: UInt32, gid: UInt32, allowsOthers: Bool, checksModes: Bool)
  }

  /// See `authority` of the type.
  var authority: Authority {
    switch fileSystem {
    case "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "gfs2", "ocfs2", "lustre", "coda",
      "orangefs":
      return .server
    case "fuse", "fuseblk": break
    default: if !fileSystem.hasPrefix("fuse.") { return .kernel }
    }
    let options = superblockOptions.split(separator: ",")
    func id(_ name: String) -> UInt32 {
      for option in options where option.hasPrefix(name) {
        return UInt32(option.dropFirst(name.count)) ?? .max
      }
      return .max
    }
    return .fuse(
      uid: id("user_id="), gid: id("group_id="), allowsOthers: options.contains("allow_other"),
      checksModes: options.contains("default_permissions"))
  }
}
