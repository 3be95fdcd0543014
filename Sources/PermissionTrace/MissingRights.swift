@_spi(SystemCalls) import PermissionKit

/// Why the kernel takes no BPF programs of this process.
struct MissingRights {
  private let system = LinuxSystem()

  /// Whether the capabilities of this process may suffice; its user namespace is not looked at.
  var mayLoad: Bool {
    let effective = (try? system.credentials())?.effective ?? []
    return effective.contains(Self.systemAdministration)
      || Self.wanted.allSatisfy { effective.contains($0.capability) }
  }

  /// Returns what is missing, for people.
  ///
  /// - Parameter errno: The error of bpf(2).
  /// - Returns: A clause.
  func words(_ errno: Errno) -> String {
    if errno == .EOPNOTSUPP { return "permcheck trace works on x86-64 alone so far" }
    if (try? system.status(of: "/sys/kernel/btf/vmlinux")) == nil {
      return "the kernel has no BTF (/sys/kernel/btf/vmlinux), or /sys is not mounted"
    }
    guard [.EPERM, .EACCES].contains(errno) else { return "Linux 5.17 or later is needed" }
    let effective = (try? system.credentials())?.effective ?? []
    let missing = Self.wanted.filter { !effective.contains($0.capability) }.map(\.name)
    if !missing.isEmpty, !effective.contains(Self.systemAdministration) {
      return "this process lacks \(missing.joined(separator: " and ")); run permcheck as root"
    }
    if isInUserNamespace {
      return
        "the capabilities of this process count only in its user namespace; run permcheck as root of the machine"
    }
    if isLockedDown {
      return "the kernel is locked down (/sys/kernel/security/lockdown: confidentiality)"
    }
    return
      "this process has CAP_BPF and CAP_PERFMON, so a system call filter of its container (seccomp) or a security module refuses bpf(2)"
  }

  /// The reason why a process may not be traced by ptrace(2), for people.
  var wordsForPtrace: String {
    let scope = try? system.line(of: "/proc/sys/kernel/yama/ptrace_scope")
    return switch scope?.description {
    case "3": "kernel.yama.ptrace_scope is 3, so nobody may trace"
    case "2": "kernel.yama.ptrace_scope is 2, so only root may trace"
    case "1":
      "only root may trace the processes of others, and those that it did not start (kernel.yama.ptrace_scope)"
    default:
      "a process of another user or with more rights is traced by root alone, and one that is traced already by nobody; a container may forbid ptrace(2)"
    }
  }

  private static let wanted: [(capability: CapabilitySet, name: String)] = [
    (CapabilitySet(rawValue: 1 << 39), "CAP_BPF"),
    (CapabilitySet(rawValue: 1 << 38), "CAP_PERFMON"),
  ]

  /// CAP_SYS_ADMIN, which includes both.
  private static let systemAdministration = CapabilitySet(rawValue: 1 << 21)

  /// Whether this process is not in the initial user namespace, see PROC_USER_INIT_INO in linux/proc_ns.h.
  private var isInUserNamespace: Bool {
    (try? system.status(of: "/proc/self/ns/user"))?.inode != 0xEFFF_FFFD
  }

  /// Whether the kernel hides its memory also from root, see kernel_lockdown(7).
  private var isLockedDown: Bool {
    let words = try? system.contents(of: "/sys/kernel/security/lockdown")
      .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
    return words?.contains { $0.elementsEqual("[confidentiality]".utf8) } ?? false
  }
}
