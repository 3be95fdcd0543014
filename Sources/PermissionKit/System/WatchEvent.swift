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

/// One event of inotify(7).
public struct WatchEvent: Hashable, Sendable {
  /// The number of the watch; -1 of an overflow.
  public var watch: Int32
  /// What happened.
  public var mask: WatchMask
  /// The name in the directory that is watched; empty when it happened to the inode itself.
  public var name: PathBytes

  /// Makes one of its parts.
  public init(watch: Int32, mask: WatchMask, name: PathBytes = "") {
    self.watch = watch
    self.mask = mask
    self.name = name
  }

  /// Calls `body` with each event in what a read(2) of an inotify descriptor gave.
  ///
  /// struct inotify_event: wd 4, mask 4, cookie 4, len 4, then `len` bytes of name and NULs.
  static func each(in bytes: [UInt8], _ body: (WatchEvent) -> Void) {
    func word(_ offset: Int) -> UInt32 {
      unsafe bytes.withUnsafeBytes {
        unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      }
    }
    var offset = 0
    while offset + 16 <= bytes.count {
      let end = offset + 16 + Int(word(offset + 12))
      guard end <= bytes.count else { return }
      let name = bytes[(offset + 16)..<end].prefix { $0 != 0 }
      body(
        WatchEvent(
          watch: Int32(bitPattern: word(offset)), mask: WatchMask(rawValue: word(offset + 4)),
          name: PathBytes(Array(name))))
      offset = end
    }
  }
}

/// What is waited for on a descriptor, and what is ready, see poll(2).
public struct PollEvents: OptionSet, Hashable, Sendable {
  /// The bits of `struct pollfd`.
  public let rawValue: Int16

  /// Takes the bits as they are.
  public init(rawValue: Int16) { self.rawValue = rawValue }

  /// POLLIN: there is something to read.
  public static let readable = PollEvents(rawValue: 0x1)
  /// POLLPRI: of mountinfo, the mounts have changed.
  public static let priority = PollEvents(rawValue: 0x2)
  /// POLLERR: also that nobody reads a pipe any more; sent unasked.
  public static let error = PollEvents(rawValue: 0x8)
}

/// A descriptor to wait for, see poll(2).
public struct PollRequest: Hashable, Sendable {
  /// What to wait for something on.
  public var descriptor: Descriptor
  /// What to wait for; errors and hang-ups count in any case.
  public var events: PollEvents

  /// Makes one of its parts.
  public init(_ descriptor: Descriptor, _ events: PollEvents) {
    self.descriptor = descriptor
    self.events = events
  }
}

/// The clock on the wall, see localtime_r(3).
public struct WallTime: Hashable, Sendable {
  /// 0 to 23.
  public var hour: Int
  /// 0 to 59.
  public var minute: Int
  /// 0 to 60, for leap seconds.
  public var second: Int

  /// Makes one of its parts.
  public init(hour: Int, minute: Int, second: Int) {
    self.hour = hour
    self.minute = minute
    self.second = second
  }
}

extension System {
  /// ENOSYS: a system that can be watched says so itself.
  public func inotify_init1() throws(Errno) -> Descriptor { throw .ENOSYS }
  /// ENOSYS: a system that can be watched says so itself.
  public func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 { throw .ENOSYS }
  /// Does nothing.
  public func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {}
  /// ENOSYS: a system that can be watched says so itself.
  public func poll(
    _ requests: [PollRequest], timeout: Int32?
  ) throws(Errno) -> [PollEvents] { throw .ENOSYS }
  /// ENOSYS: a system that can be watched says so itself.
  public func eventfd() throws(Errno) -> Descriptor { throw .ENOSYS }
  /// ENOSYS: a system that can be watched says so itself.
  public func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor { throw .ENOSYS }
  /// The time in UTC: of other zones a system without localtime_r(3) knows nothing.
  public func localtime(_ microseconds: Int64) -> WallTime {
    let second = Int((microseconds / 1_000_000) % 86_400)
    return WallTime(hour: second / 3600, minute: second / 60 % 60, second: second % 60)
  }
}
