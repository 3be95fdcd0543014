internal import CCap
internal import Synchronization

// Mounts that may keep a caller waiting, and encryption.
extension LinuxSystem {
  /// A mount that did not answer.
  private struct Silence {
    /// The time until which nobody asks again, in microseconds.
    var end: Int64
    /// The process that still waits for the mount, beyond SIGKILL; nil if it is gone.
    var waiting: Int32?
  }

  /// The mounts that did not answer, by mount point.
  private static let silences = Mutex<[PathBytes: Silence]>([:])

  /// Asks in a process of its own; a mount that did not answer is asked again after 10 seconds, but
  /// never while the last process still waits for it.
  package func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    let now = monotonic()
    let isSilent = Self.silences.withLock { silences in
      guard let silence = silences[path] else { return false }
      if let waiting = silence.waiting {
        if ccap_wait_end(waiting, 0) == 0 { return true }
        ccap_reap(waiting)
        silences[path] = nil
        return false
      }
      return now < silence.end
    }
    if isSilent { return false }
    var stuck: Int32 = -1
    let answer = unsafe withCString(path) { unsafe ccap_answers($0, milliseconds, &stuck) }
    // Without a process to ask, only the look itself tells.
    if answer != 0 { return true }
    Self.silences.withLock { silences in
      if let other = silences[path]?.waiting { ccap_reap(other) }
      silences[path] = Silence(
        end: monotonic() + 10_000_000, waiting: stuck >= 0 ? stuck : nil)
    }
    return false
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
