/// The operating system, as far as this library touches it.
///
/// Each method is one system call or library function and bears its name; an error is its errno.
/// `LinuxSystem` is the real one; tests and plug-ins pass another.
public protocol System: Sendable {
  // MARK: Files

  /// openat(2); O_CLOEXEC is always added.
  func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor
  /// Closes a descriptor by close(2).
  func close(_ descriptor: Descriptor)
  /// read(2) of at most `count` bytes; empty at the end of the file.
  func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8]
  /// Writes by write(2).
  ///
  /// - Returns: The number of bytes written, which may be less than were given.
  func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int
  /// Makes a directory by mkdirat(2).
  func mkdirat(_ directory: Descriptor, _ path: PathBytes, mode: UInt16) throws(Errno)
  /// statx(2) of the open descriptor itself, O_PATH included.
  func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields
  /// readlinkat(2) of the descriptor of a link that was opened with O_PATH and O_NOFOLLOW.
  func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes
  /// getxattr(2) of an ACL of the inode behind the descriptor, O_PATH included.
  func getxattr(_ attribute: ACLAttribute, of descriptor: Descriptor) throws(Errno) -> [UInt8]
  /// statmount(2): the id maps of the mount behind the descriptor; nil when it is not idmapped.
  func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping?
  /// fstatfs(2): what is known of the mount behind the descriptor where mountinfo does not list it.
  func fstatfs(_ descriptor: Descriptor) throws(Errno) -> MountFacts
  /// getdents64(2) until the end; `.` and `..` are left out.
  func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes]
  /// faccessat2(2) with AT_EACCESS.
  func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno)
  /// ioctl VIDIOC_QUERYCAP, see the V4L2 documentation.
  func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability

  // MARK: Changes

  /// setxattr(2) of an ACL of the inode behind the descriptor, O_PATH included.
  func setxattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno)
  /// removexattr(2) of an ACL of the inode behind the descriptor, O_PATH included.
  func removexattr(_ attribute: ACLAttribute, of descriptor: Descriptor) throws(Errno)
  /// chmod(2) of the inode behind the descriptor, O_PATH included.
  func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno)
  /// fsync(2): returns once what was written is on the disk.
  func fsync(_ descriptor: Descriptor) throws(Errno)
  /// flock(2) with LOCK_EX: waits until the file is this process's alone, and until it is closed.
  func flock(_ descriptor: Descriptor) throws(Errno)
  /// rename(2): puts a file in another's place.
  func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno)
  /// unlink(2): removes a name.
  func unlink(_ path: PathBytes) throws(Errno)

  // MARK: Commands

  /// posix_spawnp(3): starts a program, found by PATH, with an empty signal mask.
  ///
  /// - Parameters:
  ///   - arguments: The program and its arguments; without a NUL.
  ///   - output: What it gets as standard output.
  /// - Returns: Its process id.
  /// - Throws: The errno of what could not be done.
  func spawn(_ arguments: [PathBytes], output: Descriptor) throws(Errno) -> Int32
  /// waitpid(2) of a child.
  ///
  /// - Parameters:
  ///   - pid: The child.
  ///   - waits: Whether to wait for its end; WNOHANG otherwise.
  /// - Returns: How it ended; nil while it has not.
  /// - Throws: The errno of the call.
  func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd?
  /// execvp(3): becomes another program.
  ///
  /// - Returns: Why it did not.
  func execvp(_ arguments: [PathBytes]) -> Errno
  /// kill(2): sends a signal.
  func kill(_ pid: Int32, _ signal: Int32) throws(Errno)
  /// raise(3) with the signal's default action, which ends this process or does nothing.
  func raise(_ signal: Int32)

  // MARK: Processes

  /// The calling thread's own credentials: getresuid(2), getresgid(2), getgroups(2),
  /// setfsuid(2) and capget(2).
  func credentials() throws(Errno) -> Credentials
  /// The id of this process, see getpid(2).
  func getpid() -> Int32
  /// getenv(3), as bytes; nil when the variable is not set.
  func getenv(_ name: String) -> PathBytes?

  /// The working directory, see getcwd(3).
  func getcwd() throws(Errno) -> PathBytes
  /// Whether the descriptor is a terminal, see isatty(3).
  func isatty(_ descriptor: Descriptor) -> Bool
  /// ioctl TIOCGWINSZ: the width of the terminal, in columns; nil when it is none.
  func columns(_ descriptor: Descriptor) -> Int?

  // MARK: Users and groups

  /// getpwnam_r(3); nil when there is no such user.
  func getpwnam(_ name: String) throws(Errno) -> UserRecord?
  /// getpwuid_r(3); nil when there is no such user.
  func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord?
  /// getgrouplist(3): every group of the user, the primary one included.
  func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32]
  /// getgrgid_r(3); nil when there is no such group.
  func getgrgid(_ gid: UInt32) throws(Errno) -> String?

  // MARK: Time

  /// clock_gettime(2), CLOCK_REALTIME, in microseconds since 1970-01-01 UTC.
  func realtime() -> Int64
  /// clock_gettime(2), CLOCK_MONOTONIC, in microseconds.
  func monotonic() -> Int64

  // MARK: Watching

  /// inotify_init1(2) with IN_NONBLOCK and IN_CLOEXEC; its events are read by `read`.
  func inotify_init1() throws(Errno) -> Descriptor
  /// inotify_add_watch(2).
  ///
  /// - Returns: The watch's number, the same for an inode that is watched already.
  func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32
  /// inotify_rm_watch(2); that the watch is gone already is no failure.
  func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32)
  /// poll(2), once: EINTR is thrown.
  ///
  /// - Parameters:
  ///   - requests: The descriptors, and what is waited for on each.
  ///   - timeout: In milliseconds; nil waits without end.
  /// - Returns: What is ready, one for each request.
  /// - Throws: Its errno.
  func poll(_ requests: [PollRequest], timeout: Int32?) throws(Errno) -> [PollEvents]
  /// eventfd(2) with EFD_NONBLOCK and EFD_CLOEXEC: a counter that is ready once it was written to.
  func eventfd() throws(Errno) -> Descriptor
  /// Blocks signals in the calling thread by sigprocmask(2), and gives a signalfd(2) of them.
  func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor
  /// localtime_r(3): the clock on the wall, for a time in microseconds since 1970-01-01 UTC.
  func localtime(_ microseconds: Int64) -> WallTime

  // MARK: Diagnosis

  /// openat2(2) without any RESOLVE_… flag; O_CLOEXEC is always added.
  ///
  /// To a filter of system calls it is another call than openat(2).
  func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor
  /// lsm_list_modules(2): the LSM_ID_… numbers of the active security modules.
  func lsm_list_modules() throws(Errno) -> [UInt64]
  /// ioctl VIDIOC_REQBUFS for no buffers of an open video node, which changes nothing.
  ///
  /// - Throws: EBUSY while another descriptor captures; EINVAL or ENOTTY where it cannot be told.
  func reqbufs(none descriptor: Descriptor) throws(Errno)
}

