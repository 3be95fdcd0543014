/// The file system rights of Landlock, see landlock(7).
public struct LandlockRights: OptionSet, Hashable, Sendable {
  /// The LANDLOCK_ACCESS_FS_… bits of include/uapi/linux/landlock.h.
  public let rawValue: UInt32

  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// LANDLOCK_ACCESS_FS_EXECUTE: execute a file.
  package static let execute = LandlockRights(rawValue: 1 << 0)
  /// LANDLOCK_ACCESS_FS_WRITE_FILE: open a file for writing.
  package static let writeFile = LandlockRights(rawValue: 1 << 1)
  /// LANDLOCK_ACCESS_FS_READ_FILE: open a file for reading; an execve(2) needs this right too.
  package static let readFile = LandlockRights(rawValue: 1 << 2)
  /// LANDLOCK_ACCESS_FS_READ_DIR: open a directory.
  package static let readDirectory = LandlockRights(rawValue: 1 << 3)
  /// LANDLOCK_ACCESS_FS_REMOVE_DIR: remove or rename a directory; a right on the directory above.
  package static let removeDirectory = LandlockRights(rawValue: 1 << 4)
  /// LANDLOCK_ACCESS_FS_REMOVE_FILE: remove or rename a file; a right on the directory.
  package static let removeFile = LandlockRights(rawValue: 1 << 5)
  /// LANDLOCK_ACCESS_FS_MAKE_CHAR: create or rename a character device.
  package static let makeCharacterDevice = LandlockRights(rawValue: 1 << 6)
  /// LANDLOCK_ACCESS_FS_MAKE_DIR: create or rename a directory.
  package static let makeDirectory = LandlockRights(rawValue: 1 << 7)
  /// LANDLOCK_ACCESS_FS_MAKE_REG: create, link or rename a regular file; a right on the directory.
  package static let makeRegular = LandlockRights(rawValue: 1 << 8)
  /// LANDLOCK_ACCESS_FS_MAKE_SOCK: create, link or rename a socket.
  package static let makeSocket = LandlockRights(rawValue: 1 << 9)
  /// LANDLOCK_ACCESS_FS_MAKE_FIFO: create, link or rename a FIFO.
  package static let makeFIFO = LandlockRights(rawValue: 1 << 10)
  /// LANDLOCK_ACCESS_FS_MAKE_BLOCK: create, link or rename a block device.
  package static let makeBlockDevice = LandlockRights(rawValue: 1 << 11)
  /// LANDLOCK_ACCESS_FS_MAKE_SYM: create, link or rename a symbolic link.
  package static let makeSymbolicLink = LandlockRights(rawValue: 1 << 12)
  /// LANDLOCK_ACCESS_FS_TRUNCATE: truncate a file; since ABI 3.
  package static let truncate = LandlockRights(rawValue: 1 << 14)
}

extension LandlockRights {
  /// The right to make an inode of this kind: get_mode_access() of security/landlock/fs.c.
  static func making(_ kind: FileKind) -> LandlockRights {
    switch kind {
    case .directory: .makeDirectory
    case .regular: .makeRegular
    case .symbolicLink: .makeSymbolicLink
    case .characterDevice: .makeCharacterDevice
    case .blockDevice: .makeBlockDevice
    case .fifo: .makeFIFO
    case .socket: .makeSocket
    }
  }

  /// The right to remove an inode of this kind: maybe_remove() of security/landlock/fs.c.
  static func removing(_ kind: FileKind) -> LandlockRights {
    kind == .directory ? .removeDirectory : .removeFile
  }
}
