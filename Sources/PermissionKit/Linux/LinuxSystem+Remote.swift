internal import CCap
internal import Synchronization

// Mounts that may keep a caller waiting, and encryption.
extension LinuxSystem {
  /// A mount or path that did not answer.
  private struct Outage {
    /// The time until which nobody asks again, in microseconds.
    var end: Int64
    /// The process that still waits for the mount, beyond SIGKILL; nil if it is gone.
    var waiting: Int32?
  }

  /// The mounts and paths whose server did not answer.
  private static let unresponsiveMounts = Mutex<[PathBytes: Outage]>([:])

  /// Asks in a process of its own.
  ///
  /// A mount that did not answer is asked again after 10 seconds, but never while the last process
  /// still waits for it.
  package func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    if Self.isUnresponsive(path, monotonic()) { return false }
    var stuck: Int32 = -1
    let answer = unsafe withCString(path) { unsafe ccap_answers($0, milliseconds, &stuck) }
    // Without a process to ask, only the look itself tells.
    if answer != 0 { return true }
    Self.remember(path, stuck, until: monotonic() + 10_000_000)
    return false
  }

  /// Opens in a process of its own, which passes the descriptor; a timeout is remembered as in
  /// `answers`.
  ///
  /// A path that the kernel knows without asking a server is opened without a process, because the
  /// cost of fork(2) grows with the memory of this process.
  package func open(
    _ path: PathBytes, _ flags: OpenFlags, through covers: [PathBytes],
    within milliseconds: Int32
  ) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    if Self.isUnresponsive(path, monotonic()) { throw .ETIMEDOUT }
    if covers.isEmpty, flags.contains(.path), let known = openCached(path, flags) { return known }
    var stuck: Int32 = -1
    let hidden = PathBytes(covers.flatMap { $0.bytes + [0] })
    let answer = unsafe withCString(path) { path in
      unsafe withCString(hidden) { covers in
        unsafe ccap_open_within(path, flags.rawValue, covers, milliseconds, &stuck)
      }
    }
    do throws(Errno) {
      return Descriptor(rawValue: try check(answer))
    } catch .ECHILD {
      return try openat(.currentDirectory, path, flags, mode: 0)
    } catch {
      if error == .ETIMEDOUT { Self.remember(path, stuck, until: monotonic() + 10_000_000) }
      throw error
    }
  }

  /// Opens with O_PATH by openat2(2) and RESOLVE_CACHED of Linux 5.12, which never waits; nil on any error.
  private func openCached(_ path: PathBytes, _ flags: OpenFlags) -> Descriptor? {
    let flags = flags.union(.closeOnExec).rawValue
    let (here, cached) = (Descriptor.currentDirectory.rawValue, UInt64(0x20))
    let descriptor = unsafe withCString(path) { unsafe ccap_openat2(here, $0, flags, cached) }
    return descriptor < 0 ? nil : Descriptor(rawValue: descriptor)
  }

  /// Returns whether a path did not answer and must not be asked again yet.
  static func isUnresponsive(_ path: PathBytes, _ now: Int64) -> Bool {
    unresponsiveMounts.withLock { unresponsiveMounts in
      guard let outage = unresponsiveMounts[path] else { return false }
      if let waiting = outage.waiting {
        if ccap_wait_end(waiting, 0) == 0 { return true }
        ccap_reap(waiting)
        unresponsiveMounts[path] = nil
        return false
      }
      return now < outage.end
    }
  }

  static func remember(_ path: PathBytes, _ stuck: Int32, until end: Int64) {
    unresponsiveMounts.withLock { unresponsiveMounts in
      if let other = unresponsiveMounts[path]?.waiting { ccap_reap(other) }
      unresponsiveMounts[path] = Outage(end: end, waiting: stuck >= 0 ? stuck : nil)
    }
  }

  /// bpf(2), BPF_PROG_QUERY.
  package func devicePrograms(_ cgroup: Descriptor) throws(Errno) -> Int {
    Int(try check(ccap_device_programs(cgroup.rawValue)))
  }

  /// FS_IOC_GET_ENCRYPTION_POLICY_EX and FS_IOC_GET_ENCRYPTION_KEY_STATUS.
  package func encryptionKeyIsPresent(_ directory: Descriptor) throws(Errno) -> Bool {
    try check(ccap_key_is_present(directory.rawValue)) == 1
  }

  /// BTRFS_IOC_GET_SUBVOL_INFO, see linux/btrfs.h.
  package func isSnapshot(_ directory: Descriptor) throws(Errno) -> Bool {
    try check(ccap_is_snapshot(directory.rawValue)) == 1
  }
}