/// An open file descriptor.
public struct Descriptor: RawRepresentable, Hashable, Sendable {
  /// The number of the descriptor, or AT_FDCWD.
  public let rawValue: Int32

  /// Takes a number that some call has given.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// AT_FDCWD: relative paths start at the working directory.
  public static let currentDirectory = Descriptor(rawValue: -100)
}

/// The extended attribute that holds an ACL, see acl(5).
public enum ACLAttribute: String, Hashable, Sendable, Codable {
  /// Who may do what to the inode.
  case access = "system.posix_acl_access"
  /// What is created in the directory inherits this.
  case `default` = "system.posix_acl_default"
}

/// How a process ended, see waitpid(2).
public enum ProcessEnd: Hashable, Sendable {
  /// With an exit status, 0 to 255.
  case exited(Int32)
  /// By a signal.
  case signalled(Int32)
}

/// A signal that arrived, see sigaction(2).
public struct SignalInfo: Hashable, Sendable {
  /// Its number.
  public var signal: Int32
  /// A process has sent it; otherwise the kernel did, as a terminal does for all of its group.
  public var isFromProcess: Bool

  /// Makes one of its parts.
  public init(signal: Int32, isFromProcess: Bool) {
    self.signal = signal
    self.isFromProcess = isFromProcess
  }

  /// SIGHUP: the terminal is gone.
  public static let hangup: Int32 = 1
  /// SIGINT: somebody pressed Ctrl-C.
  public static let interrupt: Int32 = 2
  /// SIGQUIT: somebody pressed Ctrl-\.
  public static let quit: Int32 = 3
  /// SIGTERM: the process is asked to end.
  public static let terminate: Int32 = 15
  /// SIGCHLD: a child ended or stopped.
  public static let child: Int32 = 17
}

