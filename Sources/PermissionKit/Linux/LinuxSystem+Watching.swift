internal import CCap
internal import Glibc

extension LinuxSystem {
  /// inotify_init1(2) with IN_NONBLOCK and IN_CLOEXEC.
  package func inotify_init1() throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(ccap_inotify_init1()))
  }

  /// inotify_add_watch(2), which needs read permission on the inode; a NUL in the path gives
  /// EINVAL.
  package func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 {
    if path.bytes.contains(0) { throw .EINVAL }
    return try check(
      unsafe withCString(path) {
        unsafe ccap_inotify_add_watch(inotify.rawValue, $0, mask.rawValue)
      })
  }

  /// inotify_rm_watch(2); ignores an error, because the watch is gone in any case.
  package func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {
    _ = Glibc.inotify_rm_watch(inotify.rawValue, watch)
  }

  /// poll(2), not repeated after EINTR.
  package func poll(
    _ requests: [PollRequest], timeout: Int32?
  ) throws(Errno) -> [PollEvents] {
    var polled = requests.map {
      pollfd(fd: $0.descriptor.rawValue, events: $0.events.rawValue, revents: 0)
    }
    _ = try check(unsafe ccap_poll(&polled, UInt(polled.count), timeout ?? -1))
    return polled.map { PollEvents(rawValue: $0.revents) }
  }

  /// eventfd(2) with EFD_NONBLOCK and EFD_CLOEXEC.
  package func eventfd() throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(ccap_eventfd()))
  }

  /// pthread_sigmask(3) for the calling thread, then signalfd(2).
  package func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(unsafe ccap_signalfd(signals, Int32(signals.count))))
  }

  /// localtime_r(3), which uses TZ or /etc/localtime.
  package func localtime(_ microseconds: Int64) -> WallTime {
    var seconds = time_t(microseconds / 1_000_000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    return unsafe WallTime(
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec),
      offset: parts.tm_gmtoff, zone: parts.tm_zone.map { unsafe String(cString: $0) } ?? "UTC")
  }
}
