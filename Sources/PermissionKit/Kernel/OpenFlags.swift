/// The flags of open(2) that matter for a decision.
///
/// The values are those of include/uapi/asm-generic/fcntl.h.
@_spi(SystemCalls) public struct OpenFlags: OptionSet, Hashable, Sendable {
  /// The bits as open(2) takes them.
  public let rawValue: Int32

  /// Creates a set from its bits.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// O_RDONLY, which is no bit, so every set of flags contains it.
  public static let readOnly = OpenFlags([])
  /// O_WRONLY: access mode 1.
  public static let writeOnly = OpenFlags(rawValue: 0o1)
  /// O_RDWR: access mode 2, which is not O_WRONLY with another bit.
  public static let readWrite = OpenFlags(rawValue: 0o2)
  /// Access mode 3: the kernel checks read and write permission and grants neither.
  public static let checkOnly = OpenFlags(rawValue: 0o3)
  /// O_CREAT: create the file if it is missing.
  public static let create = OpenFlags(rawValue: 0o100)
  /// O_EXCL: with O_CREAT, refuse a file or symbolic link that exists (EEXIST).
  public static let exclusive = OpenFlags(rawValue: 0o200)
  /// O_NOCTTY: do not make a terminal the controlling terminal.
  public static let noControllingTerminal = OpenFlags(rawValue: 0o400)
  /// O_TRUNC: empty the file; needs write permission in any access mode.
  public static let truncate = OpenFlags(rawValue: 0o1000)
  /// O_APPEND: write only at the end, which an append-only file requires.
  public static let append = OpenFlags(rawValue: 0o2000)
  /// O_NONBLOCK: do not wait, for example for the other end of a FIFO or for a busy PCM.
  public static let nonBlocking = OpenFlags(rawValue: 0o4000)
  /// O_DIRECTORY: refuse everything except a directory (ENOTDIR).
  public static let directory = OpenFlags(rawValue: 0o200000)
  /// O_NOFOLLOW: refuse a symbolic link as the last component (ELOOP).
  public static let noFollow = OpenFlags(rawValue: 0o400000)
  /// O_NOATIME: do not change the access time; for owners and CAP_FOWNER only (EPERM).
  public static let noAccessTime = OpenFlags(rawValue: 0o1000000)
  /// O_CLOEXEC: execve(2) closes the descriptor; without effect on a decision.
  public static let closeOnExec = OpenFlags(rawValue: 0o2000000)
  /// O_PATH: only walk the path; the kernel checks nothing on the last component itself.
  public static let path = OpenFlags(rawValue: 0o10000000)
  /// O_TMPFILE, which includes O_DIRECTORY.
  public static let temporaryFile = OpenFlags(rawValue: 0o20200000)

  /// Creates the access mode that `need` requires; `execute` does not count.
  public init(_ need: Permissions) {
    switch (need.contains(.read), need.contains(.write)) {
    case (_, false): self = .readOnly
    case (false, true): self = .writeOnly
    case (true, true): self = .readWrite
    }
  }

  /// The access mode, 0 to 3.
  var accessMode: Int32 { rawValue & 3 }
  var opensForReading: Bool { accessMode == 0 || accessMode == 2 }
  var opensForWriting: Bool { accessMode == 1 || accessMode == 2 }
  /// The permissions that the access mode requires of the inode, see ACC_MODE() in fs/open.c.
  var permissions: Permissions {
    switch accessMode {
    case 0: .read
    case 1: .write
    default: [.read, .write]
    }
  }
}
