internal import CCap
internal import Glibc
internal import Synchronization

// Users and groups.
extension LinuxSystem {
  /// getpwnam_r(3) with a buffer that grows; nil if there is no such user.
  package func getpwnam(_ name: String) throws(Errno) -> UserRecord? {
    try looked { () throws(Errno) in
      try unsafe Self.look({ unsafe getpwnam_r(name, $0, $1, $2, $3) }, Self.record)
    }
  }

  /// getpwuid_r(3) with a buffer that grows; nil if there is no such user.
  package func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord? {
    try looked { () throws(Errno) in
      try unsafe Self.look({ unsafe getpwuid_r(uid, $0, $1, $2, $3) }, Self.record)
    }
  }

  /// Calls a reentrant lookup with a buffer that grows until the entry fits.
  private static func look<Entry, Result>(
    _ call: (
      UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    ) -> Int32,
    _ read: (Entry) -> Result
  ) throws(Errno) -> Result? {
    var size = 1024
    while true {
      var result: Int32 = 0
      let match: Result? = unsafe withUnsafeTemporaryAllocation(of: Entry.self, capacity: 1) {
        entry in
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
          guard let entry = entry.baseAddress, let buffer = buffer.baseAddress else { return nil }
          var found: UnsafeMutablePointer<Entry>?
          result = unsafe call(entry, buffer, size, &found)
          guard let match = unsafe found else { return nil }
          return unsafe read(match.pointee)
        }
      }
      if result == ERANGE, size < 1 << 24 {
        size *= 4
        continue
      }
      guard result == 0 || Self.meansNoEntry(result) else { throw Errno(rawValue: result) }
      return match
    }
  }

  private static func record(_ entry: passwd) -> UserRecord {
    unsafe UserRecord(
      name: String(cString: entry.pw_name), uid: entry.pw_uid, gid: entry.pw_gid,
      // A line that asks for entries of NIS need not name one.
      home: entry.pw_dir.map { unsafe LinuxSystem().bytes($0) } ?? "")
  }

  private static func record(_ entry: group) -> GroupRecord {
    var record = unsafe GroupRecord(
      name: String(cString: entry.gr_name), gid: entry.gr_gid, members: [])
    while let member = unsafe entry.gr_mem?[record.members.count] {
      record.members.append(unsafe String(cString: member))
    }
    return record
  }

  /// Whether getpwnam(3) lists the error under "the given name or uid was not found".
  private static func meansNoEntry(_ errno: Int32) -> Bool {
    [ENOENT, ESRCH, EBADF, EPERM].contains(errno)
  }

  /// getgrouplist(3) with an array that grows; ERANGE for more than 131,072 groups.
  package func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32] {
    try looked { () throws(Errno) in try groups(of: user) }
  }

  private func groups(of user: UserRecord) throws(Errno) -> [UInt32] {
    var count: Int32 = 64
    while true {
      var groups = [gid_t](repeating: 0, count: Int(count))
      let room = count
      if unsafe Glibc.getgrouplist(user.name, user.gid, &groups, &count) >= 0 {
        return Array(groups.prefix(Int(count)))
      }
      count = max(count, room * 2)
      guard count <= 1 << 17 else { throw .ERANGE }
    }
  }

  /// getgrgid_r(3) with a buffer that grows; nil if there is no such group.
  package func getgrgid(_ gid: UInt32) throws(Errno) -> String? {
    try looked { () throws(Errno) in
      try unsafe Self.look({ unsafe getgrgid_r(gid, $0, $1, $2, $3) }) { (entry: group) in
        unsafe String(cString: entry.gr_name)
      }
    }
  }

  /// getpwent_r(3), from the first user to the last; a lookup of glibc that one thread makes at a time.
  package func getpwent() throws(Errno) -> [UserRecord] {
    try looked { () throws(Errno) in
      setpwent()
      defer { endpwent() }
      var users: [UserRecord] = []
      while let user = try unsafe Self.look({ unsafe getpwent_r($0, $1, $2, $3) }, Self.record) {
        users.append(user)
      }
      return users
    }
  }

  /// getgrnam_r(3) with a buffer that grows; nil if there is no such group.
  package func getgrnam(_ name: String) throws(Errno) -> (gid: UInt32, members: [String])? {
    try looked { () throws(Errno) in
      try unsafe Self.look({ unsafe getgrnam_r(name, $0, $1, $2, $3) }, Self.record)
        .map { ($0.gid, $0.members) }
    }
  }

  // MARK: Files

  /// Returns the users in the bytes of a passwd(5) file, as glibc reads them; see fgetpwent_r(3).
  static func users(in file: [UInt8]) throws(Errno) -> [UserRecord] {
    try unsafe entries(file) { stream throws(Errno) in
      try unsafe look({ unsafe fgetpwent_r(stream, $0, $1, $2, $3) }, record)
    }.filter { !isOfNIS($0.name) }
  }

  /// Returns the groups in the bytes of a group(5) file, as glibc reads them; see fgetgrent_r(3).
  static func groups(in file: [UInt8]) throws(Errno) -> [GroupRecord] {
    try unsafe entries(file) { stream throws(Errno) in
      try unsafe look({ unsafe fgetgrent_r(stream, $0, $1, $2, $3) }, record)
    }.filter { !isOfNIS($0.name) }
  }

  /// Whether a line asks for an entry of NIS; files alone have no such name.
  private static func isOfNIS(_ name: String) -> Bool {
    name.utf8.first == UInt8(ascii: "+") || name.utf8.first == UInt8(ascii: "-")
  }

  private static func entries<Entry>(
    _ file: [UInt8], _ next: (UnsafeMutablePointer<FILE>) throws(Errno) -> Entry?
  ) throws(Errno) -> [Entry] {
    var file = file
    if file.isEmpty { return [] }
    guard let stream = unsafe fmemopen(&file, file.count, "r") else { throw Errno(rawValue: errno) }
    defer { unsafe fclose(stream) }
    var entries: [Entry] = []
    while let entry = unsafe try next(stream) { entries.append(entry) }
    return entries
  }

  // MARK: Servers

  /// The time that a user data base has to answer, in milliseconds.
  private static let userLimit: Int32 = 1000

  /// Whether a lookup may wait for a server, by the sources in nsswitch.conf(5).
  private static let usersMayWait = UserSources(
    try? LinuxSystem().contents(of: "/etc/nsswitch.conf", limit: 1 << 16)
  ).mayWait

  /// Whether a lookup did not answer; then glibc may hold a lock that every other lookup waits for.
  private static let usersAreUnresponsive = Mutex(false)

  /// Allows user lookups again after a server answered.
  static func resetUserTimeout() { usersAreUnresponsive.withLock { $0 = false } }

  /// Calls `body`, in a thread of its own if it may wait for a server.
  ///
  /// - Throws: ETIMEDOUT if a server did not answer this lookup or an earlier one.
  func looked<Value: Sendable>(
    _ body: @escaping @Sendable () throws(Errno) -> Value
  ) throws(Errno) -> Value {
    guard Self.usersMayWait else { return try body() }
    if Self.usersAreUnresponsive.withLock({ $0 }) { throw .ETIMEDOUT }
    let lookup = Lookup(body, signal: try EventFD(self))
    // Without a thread the lookup can only be waited for.
    guard lookup.start() else { return try body() }
    let end = monotonic() + Int64(Self.userLimit) * 1000
    while lookup.result.withLock({ $0 == nil }), case let rest = end - monotonic(), rest > 0 {
      // A signal of the program interrupts the wait.
      _ = try? poll([lookup.signal.request], timeout: Int32(rest / 1000) + 1)
    }
    guard let result = lookup.result.withLock({ $0 }) else {
      Self.usersAreUnresponsive.withLock { $0 = true }
      // The answer may have come just now, and then nothing else would tell it.
      if lookup.result.withLock({ $0 != nil }) { Self.usersAreUnresponsive.withLock { $0 = false } }
      throw .ETIMEDOUT
    }
    return try result.get()
  }
}

/// A lookup in a user data base that may ask a server (sssd, LDAP, NIS), in a thread of its own.
private final class Lookup<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, Errno>?>(nil)
  let signal: EventFD
  private let body: @Sendable () throws(Errno) -> Value

  init(_ body: @escaping @Sendable () throws(Errno) -> Value, signal: EventFD) {
    self.body = body
    self.signal = signal
  }

  /// Starts a thread; whether there is one.
  func start() -> Bool { DetachedThread.start(takesSignals: false) { self.run() } }

  private func run() {
    let found: Result<Value, Errno>
    do throws(Errno) { found = .success(try body()) } catch { found = .failure(error) }
    result.withLock { $0 = found }
    // An answer, however late, shows that no lock is held any more.
    LinuxSystem.resetUserTimeout()
    signal.signal()
  }
}
