/// The IN_… bits of inotify(7) that a change of access can show itself by.
///
/// IN_OPEN and IN_CLOSE_NOWRITE are not among them: a check itself opens what it looks at.
public struct WatchMask: OptionSet, Hashable, Sendable {
  /// The bits as inotify_add_watch(2) takes them and as an event has them.
  public let rawValue: UInt32

  /// Takes the bits as they are.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// IN_ATTRIB: mode, owner, ACL or number of links.
  public static let attributes = WatchMask(rawValue: 0x4)
  /// IN_CLOSE_WRITE: who wrote to it has closed it.
  public static let closeWrite = WatchMask(rawValue: 0x8)
  /// IN_MOVED_FROM: a name left the directory.
  public static let movedFrom = WatchMask(rawValue: 0x40)
  /// IN_MOVED_TO: a name came into the directory.
  public static let movedTo = WatchMask(rawValue: 0x80)
  /// IN_CREATE: a name was made in the directory.
  public static let create = WatchMask(rawValue: 0x100)
  /// IN_DELETE: a name of the directory was removed.
  public static let delete = WatchMask(rawValue: 0x200)
  /// IN_DELETE_SELF: the inode itself is gone.
  public static let deleteSelf = WatchMask(rawValue: 0x400)
  /// IN_MOVE_SELF: the inode itself has another name.
  public static let moveSelf = WatchMask(rawValue: 0x800)
  /// IN_UNMOUNT: its file system was unmounted; sent unasked.
  public static let unmount = WatchMask(rawValue: 0x2000)
  /// IN_Q_OVERFLOW: events were lost; sent unasked.
  public static let overflow = WatchMask(rawValue: 0x4000)
  /// IN_IGNORED: the watch is gone; sent unasked.
  public static let ignored = WatchMask(rawValue: 0x8000)
  /// IN_DONT_FOLLOW: watch a symbolic link itself.
  public static let doNotFollow = WatchMask(rawValue: 0x200_0000)
  /// IN_MASK_ADD: keep what is watched on the inode already.
  public static let addToMask = WatchMask(rawValue: 0x2000_0000)

  /// What is watched on anything on the way to a resource.
  static let node: WatchMask = [
    .attributes, .deleteSelf, .moveSelf, .doNotFollow, .addToMask,
  ]
  /// What is watched on a directory, of itself and of the names in it.
  static let directory: WatchMask = [.node, .create, .delete, .movedFrom, .movedTo]
}
