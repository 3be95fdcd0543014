/// An error number of the kernel, as in errno(3), with its name.
///
/// The values are those of include/uapi/asm-generic/errno.h.
public struct Errno: RawRepresentable, Error, Hashable, Sendable, Codable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let EPERM = Errno(rawValue: 1)
  public static let ENOENT = Errno(rawValue: 2)
  public static let EINTR = Errno(rawValue: 4)
  public static let EIO = Errno(rawValue: 5)
  public static let ENXIO = Errno(rawValue: 6)
  public static let EBADF = Errno(rawValue: 9)
  public static let EACCES = Errno(rawValue: 13)
  public static let EBUSY = Errno(rawValue: 16)
  public static let EEXIST = Errno(rawValue: 17)
  public static let ENODEV = Errno(rawValue: 19)
  public static let ENOTDIR = Errno(rawValue: 20)
  public static let EISDIR = Errno(rawValue: 21)
  public static let EINVAL = Errno(rawValue: 22)
  public static let ENOTTY = Errno(rawValue: 25)
  public static let ETXTBSY = Errno(rawValue: 26)
  public static let EFBIG = Errno(rawValue: 27)
  public static let ENOSPC = Errno(rawValue: 28)
  public static let EROFS = Errno(rawValue: 30)
  public static let EPIPE = Errno(rawValue: 32)
  public static let ERANGE = Errno(rawValue: 34)
  public static let ENAMETOOLONG = Errno(rawValue: 36)
  public static let ENOSYS = Errno(rawValue: 38)
  public static let ELOOP = Errno(rawValue: 40)
  public static let ENODATA = Errno(rawValue: 61)
  public static let EOVERFLOW = Errno(rawValue: 75)
  public static let EOPNOTSUPP = Errno(rawValue: 95)

  private static let names: [Int32: String] = [
    1: "EPERM", 2: "ENOENT", 3: "ESRCH", 4: "EINTR", 5: "EIO", 6: "ENXIO", 9: "EBADF",
    12: "ENOMEM", 13: "EACCES", 16: "EBUSY", 17: "EEXIST", 19: "ENODEV", 20: "ENOTDIR",
    21: "EISDIR", 22: "EINVAL", 23: "ENFILE", 24: "EMFILE", 25: "ENOTTY", 26: "ETXTBSY",
    27: "EFBIG", 28: "ENOSPC", 30: "EROFS", 32: "EPIPE", 34: "ERANGE", 36: "ENAMETOOLONG",
    38: "ENOSYS", 40: "ELOOP", 61: "ENODATA", 75: "EOVERFLOW", 95: "EOPNOTSUPP", 116: "ESTALE",
    122: "EDQUOT",
  ]
}

extension Errno: CustomStringConvertible {
  /// The name, as in errno(3): `EACCES`; a number without a name here reads `errno 133`.
  public var description: String { Self.names[rawValue] ?? "errno \(rawValue)" }
}
