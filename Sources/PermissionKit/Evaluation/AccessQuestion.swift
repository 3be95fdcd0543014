/// What is asked of the kernel about a path: a system call with the arguments that matter.
public enum AccessQuestion: Hashable, Sendable {
  /// open(2) with these flags.
  case open(OpenFlags)
  /// faccessat2(2) with AT_EACCESS: judged by the effective (file system) ids.
  case faccessat2(Permissions, followsLink: Bool)
  /// access(2): judged by the real ids.
  case access(Permissions)
  /// execveat(2) with AT_EXECVE_CHECK: may it be executed?
  case execute
}

/// The flags of open(2) that take part in a decision; values of include/uapi/asm-generic/fcntl.h.
public struct OpenFlags: OptionSet, Hashable, Sendable, Codable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let readOnly = OpenFlags([])
  public static let writeOnly = OpenFlags(rawValue: 0o1)
  public static let readWrite = OpenFlags(rawValue: 0o2)
  /// Access mode 3: read and write permission are checked, neither is granted.
  public static let checkOnly = OpenFlags(rawValue: 0o3)
  public static let create = OpenFlags(rawValue: 0o100)
  public static let exclusive = OpenFlags(rawValue: 0o200)
  public static let noControllingTerminal = OpenFlags(rawValue: 0o400)
  public static let truncate = OpenFlags(rawValue: 0o1000)
  public static let append = OpenFlags(rawValue: 0o2000)
  public static let nonBlocking = OpenFlags(rawValue: 0o4000)
  public static let directory = OpenFlags(rawValue: 0o200000)
  public static let noFollow = OpenFlags(rawValue: 0o400000)
  public static let noAccessTime = OpenFlags(rawValue: 0o1000000)
  public static let closeOnExec = OpenFlags(rawValue: 0o2000000)
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
