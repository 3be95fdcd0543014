/// The file type, from the S_IFMT bits, see inode(7).
public enum FileKind: String, Hashable, Sendable, CaseIterable {
  /// S_IFDIR; `execute` on it means search.
  case directory
  /// S_IFREG, an ordinary file.
  case regular
  /// S_IFLNK; its own mode is never asked.
  case symbolicLink = "symbolic-link"
  /// S_IFCHR: V4L2 and ALSA nodes are such.
  case characterDevice = "character-device"
  /// S_IFBLK, a disk or the like.
  case blockDevice = "block-device"
  /// S_IFIFO, a named pipe, see fifo(7).
  case fifo
  /// S_IFSOCK, which open(2) cannot open, see unix(7).
  case socket

  /// Device, FIFO or socket: what `special_file()` in include/linux/fs.h names so.
  public var isSpecial: Bool {
    switch self {
    case .characterDevice, .blockDevice, .fifo, .socket: true
    case .directory, .regular, .symbolicLink: false
    }
  }

  /// Character or block device: what nodev and the device cgroup are about.
  public var isDevice: Bool { self == .characterDevice || self == .blockDevice }
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
