/// The file system rights of Landlock that matter for an open, see landlock(7).
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
  /// LANDLOCK_ACCESS_FS_MAKE_REG: create a regular file; a right on the directory.
  package static let makeRegular = LandlockRights(rawValue: 1 << 8)
  /// LANDLOCK_ACCESS_FS_TRUNCATE: truncate a file; since ABI 3.
  package static let truncate = LandlockRights(rawValue: 1 << 14)
}
