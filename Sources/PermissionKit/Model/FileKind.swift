/// The file type, from the S_IFMT bits, see inode(7).
public enum FileKind: String, Hashable, Sendable, CaseIterable {
  /// S_IFDIR, a directory; `execute` on a directory means search.
  case directory
  /// S_IFREG, an ordinary file.
  case regular
  /// S_IFLNK, a symbolic link; the kernel never checks the mode of a link.
  case symbolicLink = "symbolic-link"
  /// S_IFCHR, a character device, such as the nodes of V4L2 and ALSA.
  case characterDevice = "character-device"
  /// S_IFBLK, a block device, such as a disk.
  case blockDevice = "block-device"
  /// S_IFIFO, a named pipe, see fifo(7).
  case fifo
  /// S_IFSOCK, a socket, which open(2) cannot open, see unix(7).
  case socket

  /// Whether this is a device, FIFO or socket, as `special_file()` in include/linux/fs.h defines.
  package var isSpecial: Bool {
    switch self {
    case .characterDevice, .blockDevice, .fifo, .socket: true
    case .directory, .regular, .symbolicLink: false
    }
  }

  /// Whether this is a device, which nodev and the device cgroup apply to.
  package var isDevice: Bool { self == .characterDevice || self == .blockDevice }
}

extension FileKind {
  /// The word for people: `character device`.
  package var noun: String {
    switch self {
    case .directory: "directory"
    case .regular: "regular file"
    case .symbolicLink: "symbolic link"
    case .characterDevice: "character device"
    case .blockDevice: "block device"
    case .fifo: "FIFO"
    case .socket: "socket"
    }
  }
}
