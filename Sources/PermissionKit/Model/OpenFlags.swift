/// The flags of open(2) that take part in a decision; values of include/uapi/asm-generic/fcntl.h.
public struct OpenFlags: OptionSet, Hashable, Sendable {
  /// The bits as open(2) takes them.
  public let rawValue: Int32

  /// Takes the bits as they are.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// O_RDONLY, which is no bit: every set of flags contains it.
  public static let readOnly = OpenFlags([])
  /// O_WRONLY: access mode 1.
  public static let writeOnly = OpenFlags(rawValue: 0o1)
  /// O_RDWR: access mode 2, not 1 with another bit.
  public static let readWrite = OpenFlags(rawValue: 0o2)
  /// Access mode 3: read and write permission are checked, neither is granted.
  public static let checkOnly = OpenFlags(rawValue: 0o3)
  /// O_CREAT: create the file if it is missing.
  public static let create = OpenFlags(rawValue: 0o100)
  /// O_EXCL: with O_CREAT, refuse what exists (EEXIST), a symbolic link included.
  public static let exclusive = OpenFlags(rawValue: 0o200)
  /// O_NOCTTY: a terminal does not become the controlling one.
  public static let noControllingTerminal = OpenFlags(rawValue: 0o400)
  /// O_TRUNC: empty the file, which asks for write permission in any access mode.
  public static let truncate = OpenFlags(rawValue: 0o1000)
  /// O_APPEND: write at the end only, as an append-only file demands.
  public static let append = OpenFlags(rawValue: 0o2000)
  /// O_NONBLOCK: do not wait, be it for a FIFO's other end or a busy PCM.
  public static let nonBlocking = OpenFlags(rawValue: 0o4000)
  /// O_DIRECTORY: refuse what is not a directory (ENOTDIR).
  public static let directory = OpenFlags(rawValue: 0o200000)
  /// O_NOFOLLOW: refuse a symbolic link as the last component (ELOOP).
  public static let noFollow = OpenFlags(rawValue: 0o400000)
  /// O_NOATIME: leave the access time alone, for owners and CAP_FOWNER only (EPERM).
  public static let noAccessTime = OpenFlags(rawValue: 0o1000000)
  /// O_CLOEXEC: execve(2) closes the descriptor; takes no part in a decision.
  public static let closeOnExec = OpenFlags(rawValue: 0o2000000)
  /// O_PATH: walk only; nothing is asked of the last component itself.
  public static let path = OpenFlags(rawValue: 0o10000000)
  /// O_TMPFILE, which includes O_DIRECTORY.
  public static let temporaryFile = OpenFlags(rawValue: 0o20200000)

  /// The access mode for wanting read, write or both.
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
  /// What the inode must permit for the access mode, see ACC_MODE() in fs/open.c.
  var permissions: Permissions {
    switch accessMode {
    case 0: .read
    case 1: .write
    default: [.read, .write]
    }
  }
}
