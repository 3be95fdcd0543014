internal import CCap
internal import Synchronization

// Mounts that may keep a caller waiting, and encryption.
extension LinuxSystem {
  /// The mount points that did not answer, each with the time until which nobody asks again.
  private static let silent = Mutex<[PathBytes: Int64]>([:])

  /// Asks in a process of its own; a mount that did not answer is asked again after 10 seconds.
  package func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    let now = monotonic()
    if let end = Self.silent.withLock({ $0[path] }), now < end { return false }
    let answer = unsafe withCString(path) { unsafe ccap_answers($0, milliseconds) }
    if answer == 0 {
      Self.silent.withLock { $0[path] = monotonic() + 10_000_000 }
    }
    // Without a process to ask, only the look itself tells.
    return answer != 0
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
