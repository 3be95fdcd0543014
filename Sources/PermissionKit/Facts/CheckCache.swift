internal import Synchronization

/// The users and groups of many ids.
struct ManyIDs {
  var users: [UInt32: UserRecord?] = [:]
  var groups: [UInt32: String?] = [:]
}

/// Facts that stay the same during one command: mounts, users, groups, containers.
///
/// A watch uses a new cache for each check.
final class CheckCache: Sendable {
  struct Contents {
    // Few of each, which a dictionary takes longer to set up for than they take to search; where there are
    // many ids, those that follow are in one.
    var mounts: [(path: PathBytes, table: MountTable)] = []
    var users: [(uid: UInt32, record: UserRecord?)] = []
    var namedUsers: [(name: String, record: UserRecord?)] = []
    var groupLists: [(user: UserRecord, groups: [UInt32])] = []
    var groups: [(gid: UInt32, name: String?)] = []
    var more: ManyIDs?
    /// The users and groups beyond the first few, which the lists hold.
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
    var userFile: UserFile?
    var groupFile: UserFile?
    /// The containers and sandboxes of a process, by its id; nil is the id of this process.
    var scans: [(process: Int32?, value: any Sendable)] = []
    /// The facts that could not be looked at.
    var unseen: [Unseen] = []
  }

  let contents = Mutex(Contents())
}

extension LinuxSystem {
  /// Returns a system for a single command, which reads this process's ids, its mounts, users and
  /// groups once; see `forget()`.
  package static func cached() -> LinuxSystem {
    LinuxSystem(cache: LinuxSystem.Cache(facts: CheckCache()))
  }
}

extension System {
  /// This system without its cache.
  func uncached() -> any System { cached == nil ? self : LinuxSystem.cached() }

  /// The cache of this system; nil if it reads everything anew.
  var cached: CheckCache? {
    // Each such cache is a `CheckCache`; a cast would take as long as what it saves.
    (self as? LinuxSystem)?.cache.map { unsafe unsafeDowncast($0.facts, to: CheckCache.self) }
  }

  /// Forgets what was read, because time has passed or something was changed.
  package func forget() { cached?.contents.withLock { $0 = CheckCache.Contents() } }

  /// Returns the containers and sandboxes of a process, which the first call finds.
  func scanned<Value: Sendable>(_ process: Int32?, _ find: () -> Value) -> Value {
    // A chain of lazy sequences would take as long as all the rest of a check.
    for scan in cached?.contents.withLock({ $0.scans }) ?? [] where scan.process == process {
      if let known = scan.value as? Value { return known }
    }
    let value = find()
    cached?.contents.withLock { $0.scans.append((process, value)) }
    return value
  }

  /// Keeps what could not be seen for the reports of this command.
  func note(_ unseen: Unseen) {
    cached?.contents.withLock { if !$0.unseen.contains(unseen) { $0.unseen.append(unseen) } }
  }

  /// The facts that could not be seen so far, in order; empty without a cache.
  var unseen: [Unseen] { cached?.contents.withLock { $0.unseen } ?? [] }

  /// Returns what was read before, or reads it.
  ///
  /// - Parameters:
  ///   - known: Returns what is remembered.
  ///   - keep: Remembers it. (Closures, since a key path takes longer than what it would save.)
  ///   - read: Reads it.
  /// - Returns: What is remembered now; without a memory, what was read.
  /// - Throws: The errno of `read`.
  func remembered<Value: Sendable>(
    _ known: (CheckCache.Contents) -> Value?, _ keep: (inout CheckCache.Contents, Value) -> Void,
    _ read: () throws(Errno) -> Value
  ) throws(Errno) -> Value {
    guard let cached else { return try read() }
    if let value = cached.contents.withLock({ known($0) }) { return value }
    let value = try read()
    cached.contents.withLock { keep(&$0, value) }
    return value
  }

  /// Returns the mounts in a mountinfo file, which a system for a single check reads once.
  ///
  /// A user who stacks mounts in a namespace makes the file slow: the kernel climbs all of them for each line
  /// (`prepend_path()`). So another process's is read for two seconds, and then not
  /// again for ten.
  func mountTable(_ path: PathBytes = MountTable.own) throws(Errno) -> MountTable {
    try remembered(
      { memory in memory.mounts.first { $0.path == path }?.table },
      { $0.mounts.append((path, $1)) }
    ) { () throws(Errno) in
      guard path != MountTable.own else {
        return MountTable(mountinfo: try contents(of: path, limit: 1 << 26))
      }
      if LinuxSystem.isUnresponsive(path, monotonic()) { throw .ETIMEDOUT }
      do throws(Errno) {
        return MountTable(mountinfo: try contents(of: path, limit: 1 << 26, within: 2_000_000))
      } catch {
        if error == .ETIMEDOUT { LinuxSystem.remember(path, -1, until: monotonic() + 10_000_000) }
        throw error
      }
    }
  }
}
