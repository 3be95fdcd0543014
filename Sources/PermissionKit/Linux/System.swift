/// The part of the operating system that this library uses.
///
/// Each method is one system call or library function and has its name. A thrown error is the
/// errno. `LinuxSystem` is the running system; tests and plug-ins can pass another one.
public protocol System: Sendable {
  // MARK: Files

  /// openat(2), always with O_CLOEXEC.
  @_spi(SystemCalls) func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor
  /// Closes a descriptor with close(2).
  @_spi(SystemCalls) func close(_ descriptor: Descriptor)
  /// read(2) of at most `count` bytes; empty at the end of the file.
  @_spi(SystemCalls) func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8]
  /// Writes bytes with write(2).
  ///
  /// - Returns: The number of bytes written, which can be less than the number given.
  @_spi(SystemCalls) func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int
  /// Creates a directory with mkdirat(2).
  @_spi(SystemCalls) func mkdirat(
    _ directory: Descriptor, _ path: PathBytes, mode: UInt16) throws(Errno)
  /// The fields of statx(2) for the inode at the end of `path`; follows links, and mounts nothing.
  @_spi(SystemCalls) func status(of path: PathBytes) throws(Errno) -> StatusFields
  /// statx(2) on the descriptor itself, which may be an O_PATH descriptor.
  @_spi(SystemCalls) func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields
  /// readlinkat(2) on the descriptor of a link, opened with O_PATH and O_NOFOLLOW.
  @_spi(SystemCalls) func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes
  /// getxattr(2) of an ACL through a descriptor, which may be an O_PATH descriptor.
  @_spi(SystemCalls) func getxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8]
  /// cap_get_file(3): the capabilities that an execve(2) of the file gives, as text.
  ///
  /// - Throws: ENODATA if the file gives none.
  @_spi(SystemCalls) func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String
  /// statmount(2): the id maps of the descriptor's mount; nil if the mount is not idmapped.
  @_spi(SystemCalls) func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping?
  /// fstatfs(2): the fields of the descriptor's mount, for a mount that mountinfo does not list.
  @_spi(SystemCalls) func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields
  /// fstatfs(2) and quotactl_fd(2): fails with ENOSPC or EDQUOT if the file system has no room for a new inode
  /// of this user and group.
  @_spi(SystemCalls) func checkRoom(
    in directory: Descriptor, uid: UInt32, gid: UInt32
  ) throws(Errno)
  /// getdents64(2) until the end, without `.` and `..`.
  @_spi(SystemCalls) func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes]
  /// faccessat2(2) with AT_EACCESS.
  @_spi(SystemCalls) func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno)
  /// ioctl VIDIOC_QUERYCAP, see the V4L2 documentation.
  @_spi(SystemCalls) func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability

  // MARK: Changes

  /// setxattr(2) of an ACL through a descriptor, which may be an O_PATH descriptor.
  @_spi(SystemCalls) func setxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno)
  /// removexattr(2) of an ACL through a descriptor, which may be an O_PATH descriptor.
  @_spi(SystemCalls) func removexattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor) throws(Errno)
  /// chmod(2) through a descriptor, which may be an O_PATH descriptor.
  @_spi(SystemCalls) func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno)
  /// chown(2) of the group alone through a descriptor, which may be an O_PATH descriptor.
  @_spi(SystemCalls) func chgrp(_ descriptor: Descriptor, _ gid: UInt32) throws(Errno)
  /// fsync(2): waits until the written data are on the disk.
  @_spi(SystemCalls) func fsync(_ descriptor: Descriptor) throws(Errno)
  /// flock(2) with LOCK_EX and LOCK_NB: takes the exclusive lock, which lasts until the file is closed.
  ///
  /// - Throws: EAGAIN if another process has the lock.
  @_spi(SystemCalls) func flock(_ descriptor: Descriptor) throws(Errno)
  /// fallocate(2) with FALLOC_FL_KEEP_SIZE: reserves space for the first `size` bytes of a file.
  @_spi(SystemCalls) func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno)
  /// name_to_handle_at(2): the handle of an inode, which no later inode of the file system gets.
  ///
  /// - Throws: EOPNOTSUPP if the file system has no handles.
  @_spi(SystemCalls) func name_to_handle_at(_ descriptor: Descriptor) throws(Errno) -> [UInt8]
  /// open_by_handle_at(2) with O_PATH: opens an inode wherever it is in its file system.
  ///
  /// - Parameters:
  ///   - mount: Any directory of the file system, open for reading.
  ///   - handle: A result of `name_to_handle_at`.
  /// - Returns: The inode.
  /// - Throws: ESTALE if the inode was deleted; EPERM without CAP_DAC_READ_SEARCH.
  @_spi(SystemCalls) func open_by_handle_at(
    _ mount: Descriptor, _ handle: [UInt8]
  ) throws(Errno) -> Descriptor
  /// rename(2): gives a file a new name and replaces any file of that name.
  @_spi(SystemCalls) func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno)
  /// unlink(2): removes a name.
  @_spi(SystemCalls) func unlink(_ path: PathBytes) throws(Errno)
  /// rmdir(2): removes an empty folder.
  @_spi(SystemCalls) func rmdir(_ path: PathBytes) throws(Errno)

  // MARK: Commands

  /// Starts a program, found by PATH, with an empty signal mask, see execvp(3).
  ///
  /// - Parameters:
  ///   - arguments: The program and its arguments, without NUL bytes.
  ///   - output: The standard output of the program.
  /// - Returns: The process id of the program.
  /// - Throws: The errno of fork(2) or execvp(3).
  @_spi(SystemCalls) func spawn(_ arguments: [PathBytes], output: Descriptor) throws(Errno) -> Int32
  /// Asks a program by its standard input and reads its standard output, within limits.
  ///
  /// The program runs in a process group of its own, which is killed at the end, with no other descriptor and
  /// nothing on standard error, and no waitpid(2) for any child sees it. If this process is killed, the
  /// kernel kills the program; not the processes that the program started, nor a program that has taken
  /// on other ids.
  ///
  /// - Parameters:
  ///   - arguments: The path of the program, and its arguments.
  ///   - environment: Its environment: `NAME=value`.
  ///   - input: What it reads.
  ///   - timeout: The longest time, in milliseconds.
  ///   - size: The most that it may write, in bytes.
  ///   - mayGainPrivileges: Whether set-user-ID and set-group-ID bits and file capabilities count for
  ///     it and all that it starts; otherwise PR_SET_NO_NEW_PRIVS of prctl(2) is set.
  /// - Returns: What it wrote and how it ended.
  /// - Throws: The errno of memfd_create(2), pipe2(2), clone(2), prctl(2) or execve(2).
  @_spi(SystemCalls) func runProgram(
    _ arguments: [PathBytes], environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput
  /// waitpid(2) for a child.
  ///
  /// - Parameters:
  ///   - pid: The child.
  ///   - waits: Whether to wait until the child ends; otherwise WNOHANG is set.
  /// - Returns: The way the child ended; nil if the child still runs.
  /// - Throws: The errno of waitpid(2).
  @_spi(SystemCalls) func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd?
  /// pidfd_open(2): a descriptor that becomes readable when the process ends.
  @_spi(SystemCalls) func pidfd_open(_ pid: Int32) throws(Errno) -> Descriptor
  /// execvp(3): replaces this process by another program.
  ///
  /// - Returns: The errno, if the call failed.
  @_spi(SystemCalls) func execvp(_ arguments: [PathBytes]) -> Errno
  /// kill(2): sends a signal.
  @_spi(SystemCalls) func kill(_ pid: Int32, _ signal: Int32) throws(Errno)
  /// raise(3) with the default action of the signal, which ends this process or does nothing.
  @_spi(SystemCalls) func raise(_ signal: Int32)

  // MARK: Processes

  /// Returns the credentials of the calling thread.
  ///
  /// Calls getresuid(2), getresgid(2), getgroups(2), setfsuid(2) and capget(2).
  @_spi(SystemCalls) func credentials() throws(Errno) -> Credentials
  /// Returns the id of this process, see getpid(2).
  @_spi(SystemCalls) func getpid() -> Int32
  /// secure_getenv(3) as bytes; nil if the variable is not set, or in a set-user-ID program.
  @_spi(SystemCalls) func getenv(_ name: String) -> PathBytes?

  /// Returns the working directory, see getcwd(3).
  @_spi(SystemCalls) func getcwd() throws(Errno) -> PathBytes
  /// Returns whether the descriptor is a terminal, see isatty(3).
  @_spi(SystemCalls) func isatty(_ descriptor: Descriptor) -> Bool
  /// ioctl TIOCGWINSZ: the width of the terminal in columns; nil if there is no terminal.
  @_spi(SystemCalls) func columns(_ descriptor: Descriptor) -> Int?

  // MARK: Sockets

  /// connect(2) of a new AF_UNIX stream socket, with SOCK_NONBLOCK; use `poll` and `read` for answers.
  ///
  /// - Parameter path: The path of a socket, at most 107 bytes.
  /// - Returns: The connected socket.
  /// - Throws: EAGAIN if too many others wait there.
  @_spi(SystemCalls) func connect(_ path: PathBytes) throws(Errno) -> Descriptor
  /// connect(2) of a new AF_UNIX datagram socket, with SOCK_NONBLOCK.
  ///
  /// - Parameter path: The path of a socket, at most 107 bytes.
  /// - Returns: The connected socket, on which `send` throws EAGAIN if the receiver takes no more.
  /// - Throws: The errno of connect(2): ECONNREFUSED if nobody listens there.
  @_spi(SystemCalls) func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor
  /// Asks whether a program takes connections at a socket.
  ///
  /// sock_diag(7) reports the programs in the network namespace of this process without a connection, which
  /// may start a program. Otherwise connect(2) is tried, with each type of socket that is needed; the
  /// connection is closed at once.
  ///
  /// - Parameters:
  ///   - socket: The socket, opened with O_PATH.
  ///   - connects: Whether connect(2) may be called.
  /// - Returns: Whether a program does; false if none is seen without connect(2).
  /// - Throws: The errno of connect(2): ECONNREFUSED if nobody listens.
  @_spi(SystemCalls) func listener(on socket: Descriptor, connects: Bool) throws(Errno) -> Bool
  /// send(2) with MSG_NOSIGNAL.
  ///
  /// - Returns: The number of bytes sent, which can be less than the number given.
  @_spi(SystemCalls) func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int

  // MARK: Time

  /// clock_gettime(2), CLOCK_REALTIME, in microseconds since 1970-01-01 UTC.
  @_spi(SystemCalls) func realtime() -> Int64
  /// clock_gettime(2), CLOCK_BOOTTIME, in microseconds: the time since the boot, also asleep.
  @_spi(SystemCalls) func boottime() -> Int64
  /// clock_gettime(2), CLOCK_MONOTONIC, in microseconds.
  func monotonic() -> Int64

  // MARK: Watching

  /// inotify_init1(2) with IN_NONBLOCK and IN_CLOEXEC; use `read` to read the events.
  @_spi(SystemCalls) func inotify_init1() throws(Errno) -> Descriptor
  /// inotify_add_watch(2): starts to watch an inode.
  ///
  /// - Returns: The number of the watch; an inode that is watched already keeps its number.
  @_spi(SystemCalls) func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32
  /// inotify_rm_watch(2); a watch that is already gone is no error.
  @_spi(SystemCalls) func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32)
  /// poll(2), which throws EINTR if a signal interrupts the wait.
  ///
  /// - Parameters:
  ///   - requests: The descriptors, each with the events to wait for.
  ///   - timeout: The longest wait, in milliseconds; nil waits without a limit.
  /// - Returns: The events that happened, one element for each request.
  /// - Throws: The errno of poll(2).
  @_spi(SystemCalls) func poll(
    _ requests: [PollRequest], timeout: Int32?
  ) throws(Errno) -> [PollEvents]
  /// eventfd(2) with EFD_NONBLOCK and EFD_CLOEXEC: a counter that becomes readable after a write.
  @_spi(SystemCalls) func eventfd() throws(Errno) -> Descriptor
  /// Blocks signals in the calling thread with sigprocmask(2) and returns a signalfd(2) for them;
  /// SIGCHLD among them gets its default action.
  @_spi(SystemCalls) func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor
  /// localtime_r(3): the local time of day, for a time in microseconds since 1970-01-01 UTC.
  @_spi(SystemCalls) func localtime(_ microseconds: Int64) -> WallTime

  // MARK: Diagnosis

  /// openat2(2) without any RESOLVE_… flag, always with O_CLOEXEC.
  ///
  /// A filter on system calls can treat this call differently from openat(2).
  @_spi(SystemCalls) func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor
  /// Asks in a process of its own for the status of a mount point, and waits at most `milliseconds`.
  ///
  /// A server or daemon that is gone keeps whoever asks waiting, often beyond SIGKILL.
  ///
  /// - Returns: Whether there was an answer in time, which may be an error.
  @_spi(SystemCalls) func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool
  /// Returns a system whose calls on files another process makes, so that no server can block this
  /// one.
  ///
  /// After a time limit for all of them, the calls throw ETIMEDOUT. A descriptor without O_PATH
  /// that this system opens can be used only with it; it also accepts descriptors of this process.
  ///
  /// - Parameters:
  ///   - mount: The mount point of the server, which is not asked again for a while if it does not answer.
  ///   - milliseconds: How long all calls together may take.
  /// - Returns: That system; this one if no process could be started.
  @_spi(SystemCalls) func withCallProcess(
    _ mount: PathBytes, within milliseconds: Int32
  ) -> any System
  /// Returns a system that reads what others can change, exchange or keep waiting, and does nothing else.
  ///
  /// A process of its own makes the calls, without any capability and with the ids of a user, so that it reads nothing
  /// that the user could not read. Paths begin with `root`, and no link leads out of that. The files that it opens can be
  /// used only with it.
  ///
  /// - Parameters:
  ///   - root: The root directory: `/`, one that stands for it, or `/proc/PID/root`.
  ///   - user: Whose ids; nil for those of this process.
  ///   - milliseconds: How long all calls together may take.
  /// - Returns: A system that has `contents(of:limit:)`, `names(in:where:)`, `status(of:)`, and what they call. Each call
  ///   throws ETIMEDOUT after that time, and ENOSYS without openat2(2).
  @_spi(SystemCalls) func door(
    below root: PathBytes, as user: Credentials?, within milliseconds: Int32
  ) -> any System
  /// Opens a regular file to read, and nothing else.
  ///
  /// - Throws: EINVAL if it is no regular file; ENODATA if it is /dev/null; else the errno of the open.
  @_spi(SystemCalls) func regular(_ path: PathBytes) throws(Errno) -> Descriptor
  /// openat(2) of a path that may lead over servers, daemons or links of others, with a deadline.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - flags: The flags.
  ///   - covers: The mount points, the last mount first, of mounts that hide the path; they are looked
  ///     through, which wants CAP_SYS_ADMIN.
  ///   - milliseconds: The longest time.
  /// - Returns: The open file.
  /// - Throws: ETIMEDOUT after that time; else the errno of the open, or of unshare(2).
  @_spi(SystemCalls) func open(
    _ path: PathBytes, _ flags: OpenFlags, through covers: [PathBytes],
    within milliseconds: Int32
  ) throws(Errno) -> Descriptor
  /// Asks open(2) and faccessat2(2) in a child that joins another process: its cgroup, mount and
  /// user namespaces, root, ids and capabilities; not its filter of system calls, its Landlock
  /// rules and its security label.
  ///
  /// - Parameters:
  ///   - process: The other process.
  ///   - credentials: Its credentials, as this process sees them.
  ///   - path: The path to ask about, as the other process would give it.
  ///   - flags: The flags of the open; nil to ask only faccessat2(2).
  ///   - need: The permissions for faccessat2(2).
  /// - Returns: The answers, or the step that failed.
  /// - Throws: ETIMEDOUT if there was no answer in time, as from a frozen cgroup; ESTALE if the process
  ///   has changed; EPERM and EACCES for anybody but root.
  @_spi(SystemCalls) func enter(
    _ process: Int32, as credentials: Credentials, path: PathBytes, flags: OpenFlags?,
    need: Permissions
  ) throws(Errno) -> ProcessProbe
  /// bpf(2), BPF_PROG_QUERY with BPF_F_QUERY_EFFECTIVE: how many device programs apply to a cgroup.
  ///
  /// - Parameter cgroup: The folder of a cgroup of version 2.
  /// - Returns: The number of programs, with those of the cgroups above.
  /// - Throws: EPERM for anybody but root.
  @_spi(SystemCalls) func devicePrograms(_ cgroup: Descriptor) throws(Errno) -> Int
  /// FS_IOC_GET_ENCRYPTION_KEY_STATUS for the key of an encrypted directory, see fscrypt.
  ///
  /// - Parameter directory: The directory, open for reading.
  /// - Returns: Whether the key is there.
  /// - Throws: ENODATA if the directory is not encrypted; ENOTTY if the file system has no encryption.
  @_spi(SystemCalls) func encryptionKeyIsPresent(_ directory: Descriptor) throws(Errno) -> Bool
  /// BTRFS_IOC_GET_SUBVOL_INFO: whether the subvolume of a directory was made from another one.
  ///
  /// - Parameter directory: The directory, open for reading.
  /// - Returns: Whether it is in a snapshot.
  /// - Throws: ENOTTY if the file system is not btrfs.
  @_spi(SystemCalls) func isSnapshot(_ directory: Descriptor) throws(Errno) -> Bool
  /// lsm_list_modules(2): the LSM_ID_… numbers of the active security modules.
  @_spi(SystemCalls) func lsm_list_modules() throws(Errno) -> [UInt64]
  /// The number of Landlock domains that this process is in, 0 to 16; nil if unknown.
  ///
  /// A child counts the domains that it can still add, by landlock_restrict_self(2). A filter of
  /// system calls may kill the child, so only a process without one should call this.
  @_spi(SystemCalls) func landlockLayers() -> Int?
  /// Whether another process has restricted itself by Landlock, see landlock(7); nil if this cannot be seen.
  ///
  /// Linux shows it nowhere but in the memory of the kernel.
  @_spi(SystemCalls) func isRestrictedByLandlock(_ process: Int32) -> Bool?
  /// ioctl VIDIOC_REQBUFS for zero buffers on an open video node, which changes nothing.
  ///
  /// - Throws: EBUSY if another descriptor captures; EINVAL or ENOTTY if the driver does not report it.
  @_spi(SystemCalls) func reqbufs(none descriptor: Descriptor) throws(Errno)
  /// execveat(2) with AT_EMPTY_PATH and AT_EXECVE_CHECK: asks whether this process may execute a file, and executes nothing.
  ///
  /// - Throws: ETXTBSY if it is open for writing, EINVAL before Linux 6.14, and the other errors of execve(2) for the file
  ///   itself, without its interpreter.
  @_spi(SystemCalls) func checkExecution(_ descriptor: Descriptor) throws(Errno)
  /// ioctl TIOCGEXCL, see ioctl_tty(2): whether nobody else may open the terminal.
  @_spi(SystemCalls) func isExclusive(_ descriptor: Descriptor) throws(Errno) -> Bool
}

/// The systems that this library provides; tests provide others.
public enum Systems: Sendable {
  /// The running Linux system.
  public static var running: any System { LinuxSystem() }
}
