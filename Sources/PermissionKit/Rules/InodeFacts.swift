/// What was read about one inode: all that the kernel looks at when it decides on access.
///
/// Ids are as statx(2) shows them in the view that read them, before any idmapped mount is undone.
package struct InodeFacts: Hashable, Sendable {
  /// A name in a directory and what was found there.
  package struct Entry: Hashable, Sendable {
    /// One component, as getdents64(2) gives it.
    package var name: PathBytes
    /// What a lookup of the name gave.
    package var found: Found

    /// What a lookup can give.
    package enum Found: Hashable, Sendable {
      /// The inode with this index in `AccessFacts.inodes`.
      case inode(Int)
      /// Nothing: a lookup gives ENOENT.
      case missing
      /// The lookup itself was refused to the reader: nothing is known.
      case unreadable(Errno)
    }

    /// Makes one of its parts.
    package init(name: PathBytes, found: Found) {
      self.name = name
      self.found = found
    }
  }

  /// The file type, on which it depends what else is asked.
  package var kind: FileKind
  /// Permission bits with set-id and sticky bits, 07777.
  ///
  /// With an ACL the group bits are its mask.
  package var mode: UInt16
  /// The owner's uid, `stx_uid`.
  package var uid: UInt32
  /// The owning group's gid, `stx_gid`.
  package var gid: UInt32
  /// The access ACL; nil when the inode has none beyond its mode.
  package var acl: AccessControlList?
  /// Of a directory: the ACL that what is created in it inherits; read only where it is asked for.
  package var defaultACL: AccessControlList?
  /// The ACL could not be read, for this reason; `acl` then says nothing.
  package var aclError: Errno?
  /// The file system keeps ACLs; nil when it was not asked.
  package var hasACLs: Bool?
  /// STATX_ATTR_IMMUTABLE, see ioctl_iflags(2).
  package var isImmutable = false
  /// STATX_ATTR_APPEND, see ioctl_iflags(2).
  package var isAppendOnly = false
  /// The device number of a device node.
  package var device: DeviceNumber?
  /// What the driver's own open answers, where that is known; 0 when it opens.
  package var driverErrno: Errno?
  /// Index into `AccessFacts.mounts`.
  package var mount: Int
  /// Index of the directory that `..` leads to; a root is its own parent.
  package var parent: Int
  /// Of a directory: the names that were looked up, or all there are.
  package var entries: [Entry] = []
  /// `entries` holds every name: one that is not there is missing.
  package var entriesAreComplete = false
  /// Of a symbolic link: its target, as readlink(2) gives it.
  package var target: PathBytes?
  /// Of a magic link (/proc/PID/fd/N): the inode it jumps to, see `nd_jump_link()` in fs/namei.c.
  package var jump: Int?

  /// Makes one of its parts; attributes, entries and what failed are set afterwards.
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

  /// The part of the facts that people look at.
  package var summary: InodeSummary {
    InodeSummary(kind: kind, mode: mode, uid: uid, gid: gid, acl: acl)
  }
}
