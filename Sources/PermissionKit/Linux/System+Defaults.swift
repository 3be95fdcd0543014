/// Defaults: an unsupported call fails with ENOSYS.
extension System {
  /// Returns the fields of statx(2) for a descriptor of the path.
  @_spi(SystemCalls) public func status(of path: PathBytes) throws(Errno) -> StatusFields {
    let descriptor = try openat(.currentDirectory, path, .path, mode: 0)
    defer { close(descriptor) }
    return try statx(descriptor)
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func getpwent() throws(Errno) -> [UserRecord] { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func getgrnam(
    _ name: String
  ) throws(Errno) -> (gid: UInt32, members: [String])? {
    throw .ENOSYS
  }
  /// Fails with ENODATA, as for a file without capabilities.
  @_spi(SystemCalls) public func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String {
    throw .ENODATA
  }
  /// Waits for nothing: every mount of another system answers.
  @_spi(SystemCalls) public func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    true
  }
  /// Returns this system: nothing keeps it waiting.
  @_spi(SystemCalls) public func apart(_ mount: PathBytes, within milliseconds: Int32) -> any System
  { self }
  /// Waits for nothing.
  @_spi(SystemCalls) public func open(
    _ path: PathBytes, _ flags: OpenFlags, through covers: [PathBytes],
    within milliseconds: Int32
  ) throws(Errno) -> Descriptor {
    try openat(.currentDirectory, path, flags, mode: 0)
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func connect(_ path: PathBytes) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func listener(
    on socket: Descriptor, connects: Bool
  ) throws(Errno) -> Bool {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func enter(
    _ process: Int32, as credentials: Credentials, path: PathBytes, flags: OpenFlags?,
    need: Permissions
  ) throws(Errno) -> ProcessProbe { throw .ENOSYS }
  /// Fails with EPERM.
  @_spi(SystemCalls) public func devicePrograms(_ cgroup: Descriptor) throws(Errno) -> Int {
    throw .EPERM
  }
  /// Fails with ENOTTY, as on a file system without encryption.
  @_spi(SystemCalls) public func encryptionKeyIsPresent(
    _ directory: Descriptor
  ) throws(Errno) -> Bool {
    throw .ENOTTY
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func lsm_list_modules() throws(Errno) -> [UInt64] { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func reqbufs(none descriptor: Descriptor) throws(Errno) {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func setxattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func removexattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor
  ) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func fsync(_ descriptor: Descriptor) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func flock(_ descriptor: Descriptor) throws(Errno) { throw .ENOSYS }
  /// Fails with EOPNOTSUPP, as on a file system that cannot reserve space.
  @_spi(SystemCalls) public func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno) {
    throw .EOPNOTSUPP
  }
  /// Fails with EOPNOTSUPP, as on a file system without handles.
  @_spi(SystemCalls) public func name_to_handle_at(
    _ descriptor: Descriptor
  ) throws(Errno) -> [UInt8] {
    throw .EOPNOTSUPP
  }
  /// Fails with EOPNOTSUPP.
  @_spi(SystemCalls) public func open_by_handle_at(
    _ mount: Descriptor, _ handle: [UInt8]
  ) throws(Errno) -> Descriptor { throw .EOPNOTSUPP }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func runProgram(
    _ program: PathBytes, environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func pidfd_open(_ pid: Int32) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func unlink(_ path: PathBytes) throws(Errno) { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func spawn(
    _ arguments: [PathBytes], output: Descriptor
  ) throws(Errno) -> Int32 { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd? {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func execvp(_ arguments: [PathBytes]) -> Errno { .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func kill(_ pid: Int32, _ signal: Int32) throws(Errno) { throw .ENOSYS }
  /// Does nothing.
  @_spi(SystemCalls) public func raise(_ signal: Int32) {}
}

/// Defaults of the calls for watching: an unsupported call fails with ENOSYS.
extension System {
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func inotify_init1() throws(Errno) -> Descriptor { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 { throw .ENOSYS }
  /// Does nothing.
  @_spi(SystemCalls) public func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {}
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func poll(
    _ requests: [PollRequest], timeout: Int32?
  ) throws(Errno) -> [PollEvents] { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func eventfd() throws(Errno) -> Descriptor { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Returns the time in UTC, since other time zones need localtime_r(3).
  @_spi(SystemCalls) public func localtime(_ microseconds: Int64) -> WallTime {
    let second = Int((microseconds / 1_000_000) % 86_400)
    return WallTime(hour: second / 3600, minute: second / 60 % 60, second: second % 60)
  }
}
