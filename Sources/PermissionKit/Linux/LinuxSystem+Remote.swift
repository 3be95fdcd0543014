internal import CCap
internal import Synchronization

// Mounts that may keep a caller waiting, and encryption.
extension LinuxSystem {
  /// A mount, or what is behind a path, that did not answer.
  private struct Silence {
    /// The time until which nobody asks again, in microseconds.
    var end: Int64
    /// The process that still waits for the mount, beyond SIGKILL; nil if it is gone.
    var waiting: Int32?
  }

  /// What did not answer, by mount point or path.
  private static let silences = Mutex<[PathBytes: Silence]>([:])

  /// Asks in a process of its own; a mount that did not answer is asked again after 10 seconds, but
  /// never while the last process still waits for it.
  package func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    if Self.isSilent(path, monotonic()) { return false }
    var stuck: Int32 = -1
    let answer = unsafe withCString(path) { unsafe ccap_answers($0, milliseconds, &stuck) }
    // Without a process to ask, only the look itself tells.
    if answer != 0 { return true }
    Self.remember(path, stuck, until: monotonic() + 10_000_000)
    return false
  }

  /// Opens in a process of its own, which passes the descriptor; silence is remembered as in `answers`.
  ///
  /// What the kernel knows about a path without asking anybody needs no process: its cost grows with the
  /// memory of this one.
  package func open(
    _ path: PathBytes, _ flags: OpenFlags, through covers: [PathBytes],
    within milliseconds: Int32
  ) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    if Self.isSilent(path, monotonic()) { throw .ETIMEDOUT }
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

  /// Returns whether a path did not answer and shall not be asked again yet.
  static func isSilent(_ path: PathBytes, _ now: Int64) -> Bool {
    silences.withLock { silences in
      guard let silence = silences[path] else { return false }
      if let waiting = silence.waiting {
        if ccap_wait_end(waiting, 0) == 0 { return true }
        ccap_reap(waiting)
        silences[path] = nil
        return false
      }
      return now < silence.end
    }
  }

  static func remember(_ path: PathBytes, _ stuck: Int32, until end: Int64) {
    silences.withLock { silences in
      if let other = silences[path]?.waiting { ccap_reap(other) }
      silences[path] = Silence(end: end, waiting: stuck >= 0 ? stuck : nil)
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
}
