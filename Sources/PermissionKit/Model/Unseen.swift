/// A fact that a check wanted and could not look at.
///
/// It is neither there nor absent: ENOENT counts only where the file system that shows it is mounted.
public struct Unseen: Hashable, Sendable, CustomStringConvertible {
  /// The path of the file, folder or link.
  public var path: PathBytes
  /// The call that failed: `openat` of a file or a name, `getxattr` of an ACL, `ioctl` of the key of an encrypted folder.
  public var call: String
  /// Why it failed.
  public var errno: Errno

  /// Creates a value.
  ///
  /// - Parameters:
  ///   - path: The path of the file, folder or link.
  ///   - call: The call that failed.
  ///   - errno: Why it failed.
  public init(_ path: PathBytes, call: String = "openat", _ errno: Errno) {
    (self.path, self.call, self.errno) = (path, call, errno)
  }

  /// The fact, for people: `/proc/self/status (EACCES)`, `the ACL of /dev/video0 (EIO)`.
  public var description: String {
    let part = ["getxattr": "the ACL of ", "ioctl": "the key of "][call] ?? ""
    return "\(part)\(path) (\(errno))"
  }
}
