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
  /// cap_get_file(3): the capabilities that executing the file behind the descriptor gives, as text.
  ///
  /// - Throws: ENODATA where it gives none.
  func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String
  /// statmount(2): the id maps of the mount behind the descriptor; nil when it is not idmapped.
  func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping?
  /// fstatfs(2): what is known of the mount behind the descriptor where mountinfo does not list it.
  func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields
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
