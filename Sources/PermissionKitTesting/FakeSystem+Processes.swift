@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

// The calls about processes, users and time.
extension FakeSystem {
  /// See `System.credentials`; returns the credentials that the test set.
  @_spi(SystemCalls) public func credentials() throws(Errno) -> Credentials {
    try call("credentials") { state throws(Errno) in state.credentials }
  }

  /// See `System.getpid`; always 4242.
  @_spi(SystemCalls) public func getpid() -> Int32 { 4242 }

  /// See `System.getenv`; returns the value of `setEnvironment`.
  @_spi(SystemCalls) public func getenv(_ name: String) -> PathBytes? {
    state.withLock { $0.environment[name] }
  }

  /// See `System.getcwd`; always the root directory.
  @_spi(SystemCalls) public func getcwd() throws(Errno) -> PathBytes {
    try call("getcwd") { _ throws(Errno) in "/" }
  }

  /// See `System.isatty`; always false.
  @_spi(SystemCalls) public func isatty(_ descriptor: Descriptor) -> Bool { false }

  /// See `System.columns`; always nil.
  @_spi(SystemCalls) public func columns(_ descriptor: Descriptor) -> Int? { nil }

  /// Advances the clock.
  package func pass(milliseconds: Int64) { state.withLock { $0.time += milliseconds * 1000 } }

  /// See `System.realtime`; each call advances the clock by one microsecond.
  @_spi(SystemCalls) public func realtime() -> Int64 {
    state.withLock {
      $0.time += 1
      return $0.time
    }
  }

  /// See `System.boottime`; the same clock as `realtime`.
  @_spi(SystemCalls) public func boottime() -> Int64 { realtime() }

  /// See `System.monotonic`; the same clock as `realtime`.
  @_spi(SystemCalls) public func monotonic() -> Int64 { realtime() }
}
