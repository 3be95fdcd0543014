public import PermissionKit
internal import Synchronization

// The calls about processes, users and time.
extension FakeSystem {
  /// See `System.credentials`; the answer comes from the tree in memory.
  public func credentials() throws(Errno) -> Credentials {
    try call("credentials") { state throws(Errno) in state.credentials }
  }

  /// See `System.getpid`; the answer comes from the tree in memory.
  public func getpid() -> Int32 { 4242 }

  /// See `System.getenv`; the answer comes from the tree in memory.
  public func getenv(_ name: String) -> PathBytes? {
    state.withLock { $0.environment[name] }
  }

  /// See `System.getcwd`; the answer comes from the tree in memory.
  public func getcwd() throws(Errno) -> PathBytes {
    try call("getcwd") { _ throws(Errno) in "/" }
  }

  /// See `System.isatty`; the answer comes from the tree in memory.
  public func isatty(_ descriptor: Descriptor) -> Bool { false }

  /// See `System.columns`; the answer comes from the tree in memory.
  public func columns(_ descriptor: Descriptor) -> Int? { nil }

  /// See `System.getpwnam`; the answer comes from the tree in memory.
  public func getpwnam(_ name: String) throws(Errno) -> UserRecord? {
    try call("getpwnam") { state throws(Errno) in state.users.first { $0.name == name } }
  }

  /// See `System.getpwuid`; the answer comes from the tree in memory.
  public func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord? {
    try call("getpwuid") { state throws(Errno) in state.users.first { $0.uid == uid } }
  }

  /// See `System.getgrouplist`; the answer comes from the tree in memory.
  public func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32] {
    try call("getgrouplist") { state throws(Errno) in
      [user.gid] + (state.members[user.name] ?? [])
    }
  }

  /// See `System.getgrgid`; the answer comes from the tree in memory.
  public func getgrgid(_ gid: UInt32) throws(Errno) -> String? {
    try call("getgrgid") { state throws(Errno) in state.groups[gid] }
  }

  /// Lets the time pass.
  func pass(milliseconds: Int64) { state.withLock { $0.time += milliseconds * 1000 } }

  /// See `System.realtime`; the answer comes from the tree in memory.
  public func realtime() -> Int64 {
    state.withLock {
      $0.time += 1
      return $0.time
    }
  }

  /// See `System.monotonic`; the answer comes from the tree in memory.
  public func monotonic() -> Int64 { realtime() }
}
