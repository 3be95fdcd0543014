public import PermissionKit
internal import Synchronization

// The calls about processes, users and time.
extension FakeSystem {
  /// See `System.credentials`; returns the credentials that the test set.
  public func credentials() throws(Errno) -> Credentials {
    try call("credentials") { state throws(Errno) in state.credentials }
  }

  /// See `System.getpid`; always 4242.
  public func getpid() -> Int32 { 4242 }

  /// See `System.getenv`; returns the value of `setEnvironment`.
  public func getenv(_ name: String) -> PathBytes? {
    state.withLock { $0.environment[name] }
  }

  /// See `System.getcwd`; always the root directory.
  public func getcwd() throws(Errno) -> PathBytes {
    try call("getcwd") { _ throws(Errno) in "/" }
  }

  /// See `System.isatty`; always false.
  public func isatty(_ descriptor: Descriptor) -> Bool { false }

  /// See `System.columns`; always nil.
  public func columns(_ descriptor: Descriptor) -> Int? { nil }

  /// See `System.getpwnam`; knows the users of `addUser`.
  public func getpwnam(_ name: String) throws(Errno) -> UserRecord? {
    try call("getpwnam") { state throws(Errno) in state.users.first { $0.name == name } }
  }

  /// See `System.getpwuid`; knows the users of `addUser`.
  public func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord? {
    try call("getpwuid") { state throws(Errno) in state.users.first { $0.uid == uid } }
  }

  /// See `System.getgrouplist`; knows the users of `addUser`.
  public func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32] {
    try call("getgrouplist") { state throws(Errno) in
      [user.gid] + (state.members[user.name] ?? [])
    }
  }

  /// See `System.getgrgid`; knows the groups of `addGroup`.
  public func getgrgid(_ gid: UInt32) throws(Errno) -> String? {
    try call("getgrgid") { state throws(Errno) in state.groups[gid] }
  }

  /// Advances the clock.
  package func pass(milliseconds: Int64) { state.withLock { $0.time += milliseconds * 1000 } }

  /// See `System.realtime`; each call advances the clock by one microsecond.
  public func realtime() -> Int64 {
    state.withLock {
      $0.time += 1
      return $0.time
    }
  }

  /// See `System.monotonic`; the same clock as `realtime`.
  public func monotonic() -> Int64 { realtime() }
}
