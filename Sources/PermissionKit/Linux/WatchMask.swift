/// The IN_… bits of inotify(7) that can show a change of access.
///
/// IN_OPEN and IN_CLOSE_NOWRITE are not included, because a check itself opens the files it checks.
@_spi(SystemCalls) public struct WatchMask: OptionSet, Hashable, Sendable {
  /// The bits in the format of inotify_add_watch(2) and of events.
  public let rawValue: UInt32

  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// IN_ATTRIB: the mode, owner, ACL or number of links changed.
  public static let attributes = WatchMask(rawValue: 0x4)
  /// IN_CLOSE_WRITE: a writer closed the file.
  public static let closeWrite = WatchMask(rawValue: 0x8)
  /// IN_MOVED_FROM: a name left the directory.
  public static let movedFrom = WatchMask(rawValue: 0x40)
  /// IN_MOVED_TO: a name entered the directory.
  public static let movedTo = WatchMask(rawValue: 0x80)
  /// IN_CREATE: a name was created in the directory.
  public static let create = WatchMask(rawValue: 0x100)
  /// IN_DELETE: a name was removed from the directory.
  public static let delete = WatchMask(rawValue: 0x200)
  /// IN_DELETE_SELF: the inode itself was deleted.
  public static let deleteSelf = WatchMask(rawValue: 0x400)
  /// IN_MOVE_SELF: the inode itself got another name.
  public static let moveSelf = WatchMask(rawValue: 0x800)
  /// IN_Q_OVERFLOW: events were lost; reported even if not asked for.
  public static let overflow = WatchMask(rawValue: 0x4000)
  /// IN_IGNORED: the watch was removed; reported even if not asked for.
  public static let ignored = WatchMask(rawValue: 0x8000)
  /// IN_DONT_FOLLOW: watch the symbolic link itself.
  public static let doNotFollow = WatchMask(rawValue: 0x200_0000)
  /// IN_MASK_ADD: add to the bits that are already watched on the inode.
  public static let addToMask = WatchMask(rawValue: 0x2000_0000)

  /// The bits to watch on each inode on the way to a resource.
  static let node: WatchMask = [
    .attributes, .deleteSelf, .moveSelf, .doNotFollow, .addToMask,
  ]
  /// The bits to watch on a directory, for the directory itself and the names in it.
  static let directory: WatchMask = [.node, .create, .delete, .movedFrom, .movedTo]
}