/// The fields of statx(2) that a decision depends on.
public struct StatusFields: Hashable, Sendable {
  /// The S_IFMT bits and the 07777 bits.
  public var mode: UInt32
  /// `stx_uid`: the owner, in the user namespace that reads it.
  public var uid: UInt32
  /// `stx_gid`: the owning group, in the user namespace that reads it.
  public var gid: UInt32
  /// `stx_rdev`: the number of a device node; 0:0 for anything else.
  public var device: InodeFacts.Device
  /// `stx_dev`: the device that holds the file system.
  public var fileSystem: InodeFacts.Device
  /// `stx_ino`: the inode number, unique within its file system.
  public var inode: UInt64
  /// `stx_nlink`: how many names it has.
  public var links: UInt32
  /// `stx_mnt_id`; nil before Linux 5.8.
  public var mount: UInt64?
  /// STATX_ATTR_IMMUTABLE: nobody can write to it, see ioctl_iflags(2).
  public var isImmutable: Bool
  /// STATX_ATTR_APPEND: it can only be added to, see ioctl_iflags(2).
  public var isAppendOnly: Bool

  /// Makes one of its parts.
  public init(
    mode: UInt32, uid: UInt32, gid: UInt32, device: InodeFacts.Device = .init(major: 0, minor: 0),
    fileSystem: InodeFacts.Device = .init(major: 0, minor: 0), inode: UInt64,
    links: UInt32 = 1, mount: UInt64? = nil, isImmutable: Bool = false, isAppendOnly: Bool = false
  ) {
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.device = device
    self.fileSystem = fileSystem
    self.inode = inode
    self.links = links
    self.mount = mount
    self.isImmutable = isImmutable
    self.isAppendOnly = isAppendOnly
  }

  /// The file type; nil for bits that inode(7) does not list.
  public var kind: InodeFacts.Kind? {
    switch mode & 0o170000 {
    case 0o040000: .directory
    case 0o100000: .regular
    case 0o120000: .symbolicLink
    case 0o020000: .characterDevice
    case 0o060000: .blockDevice
    case 0o010000: .fifo
    case 0o140000: .socket
    default: nil
    }
  }
}

/// What tells an inode from any other.
public struct InodeIdentity: Hashable, Sendable, Codable {
  /// The device that holds the file system.
  public var fileSystem: InodeFacts.Device
  /// The number of the inode.
  public var inode: UInt64
  /// The S_IFMT bits.
  public var type: UInt32
  /// The number of a device node.
  public var device: InodeFacts.Device

  /// Takes it out of what statx(2) says.
  public init(_ status: StatusFields) {
    fileSystem = status.fileSystem
    inode = status.inode
    type = status.mode & 0o170000
    device = status.device
  }
}

/// What VIDIOC_QUERYCAP tells of one video node.
public struct VideoCapability: Hashable, Sendable {
  /// V4L2_CAP_… bits of this very node (`device_caps`).
  public var deviceCaps: UInt32
  /// The name of the card.
  public var card: PathBytes

  /// Makes one of its parts.
  public init(deviceCaps: UInt32, card: PathBytes) {
    self.deviceCaps = deviceCaps
    self.card = card
  }
}

/// A line of the user data base, see passwd(5).
public struct UserRecord: Hashable, Sendable {
  /// The login name.
  public var name: String
  /// The user id.
  public var uid: UInt32
  /// The id of the primary group.
  public var gid: UInt32
  /// The home directory, as the line has it.
  public var home: PathBytes

  /// Makes one of its parts.
  public init(name: String, uid: UInt32, gid: UInt32, home: PathBytes) {
    self.name = name
    self.uid = uid
    self.gid = gid
    self.home = home
  }
}

