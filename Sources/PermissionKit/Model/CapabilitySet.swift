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
  /// Quotas do not count (CAP_SYS_RESOURCE).
  package static let sysResource = CapabilitySet(rawValue: 1 << 24)
  /// Every capability, including the ones that later kernels may add.
  public static let all = CapabilitySet(rawValue: ~0)
}
