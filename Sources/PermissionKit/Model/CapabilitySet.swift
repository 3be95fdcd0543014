/// A set of capabilities, bit numbers as in capabilities(7) and include/uapi/linux/capability.h.
public struct CapabilitySet: OptionSet, Hashable, Sendable {
  /// Bit N is capability number N, as in `CapEff` of /proc/PID/status.
  public let rawValue: UInt64

  /// Takes the bits as they are.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// CAP_DAC_OVERRIDE: read and write anything; execute a file if it has any x bit.
  public static let dacOverride = CapabilitySet(rawValue: 1 << 1)
  /// CAP_DAC_READ_SEARCH: read any file; list and search any directory.
  public static let dacReadSearch = CapabilitySet(rawValue: 1 << 2)
  /// CAP_SYS_PTRACE: look into any process, here to follow its links in /proc.
  public static let sysPtrace = CapabilitySet(rawValue: 1 << 19)
  /// CAP_FOWNER: count as the owner, here for O_NOATIME.
  public static let fowner = CapabilitySet(rawValue: 1 << 3)
  /// CAP_FSETID: a set-group-ID bit stays when mode or ACL is changed.
  public static let fsetid = CapabilitySet(rawValue: 1 << 4)
  /// Every capability the kernel knows today, and those it may learn.
  public static let all = CapabilitySet(rawValue: ~0)
}

extension CapabilitySet {
  /// In order of their numbers, as include/uapi/linux/capability.h has them.
  private static let allNames = [
    "chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid",
    "setpcap", "linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw",
    "ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct",
    "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod",
    "lease", "audit_write", "audit_control", "setfcap", "mac_override", "mac_admin", "syslog",
    "wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore",
  ]

  /// The names of the members, as capabilities(7) has them: `CAP_DAC_OVERRIDE`.
  public var names: [String] {
    Self.allNames.enumerated().filter { rawValue & 1 << UInt64($0.offset) != 0 }.map {
      "CAP_" + $0.element.uppercased()
    }
  }
}
