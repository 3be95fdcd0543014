internal import CTrace
@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

/// Which processes have restricted themselves by Landlock, see landlock(7), as the kernel's memory shows.
///
/// Nothing in /proc shows it. Wants CAP_BPF and CAP_PERFMON, or root, a kernel with BTF, and one that names its
/// variables to this process (CONFIG_KALLSYMS_ALL, and kernel.kptr_restrict not 2).
@safe public final class LandlockDomains: Sendable {
  private let programs: Mutex<OpaquePointer>

  /// Loads the BPF programs.
  ///
  /// - Throws: What is missing.
  public init() throws(PermissionError) {
    // Without the right, nothing of the kernel's BTF needs to be read.
    var errno = Errno.EPERM.rawValue
    let programs = unsafe MissingRights().mayLoad ? pk_landlock_open(&errno) : nil
    guard let programs = unsafe programs else {
      let error = Errno(rawValue: errno)
      throw PermissionError(
        .system, "Landlock domains cannot be seen by BPF", call: "bpf", errno: error,
        advice: error == .ENOENT
          ? "the kernel does not say where they are (CONFIG_KALLSYMS_ALL, kernel.kptr_restrict)"
          : MissingRights().words(error))
    }
    unsafe self.programs = Mutex(programs)
  }

  deinit { unsafe programs.withLock { unsafe pk_landlock_close($0) } }

  /// Returns whether the first thread of a process has a Landlock domain.
  ///
  /// Other threads may have restricted themselves alone.
  ///
  /// - Parameter process: The number of the process here.
  /// - Returns: nil if the process cannot be seen.
  public func isRestricted(_ process: Int32) -> Bool? {
    let system = LinuxSystem()
    guard
      let directory = try? system.openat(
        .currentDirectory, PathBytes("/proc/\(process)"), [.directory, .path], mode: 0)
    else { return nil }
    defer { system.close(directory) }
    switch unsafe programs.withLock({ Int(unsafe pk_landlock_has_domain($0, directory.rawValue)) })
    {
    case Int(PK_RESTRICTED): return true
    case Int(PK_UNRESTRICTED): return false
    default: return nil
    }
  }
}
