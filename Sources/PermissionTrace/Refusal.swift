@_spi(SystemCalls) public import PermissionKit

/// A call of a running program that the kernel refused, with what decided it at that moment.
///
/// Users and groups are those of the initial user namespace; processes and threads have the numbers that the
/// tracing process sees.
public struct Refusal: Hashable, Sendable {
  /// How the program asked the kernel.
  public enum Interface: String, Hashable, Sendable {
    /// A system call of this machine, see syscalls(2).
    case native
    /// A system call of i386, of a program of 32 bits.
    case i386
    /// An operation of io_uring(7).
    case ioUring = "io_uring"
  }

  /// The name of the system call or operation, such as `openat`; nil if it is newer than this library.
  public let operation: String?
  /// The name of the operation, or `syscall_N` and `uring_N` if there is none.
  public var call: String {
    operation ?? (interface == .ioUring ? "uring_\(number)" : "syscall_\(number)")
  }
  /// The number of the system call or the opcode of the operation.
  public let number: Int32
  /// How the program asked.
  public let interface: Interface
  /// The arguments of the system call; empty for io_uring.
  public let arguments: [UInt64]
  /// The absolute path of what was refused, as seen from the root of its mount namespace; nil if the call
  /// has none, or it could not be read.
  public let path: PathBytes?
  /// The second path of link(2) and rename(2).
  public let secondPath: PathBytes?
  /// The errno of the call.
  public let errno: Errno
  /// The process.
  public let process: UInt32
  /// The thread.
  public let thread: UInt32
  /// The name of the thread, see comm in proc_pid_comm(5).
  public let name: PathBytes
  /// The ids, groups and capabilities of the thread.
  public let credentials: Credentials
  /// Whether `credentials` has all groups; of more than 32, only the first 32 are known.
  public let groupsAreComplete: Bool
  /// The root directory of the process: its device, `major << 20 | minor`, and its inode number.
  public let root: Place
  /// The mount namespace, by its inode number in /proc/PID/ns.
  public let mountNamespace: UInt32
  /// The user namespace, in the same way.
  public let userNamespace: UInt32
  /// When it happened: CLOCK_MONOTONIC, in nanoseconds.
  public let time: UInt64

  /// A directory, by its device and inode number.
  public struct Place: Hashable, Sendable {
    /// The device, as `major << 20 | minor`.
    public let device: UInt32
    /// The inode number.
    public let inode: UInt64
  }
}
