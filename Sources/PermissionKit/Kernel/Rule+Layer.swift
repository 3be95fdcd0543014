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
    case lookup(Lookup)
    /// A symbolic link that the kernel does not follow.
    case link(Link)
    /// The flags of a mount, or its superblock.
    case mount(Mount)
    /// An attribute of the inode: immutable, append-only.
    case attribute(Attribute)
    /// Ids without a mapping on the mount.
    case idMapping(IDMapping)
    /// The device cgroup.
    case deviceCgroup
    /// A security module: Landlock.
    case securityModule
    /// A rule of the file system itself.
    case fileSystem(FileSystem)
    /// The driver of a device.
    case driver
    /// The call: open(2) asks for something that this kind of file cannot do.
    case call
    /// The kernel asked nothing of the inode itself, or the file would be new.
    case nothing
    /// The deciding fact is not known.
    case unknown(Unknown)

    /// Why a lookup leads to nothing that can be opened.
    package enum Lookup: Hashable, Sendable {
      /// There is no such name.
      case missing
      /// A component is not a directory.
      case notADirectory
      /// There are more symbolic links than the kernel follows.
      case tooManyLinks
      /// The path or a component is too long.
      case tooLong
      /// The path is empty.
      case empty
      /// A socket or FIFO that cannot be opened.
      case notOpenable
    }

    /// Why the kernel does not follow a symbolic link.
    package enum Link: Hashable, Sendable {
      /// Another user made it in a sticky, world-writable directory.
      case protected
      /// Its mount has nosymfollow.
      case noFollowMount
      /// The call does not follow links.
      case notFollowed
    }

    /// What a mount refuses.
    package enum Mount: Hashable, Sendable {
      /// Writing, because the mount is read-only.
      case readOnly
      /// Writing, because the superblock is read-only.
      case readOnlySuperblock
      /// Device nodes (nodev).
      case noDevices
      /// Programs (noexec).
      case noExecute
    }

    /// An attribute of an inode, see chattr(1).
    package enum Attribute: Hashable, Sendable {
      /// The inode cannot be changed.
      case immutable
      /// The inode can only grow.
      case appendOnly
    }

    /// The ids that a mount does not map.
    package enum IDMapping: Hashable, Sendable {
      /// The owner or the group of the inode.
      case owner
      /// The ids of the subject.
      case subject
    }

    /// A rule of a file system.
    package enum FileSystem: Hashable, Sendable {
      /// A FUSE mount of another user.
      case fuseOtherUser
      /// The mode bits of sysfs, which bind root too.
      case kernfsMode
      /// A file of another user in a sticky directory.
      case stickyDirectory
      /// An encrypted file or directory whose key is not there.
      case locked
    }

    /// The fact that is not known.
    package enum Unknown: Hashable, Sendable {
      /// The user or group of an id.
      case unmappedID
      /// The answer of the server of a network file system.
      case networkServer
      /// The answer of the FUSE daemon.
      case fuseDaemon
      /// The answer of a server or daemon, after the bits granted access.
      case serverDecides
      /// Whether the kernel honours an ACL.
      case unheededACL
      /// What is behind an automount that is not mounted yet.
      case automount
      /// What is on a mount whose server does not answer.
      case notAnswering
      /// The answer of a file system with its own rules.
      case fileSystemRules
      /// What this process cannot read.
      case unreadable
    }
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
    case .missing: .lookup(.missing)
    case .notADirectory: .lookup(.notADirectory)
    case .tooManyLinks: .lookup(.tooManyLinks)
    case .pathTooLong, .nameTooLong: .lookup(.tooLong)
    case .emptyPath: .lookup(.empty)
    case .socketInode, .fifoWithoutReader, .fifoAccessMode: .lookup(.notOpenable)
    case .protectedSymlink: .link(.protected)
    case .noSymlinkMount: .link(.noFollowMount)
    case .openOfSymlink: .link(.notFollowed)
    case .readOnlyMount: .mount(.readOnly)
    case .readOnlySuperblock: .mount(.readOnlySuperblock)
    case .noDeviceMount: .mount(.noDevices)
    case .noExecuteMount: .mount(.noExecute)
    case .immutable: .attribute(.immutable)
    case .appendOnly: .attribute(.appendOnly)
    case .unmappedOwner: .idMapping(.owner)
    case .unmappedSubject: .idMapping(.subject)
    case .deviceCgroup: .deviceCgroup
    case .landlock: .securityModule
    case .fuseOtherUser: .fileSystem(.fuseOtherUser)
    case .kernfsMode: .fileSystem(.kernfsMode)
    case .stickyDirectory: .fileSystem(.stickyDirectory)
    case .driver: .driver
    case .invalidFlags, .writeToDirectory, .executeDirectory, .executeSpecialFile,
      .notOwnerForNoAccessTime, .exclusiveButExists, .createOnDirectory, .createWithTrailingSlash:
      .call
    case .nothingAsked, .created, .pathOnly: .nothing
    case .unmappedID: .unknown(.unmappedID)
    case .networkFileSystem: .unknown(.networkServer)
    case .serverDecides: .unknown(.serverDecides)
    case .unheededACL: .unknown(.unheededACL)
    case .automount: .unknown(.automount)
    case .notAnswering: .unknown(.notAnswering)
    case .locked: .fileSystem(.locked)
    case .fuseDaemon: .unknown(.fuseDaemon)
    case .fileSystemRules: .unknown(.fileSystemRules)
    case .unreadable, .unreadableIDMapping: .unknown(.unreadable)
    }
  }

  /// Whether mode or ACL decided, so that a change of permissions could help.
  package var isOfBits: Bool { if case .bits = layer { true } else { false } }
}

extension Rule.Layer {
  /// Whether the deciding fact is not known.
  var isUnknown: Bool { if case .unknown = self { true } else { false } }
}
