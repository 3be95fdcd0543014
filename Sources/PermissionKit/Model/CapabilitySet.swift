/// A set of capabilities.
///
/// Bit numbers are those of capabilities(7) and include/uapi/linux/capability.h.
public struct CapabilitySet: OptionSet, Hashable, Sendable {
  /// Bit N is capability number N, as in `CapEff` of /proc/PID/status.
  public let rawValue: UInt64

  /// Creates a set from its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// CAP_CHOWN: give any file to anybody.
  package static let chown = CapabilitySet(rawValue: 1 << 0)
  /// CAP_DAC_OVERRIDE: read and write anything; execute a file if it has any x bit.
  package static let dacOverride = CapabilitySet(rawValue: 1 << 1)
  /// CAP_DAC_READ_SEARCH: read any file; list and search any directory.
  package static let dacReadSearch = CapabilitySet(rawValue: 1 << 2)
  /// CAP_SYS_PTRACE: inspect any process; used here for the links in /proc/PID.
  package static let sysPtrace = CapabilitySet(rawValue: 1 << 19)
  /// CAP_SYS_ADMIN: mount, and change the options of mounts.
  package static let sysAdmin = CapabilitySet(rawValue: 1 << 21)
  /// CAP_FOWNER: count as the owner; used here for O_NOATIME, and for calls that need the owner.
  package static let fowner = CapabilitySet(rawValue: 1 << 3)
  /// CAP_FSETID: keep a set-group-ID bit when mode or ACL changes.
  package static let fsetid = CapabilitySet(rawValue: 1 << 4)
  /// CAP_SETGID and CAP_SETUID: take on the ids of others.
  package static let setIDs = CapabilitySet(rawValue: 1 << 6 | 1 << 7)
  /// CAP_MKNOD: make device nodes.
  package static let mknod = CapabilitySet(rawValue: 1 << 27)
  /// CAP_SYSLOG: read the log of the kernel.
  package static let syslog = CapabilitySet(rawValue: 1 << 34)
  /// Quotas do not count (CAP_SYS_RESOURCE).
  package static let sysResource = CapabilitySet(rawValue: 1 << 24)
  /// Every capability, including the ones that later kernels may add.
  public static let all = CapabilitySet(rawValue: ~0)
}

extension CapabilitySet {
  /// The names in capabilities(7), without `CAP_` and in small letters, by number.
  private static let names = [
    "chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid",
    "setpcap", "linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw",
    "ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct",
    "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod",
    "lease", "audit_write", "audit_control", "setfcap", "mac_override", "mac_admin", "syslog",
    "wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore",
  ]

  /// Creates the set of one capability; nil if there is none of this name.
  ///
  /// - Parameter name: A name such as `net_admin`.
  package init?(name: String) {
    guard let number = Self.names.firstIndex(of: name) else { return nil }
    self.init(rawValue: 1 << UInt64(number))
  }
}
