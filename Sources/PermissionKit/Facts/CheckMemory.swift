internal import Synchronization

/// The users and groups of many ids.
struct ManyIDs {
  var users: [UInt32: UserRecord?] = [:]
  var groups: [UInt32: String?] = [:]
}

/// What one check has read, and what is the same for all of it: mounts, users and groups.
final class CheckMemory: Sendable {
  struct Contents {
    // Few of each, which a dictionary takes longer to set up for than they take to search; where there are
    // many ids, those that follow are in one.
    var mounts: [(path: PathBytes, table: MountTable)] = []
    var users: [(uid: UInt32, record: UserRecord?)] = []
    var namedUsers: [(name: String, record: UserRecord?)] = []
    var groupLists: [(user: UserRecord, groups: [UInt32])] = []
    var groups: [(gid: UInt32, name: String?)] = []
    var more: ManyIDs?
    /// What does not fit in the lists.
    var keepMore: ManyIDs {
      get { more ?? ManyIDs() }
      _modify {
        var kept = more ?? ManyIDs()
        more = nil
        yield &kept
        more = kept
      }
    }
    var sources: UserSources?
    // nil before they are read, then nil where glibc has to be asked.
    var userFile: UserFile??
    var groupFile: UserFile??
  }

  let contents = Mutex(Contents())
}

extension LinuxSystem {
  /// Returns a system for a single check, which reads this process's ids, its mounts, users and
  /// groups once.
  ///
  /// Take a new one for each check: all of these may have changed.
  package static func cached() -> LinuxSystem { LinuxSystem(memory: Memory(CheckMemory())) }
}

extension System {
  /// This system without what it remembers.
  func uncached() -> any System { memory == nil ? self : LinuxSystem.cached() }

  /// What this system remembers; nil if it reads everything anew.
  var memory: CheckMemory? { (self as? LinuxSystem)?.memory?.facts as? CheckMemory }

  /// Returns what was read before, or reads it.
  ///
  /// - Parameters:
  ///   - known: Returns what is remembered.
  ///   - keep: Remembers it. (Closures, since a key path takes longer than what it would save.)
  ///   - read: Reads it.
  /// - Returns: What is remembered now; without a memory, what was read.
  /// - Throws: The errno of `read`.
  func recalled<Value: Sendable>(
    _ known: (CheckMemory.Contents) -> Value?, _ keep: (inout CheckMemory.Contents, Value) -> Void,
    _ read: () throws(Errno) -> Value
  ) throws(Errno) -> Value {
    guard let memory else { return try read() }
    if let value = memory.contents.withLock({ known($0) }) { return value }
    let value = try read()
    memory.contents.withLock { keep(&$0, value) }
    return value
  }

  /// Returns the mounts in a mountinfo file, which a system for a single check reads once.
  func mountTable(_ path: PathBytes = MountTable.own) throws(Errno) -> MountTable {
    try recalled(
      { memory in memory.mounts.first { $0.path == path }?.table },
      { $0.mounts.append((path, $1)) }
    ) { () throws(Errno) in
      MountTable(mountinfo: try contents(of: path, limit: 1 << 26))
    }
  }
}
