/// Default implementations, by other calls.
extension System {
  /// Returns the fields of statx(2) for a descriptor of the path.
  @_spi(SystemCalls) public func status(of path: PathBytes) throws(Errno) -> StatusFields {
    let descriptor = try openat(.currentDirectory, path, .path, mode: 0)
    defer { close(descriptor) }
    return try statx(descriptor)
  }
  /// Does nothing: other systems have room.
  @_spi(SystemCalls) public func checkRoom(
    in directory: Descriptor, uid: UInt32, gid: UInt32
  ) throws(Errno) {}
  /// Returns true: the mounts of other systems always answer.
  @_spi(SystemCalls) public func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    true
  }
  /// Returns this system, which never blocks.
  @_spi(SystemCalls) public func withCallProcess(
    _ mount: PathBytes, within milliseconds: Int32
  ) -> any System { self }
  /// Returns this system, in which nobody else changes anything.
  @_spi(SystemCalls) public func door(
    below root: PathBytes, as user: Credentials?, within milliseconds: Int32
  ) -> any System { self }
  /// Opens the checked inode itself.
  @_spi(SystemCalls) public func regular(_ path: PathBytes) throws(Errno) -> Descriptor {
    try regularFile(path)
  }
  /// Opens without a time limit.
  @_spi(SystemCalls) public func open(
    _ path: PathBytes, _ flags: OpenFlags, through covers: [PathBytes],
    within milliseconds: Int32
  ) throws(Errno) -> Descriptor {
    try openat(.currentDirectory, path, flags, mode: 0)
  }
  /// Fails with ENOTTY: other systems have no terminals.
  @_spi(SystemCalls) public func isExclusive(_ descriptor: Descriptor) throws(Errno) -> Bool {
    throw .ENOTTY
  }
  /// Fails with EINVAL, as Linux before 6.14 does.
  @_spi(SystemCalls) public func checkExecution(_ descriptor: Descriptor) throws(Errno) {
    throw .EINVAL
  }
  /// Returns nil: this cannot be seen.
  @_spi(SystemCalls) public func isRestrictedByLandlock(_ process: Int32) -> Bool? { nil }
  /// Returns nil: other systems have no such count.
  @_spi(SystemCalls) public func landlockLayers() -> Int? { nil }
}
