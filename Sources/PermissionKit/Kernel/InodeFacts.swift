/// The facts about one inode: everything by which the kernel decides on access.
///
/// Ids are those that statx(2) returns to the reader, before the id mapping of an idmapped mount is
/// undone.
package struct InodeFacts: Hashable, Sendable {
  /// A name in a directory, and the result of its lookup.
  package struct Entry: Hashable, Sendable {
    /// The name of one component, as getdents64(2) returns it.
    package var name: PathBytes
    /// The result of a lookup of the name.
    package var found: Found

    /// The possible results of a lookup.
    package enum Found: Hashable, Sendable {
      /// The inode with this index in `AccessFacts.inodes`.
      case inode(Int)
      /// There is no such name: a lookup returns ENOENT.
      case missing
      /// The lookup failed for the reader, so nothing is known.
      case unreadable(Errno)
    }

    /// Creates an entry of a directory.
    package init(name: PathBytes, found: Found) {
      self.name = name
      self.found = found
    }
  }

  /// The file type, which decides what else the kernel checks.
  package var kind: FileKind
  /// The permission, set-id and sticky bits, 07777.
  ///
  /// If there is an ACL, the group bits are its mask.
  package var mode: UInt16
  /// The uid of the owner, `stx_uid`.
  package var uid: UInt32
  /// The gid of the owning group, `stx_gid`.
  package var gid: UInt32
  /// The access ACL; nil if the inode has only its mode.
  package var acl: AccessControlList?
  /// The default ACL of a directory, which new files inherit; read only on request.
  package var defaultACL: AccessControlList?
  /// The errno that prevented reading the ACL; `acl` then has no meaning.
  package var aclError: Errno?
  /// Whether the file system supports ACLs; nil if this was not read.
  package var hasACLs: Bool?
  /// STATX_ATTR_IMMUTABLE, see ioctl_iflags(2).
  package var isImmutable = false
  /// STATX_ATTR_APPEND, see ioctl_iflags(2).
  package var isAppendOnly = false
  /// Whether fscrypt encrypts the file or directory and its key is not there.
  ///
  /// Opening a file then fails with ENOKEY, and so does creating one in a directory: see
  /// fscrypt_file_open() and fscrypt_prepare_new_inode() in fs/crypto.
  package var isLocked = false
  /// The error of the look for the key, without which it stays unknown; nil if it was seen whether the key is there.
  package var keyError: Errno?
  /// The subvolume of btrfs that holds it; nil on other file systems.
  package var subvolume: Subvolume?
  /// The device number of a device node.
  package var device: DeviceNumber?
  /// The errno of the driver's own open, if it is known; 0 if the driver opens the device.
  package var driverErrno: Errno?
  /// Whether sysfs lists no driver for the number of a device node, so that only an open shows whether
  /// there is one.
  package var hasNoListedDriver = false
  /// The error of the look for the driver, without which it stays unknown; nil if that was seen.
  package var driverError: Errno?
  /// Whether the inode has several names, hard links; saved facts do not say.
  package var hasOtherNames = false
  /// The index of the mount in `AccessFacts.mounts`.
  package var mount: Int
  /// The index of the directory that `..` leads to; a root is its own parent.
  package var parent: Int
  /// The entries of a directory: the names that were looked up, or all names.
  package var entries: [Entry] = []
  /// Whether `entries` holds every name, so that any other name is missing.
  package var entriesAreComplete = false
  /// Whether a directory holds no name; nil if that was not read.
  package var isEmpty: Bool?
  /// The target of a symbolic link, as readlink(2) returns it.
  package var target: PathBytes?
  /// Whether it is the root of a FUSE mount that lets this process see nothing of it, so that mode and owners are unknown.
  package var isClosed = false
  /// The format of a program; nil if that was not read.
  package var program: ProgramFormat?
  /// Whether a program, or what shall be one, has no room for the header of an ELF file.
  package var isShorterThanHeader = false
  /// Whether a magic link, or the folder `fd`, is that of the process that is asked about, which may always follow it.
  package var isOwnLink = false
  /// The inode that a magic link (/proc/PID/fd/N) jumps to, see `nd_jump_link()` in fs/namei.c.
  package var jump: Int?

  /// Creates facts with these values; set attributes, entries and errors afterwards.
  ///
  /// - Parameters:
  ///   - kind: The file type.
  ///   - mode: The permission, set-id and sticky bits, 07777.
  ///   - uid: The uid of the owner.
  ///   - gid: The gid of the owning group.
  ///   - acl: The access ACL; nil if the inode has only its mode.
  ///   - device: The device number of a device node.
  ///   - mount: The index of the mount in `AccessFacts.mounts`.
  ///   - parent: The index of the directory that `..` leads to.
  ///   - target: The target of a symbolic link.
  package init(
    kind: FileKind, mode: UInt16, uid: UInt32, gid: UInt32, acl: AccessControlList? = nil,
    device: DeviceNumber? = nil, mount: Int = 0, parent: Int = 0, target: PathBytes? = nil
  ) {
    self.kind = kind
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.acl = acl
    self.device = device
    self.mount = mount
    self.parent = parent
    self.target = target
  }

  /// The part of the facts that ls(1) and getfacl(1) show.
  package var summary: InodeSummary {
    InodeSummary(kind: kind, mode: mode, uid: uid, gid: gid, acl: acl)
  }
}

extension InodeFacts {
  /// A subvolume of btrfs, which a snapshot is as well.
  package struct Subvolume: Hashable, Sendable {
    /// The device number that stat(2) reports for everything in the subvolume, st_dev.
    package var device: DeviceNumber
    /// Whether the subvolume is read-only: btrfs_permission() of fs/btrfs/inode.c; nil if that could not be seen.
    package var isReadOnly: Bool?

    /// Creates a subvolume with these values.
    package init(device: DeviceNumber, isReadOnly: Bool?) {
      self.device = device
      self.isReadOnly = isReadOnly
    }
  }
}

extension InodeFacts.Entry.Found {
  /// The mount at this name does not answer.
  static let unresponsive = Self.unreadable(.ETIMEDOUT)
  /// The name leads to an automount, and looking it up would mount something.
  static let automount = Self.unreadable(.EREMOTE)
}

extension InodeFacts {
  /// Returns one digit of the mode: shift 6 for the owner, 3 for the group, 0 for others.
  func bits(_ shift: UInt16) -> Permissions { Permissions(rawValue: UInt8(mode >> shift & 7)) }

  /// Returns the permissions of an ACL entry; empty if there is no such entry.
  func entry(_ tag: AccessControlList.Tag, _ id: UInt32? = nil) -> Permissions {
    acl?.entries.first { $0.tag == tag && (id == nil || $0.id == id) }?.permissions ?? []
  }
}

extension DeviceNumber {
  /// The controlling terminal of a process, /dev/tty: Documentation/admin-guide/devices.txt of Linux.
  static let terminal = DeviceNumber(major: 5, minor: 0)
  /// The log of the kernel, /dev/kmsg.
  static let kernelLog = DeviceNumber(major: 1, minor: 11)
}
