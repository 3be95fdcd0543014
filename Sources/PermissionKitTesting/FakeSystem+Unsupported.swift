@_spi(SystemCalls) public import PermissionKit

// The calls that a system in memory does not have.
extension FakeSystem {
  /// Fails with ENODATA, as for a file without capabilities.
  @_spi(SystemCalls) public func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String {
    throw .ENODATA
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func connect(_ path: PathBytes) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Fails with EPERM.
  @_spi(SystemCalls) public func devicePrograms(_ cgroup: Descriptor) throws(Errno) -> Int {
    throw .EPERM
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func enter(
    _ process: Int32, as credentials: Credentials, path: PathBytes, flags: OpenFlags?,
    need: Permissions
  ) throws(Errno) -> ProcessProbe { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func execvp(_ arguments: [PathBytes]) -> Errno { .ENOSYS }
  /// Fails with EOPNOTSUPP, as on a file system that cannot reserve space.
  @_spi(SystemCalls) public func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno) {
    throw .EOPNOTSUPP
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func rmdir(_ path: PathBytes) throws(Errno) { throw .ENOSYS }
  /// Returns the time in UTC, since other time zones need localtime_r(3).
  @_spi(SystemCalls) public func localtime(_ microseconds: Int64) -> WallTime {
    let second = Int((microseconds / 1_000_000) % 86_400)
    return WallTime(hour: second / 3600, minute: second / 60 % 60, second: second % 60)
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func pidfd_open(_ pid: Int32) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Does nothing.
  @_spi(SystemCalls) public func raise(_ signal: Int32) {}
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func runProgram(
    _ arguments: [PathBytes], environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput { throw .ENOSYS }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd? {
    throw .ENOSYS
  }
  /// Fails with ENOSYS.
  @_spi(SystemCalls) public func kill(_ pid: Int32, _ signal: Int32) throws(Errno) { throw .ENOSYS }
}
