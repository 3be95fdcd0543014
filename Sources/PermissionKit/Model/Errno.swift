/// An error number of the kernel, as in errno(3), with its name.
///
/// The values are those of include/uapi/asm-generic/errno.h.
public struct Errno: RawRepresentable, Error, Hashable, Sendable {
  /// The number, positive.
  public let rawValue: Int32

  /// Creates an errno from any number, with or without a name in this type.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Operation not permitted: immutable or append-only inode, device cgroup, seccomp, driver.
  public static let EPERM = Errno(rawValue: 1)
  /// No such file or directory, or an empty path.
  public static let ENOENT = Errno(rawValue: 2)
  /// Interrupted by a signal.
  public static let EINTR = Errno(rawValue: 4)
  /// Input or output error.
  public static let EIO = Errno(rawValue: 5)
  /// No such device or address: no driver, a socket, a FIFO without a reader.
  public static let ENXIO = Errno(rawValue: 6)
  /// Bad file descriptor.
  package static let EBADF = Errno(rawValue: 9)
  package static let ECHILD = Errno(rawValue: 10)
  /// Try again: no data yet, or the state changed while it was read.
  public static let EAGAIN = Errno(rawValue: 11)
  /// Permission denied: mode, ACL, nodev, noexec, an LSM.
  public static let EACCES = Errno(rawValue: 13)
  /// Device or resource busy.
  public static let EBUSY = Errno(rawValue: 16)
  /// File exists, and O_EXCL was given.
  public static let EEXIST = Errno(rawValue: 17)
  /// The two names are on different mounts.
  public static let EXDEV = Errno(rawValue: 18)
  /// No such device: a driver has nothing behind this node.
  public static let ENODEV = Errno(rawValue: 19)
  /// Not a directory, although the path continues or O_DIRECTORY asks for a directory.
  public static let ENOTDIR = Errno(rawValue: 20)
  /// Is a directory, which open(2) can neither write nor create.
  public static let EISDIR = Errno(rawValue: 21)
  /// Invalid argument: for open(2), flags that exclude one another.
  public static let EINVAL = Errno(rawValue: 22)
  /// Too many open files: the process has as many descriptors as its limit allows.
  package static let EMFILE = Errno(rawValue: 24)
  /// Not a terminal, or a device that does not support this ioctl.
  public static let ENOTTY = Errno(rawValue: 25)
  /// Text file busy: a process executes the file.
  package static let ETXTBSY = Errno(rawValue: 26)
  /// File too large, or larger than the limit of `System.contents(of:limit:)`.
  package static let EFBIG = Errno(rawValue: 27)
  /// No space left on the device.
  public static let ENOSPC = Errno(rawValue: 28)
  /// The limit of a quota is reached.
  package static let EDQUOT = Errno(rawValue: 122)
  /// Read-only file system: the mount or the superblock is read-only.
  public static let EROFS = Errno(rawValue: 30)
  /// Too many links.
  package static let EMLINK = Errno(rawValue: 31)
  /// Broken pipe: nobody reads the other end.
  package static let EPIPE = Errno(rawValue: 32)
  /// The result does not fit into the buffer.
  package static let ERANGE = Errno(rawValue: 34)
  /// A name over 255 bytes, or a path over 4,095.
  public static let ENAMETOOLONG = Errno(rawValue: 36)
  /// No such system call, or a seccomp filter says so.
  package static let ENOSYS = Errno(rawValue: 38)
  /// The directory is not empty.
  public static let ENOTEMPTY = Errno(rawValue: 39)
  /// More than 40 symbolic links, or a link that must not be followed.
  public static let ELOOP = Errno(rawValue: 40)
  /// No such extended attribute: the inode has no ACL.
  public static let ENODATA = Errno(rawValue: 61)
  /// Object is remote: an automount that is not mounted yet.
  package static let EREMOTE = Errno(rawValue: 66)
  /// Value too large: the mount has no id mapping for the caller's ids.
  package static let EOVERFLOW = Errno(rawValue: 75)
  /// Operation not supported: the file system has no ACLs.
  public static let EOPNOTSUPP = Errno(rawValue: 95)
  /// Timed out: a server or daemon does not answer.
  package static let ETIMEDOUT = Errno(rawValue: 110)
  /// Connection refused: nobody listens on the socket.
  public static let ECONNREFUSED = Errno(rawValue: 111)
  /// Stale file handle: the inode was deleted.
  package static let ESTALE = Errno(rawValue: 116)

  /// Required key not available: the file is encrypted and locked, see fscrypt.
  package static let ENOKEY = Errno(rawValue: 126)
  /// Accessing a corrupted shared library.
  package static let ELIBBAD = Errno(rawValue: 80)
  /// Exec format error.
  package static let ENOEXEC = Errno(rawValue: 8)

  /// A switch, since a dictionary takes longer to set up than everything else that a message needs.
  private var name: String? {
    switch rawValue {
    case 1: "EPERM"
    case 2: "ENOENT"
    case 3: "ESRCH"
    case 4: "EINTR"
    case 5: "EIO"
    case 6: "ENXIO"
    case 9: "EBADF"
    case 10: "ECHILD"
    case 11: "EAGAIN"
    case 12: "ENOMEM"
    case 13: "EACCES"
    case 16: "EBUSY"
    case 17: "EEXIST"
    case 8: "ENOEXEC"
    case 18: "EXDEV"
    case 19: "ENODEV"
    case 20: "ENOTDIR"
    case 21: "EISDIR"
    case 22: "EINVAL"
    case 23: "ENFILE"
    case 24: "EMFILE"
    case 25: "ENOTTY"
    case 26: "ETXTBSY"
    case 27: "EFBIG"
    case 28: "ENOSPC"
    case 30: "EROFS"
    case 31: "EMLINK"
    case 32: "EPIPE"
    case 34: "ERANGE"
    case 36: "ENAMETOOLONG"
    case 38: "ENOSYS"
    case 39: "ENOTEMPTY"
    case 40: "ELOOP"
    case 61: "ENODATA"
    case 66: "EREMOTE"
    case 75: "EOVERFLOW"
    case 95: "EOPNOTSUPP"
    case 110: "ETIMEDOUT"
    case 111: "ECONNREFUSED"
    case 116: "ESTALE"
    case 122: "EDQUOT"
    case 80: "ELIBBAD"
    case 126: "ENOKEY"
    default: nil
    }
  }
}

extension Errno: CustomStringConvertible {
  /// The name as in errno(3): `EACCES`; for a number without a name here, `errno 133`.
  public var description: String { name ?? "errno \(rawValue)" }
}
