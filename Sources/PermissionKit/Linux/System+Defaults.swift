/// Calls for which the others are enough.
extension System {
  /// Returns the fields of statx(2) for a descriptor of the path.
  @_spi(SystemCalls) public func status(of path: PathBytes) throws(Errno) -> StatusFields {
    let descriptor = try openat(.currentDirectory, path, .path, mode: 0)
    defer { close(descriptor) }
    return try statx(descriptor)
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
}