/// A system that says nothing of them makes no changes, runs no programs and does not know these.
extension System {
  /// Fails with ENOSYS.
  public func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func lsm_list_modules() throws(Errno) -> [UInt64] { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func reqbufs(none descriptor: Descriptor) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func setxattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func removexattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor
  ) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func fsync(_ descriptor: Descriptor) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func flock(_ descriptor: Descriptor) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func unlink(_ path: PathBytes) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func spawn(
    _ arguments: [PathBytes], output: Descriptor
  ) throws(Errno) -> Int32 { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd? { throw .ENOSYS }
  /// Fails with ENOSYS.
  public func execvp(_ arguments: [PathBytes]) -> Errno { .ENOSYS }
  /// Fails with ENOSYS.
  public func kill(_ pid: Int32, _ signal: Int32) throws(Errno) { throw .ENOSYS }
  /// Does nothing.
  public func raise(_ signal: Int32) {}
}

extension System {
  /// The whole contents of a file, of at most `limit` bytes.
  ///
  /// - Throws: EFBIG when the file holds more than `limit` bytes.
  public func contents(of path: PathBytes, limit: Int = 1 << 20) throws(Errno) -> [UInt8] {
    // O_NONBLOCK: a FIFO put in the file's place must not hang us.
    let file = try openat(
      .currentDirectory, path, [.readOnly, .nonBlocking, .noControllingTerminal], mode: 0)
    defer { close(file) }
    var bytes: [UInt8] = []
    while true {
      let part = try read(file, 1 << 13)
      if part.isEmpty { return bytes }
      if bytes.isEmpty { bytes = part } else { bytes += part }
      if bytes.count > limit { throw .EFBIG }
    }
  }

  /// The first line of a file of /sys or /proc, without blanks around it.
  public func line(of path: PathBytes) throws(Errno) -> PathBytes {
    let bytes = try contents(of: path, limit: 1 << 16)
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let start = line.drop(while: isBlank)
    let length = start.reversed().drop(while: isBlank).count
    return PathBytes(Array(start.prefix(length)))
  }

  /// The names in a directory, sorted.
  public func names(in directory: PathBytes) throws(Errno) -> [PathBytes] {
    let descriptor = try openat(.currentDirectory, directory, [.readOnly, .directory], mode: 0)
    defer { close(descriptor) }
    return try getdents(descriptor).sorted()
  }

  /// The file type of what `path` names, links followed.
  public func kind(of path: PathBytes) throws(Errno) -> InodeFacts.Kind? {
    try status(of: path).kind
  }

  /// statx(2) of what `path` names, links followed.
  public func status(of path: PathBytes) throws(Errno) -> StatusFields {
    let descriptor = try openat(.currentDirectory, path, .path, mode: 0)
    defer { close(descriptor) }
    return try statx(descriptor)
  }

  /// Makes a directory, and those above it, for this user alone; one that is there is left as it is.
  func makeFolder(_ folder: PathBytes) throws(Errno) {
    do throws(Errno) {
      try mkdirat(.currentDirectory, folder, mode: 0o700)
    } catch .EEXIST {
    } catch .ENOENT where folder.parent != folder {
      try makeFolder(folder.parent)
      try mkdirat(.currentDirectory, folder, mode: 0o700)
    }
  }

  /// Waits for the next signal of a descriptor of `signalfd`.
  public func nextSignal(_ signals: Descriptor) throws(Errno) -> SignalInfo {
    while true {
      do throws(Errno) {
        _ = try poll([PollRequest(signals, .readable)], timeout: nil)
        // struct signalfd_siginfo: ssi_signo 4, ssi_errno 4, ssi_code 4, …; 128 in all.
        let bytes = try read(signals, 128)
        guard bytes.count == 128 else { throw .EIO }
        func number(_ offset: Int) -> Int32 {
          Int32(
            bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) })
        }
        // SI_USER and its kin are not positive; SI_KERNEL and those of a child are.
        return SignalInfo(signal: number(0), isFromProcess: number(8) <= 0)
      } catch .EINTR {
      } catch .EAGAIN {
      }
    }
  }

  /// Runs a program to its end; what it says goes to standard error, for standard output is the
  /// caller's.
  func run(_ arguments: [PathBytes]) throws(Errno) -> ProcessEnd {
    let pid = try spawn(arguments, output: Descriptor(rawValue: 2))
    while true {
      if let end = try waitpid(pid, waits: true) { return end }
    }
  }

  /// Writes all the bytes.
  func writeAll(_ file: Descriptor, _ bytes: [UInt8]) throws(Errno) {
    var rest = bytes[...]
    while !rest.isEmpty { rest = rest.dropFirst(try write(file, Array(rest))) }
  }

  /// open(2) with `flags`, without keeping the file open.
  ///
  /// - Returns: The refusal; nil when it opened.
  public func probe(open path: PathBytes, _ flags: OpenFlags) -> Errno? {
    do throws(Errno) {
      close(
        try openat(
          .currentDirectory, path, flags.union([.nonBlocking, .noControllingTerminal]), mode: 0))
      return nil
    } catch {
      return error
    }
  }
}
