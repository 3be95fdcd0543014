@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

/// A system in memory, for tests without devices and without root.
///
/// Holds a tree of inodes and answers each call as the kernel does: `AccessEvaluator` decides
/// access for the credentials of the test. A test can force errors.
public final class FakeSystem: System {
  struct OpenFile {
    var inode: Int
    var offset = 0
    var appends = false
  }

  struct State {
    var facts: AccessFacts
    var contents: [Int: [UInt8]] = [:]
    var files: [Int32: OpenFile] = [:]
    /// The text that was written to descriptor 2.
    var standardError: [UInt8] = []
    var nextDescriptor: Int32 = 3
    var credentials: Credentials
    var environment: [String: PathBytes] = [:]
    var users: [UserRecord] = []
    var groups: [UInt32: String] = [:]
    var members: [String: [UInt32]] = [:]
    var forced: [String: Errno] = [:]
    /// The errors of calls about one inode, by the call's name.
    var forcedOn: [String: [Int: Errno]] = [:]
    var cards: [Int: VideoCapability] = [:]
    /// The number of inodes that had the number of an inode before it.
    var generations: [Int: Int] = [:]
    /// The file systems besides that of the root directory, by the index of their mount.
    var superblocks: [Int: FakeSuperblock] = [:]
    var time: Int64 = 1_000_000_000_000_000
    var calls: [String] = []
    /// The number of calls that still work; nil for all of them.
    var callsLeft: Int?
    /// The sockets on which no program listens.
    var stale: Set<Int> = []
    /// The mount points that do not answer.
    var unresponsive: Set<PathBytes> = []
    /// The changes to make before a path is opened for reading and writing, in order.
    var changes: [PathBytes: [@Sendable (FakeSystem) -> Void]] = [:]
  }

  let state: Mutex<State>
  let watching = FakeWatching()

  /// Creates a system with an empty root directory and a /proc that lists one mount.
  ///
  /// - Parameter credentials: The credentials of the calling process.
  public init(credentials: Credentials = Credentials(uid: 1000, gid: 1000, groups: [])) {
    var mount = MountFacts(id: 1, fileSystem: "tmpfs")
    mount.superblockOptions = "rw"
    let root = InodeFacts(kind: .directory, mode: 0o755, uid: 0, gid: 0)
    var facts = AccessFacts(
      inodes: [root], mounts: [mount],
      sysctls: .init(protectedSymlinks: 1, protectedRegular: 0, protectedFIFOs: 0))
    facts.inodes[0].entriesAreComplete = true
    state = Mutex(State(facts: facts, credentials: credentials))
    add("/proc/thread-self/mountinfo", .file("1 0 0:1 / / rw - tmpfs tmpfs rw\n"))
    add("/proc/self/uid_map", .file("0 0 4294967295\n"))
    add("/proc/self/gid_map", .file("0 0 4294967295\n"))
    add("/proc/sys/fs/protected_symlinks", .file("1\n"))
    setSeccomp(0)
    // udev runs.
    add("/run/udev/control", FakeNode(kind: .socket, mode: 0o600))
  }

  // MARK: - Setup by the test

  /// Adds a file, device, link or directory, and the directories above it.
  ///
  /// - Parameters:
  ///   - path: An absolute path without `.`, `..` and links.
  ///   - node: The node to add; by default an empty file.
  public func add(_ path: PathBytes, _ node: FakeNode = FakeNode()) {
    // A driver lists the numbers that it serves.
    if let number = node.inode.device, node.driver != .ENXIO, node.driver != .ENODEV {
      let folder = node.inode.kind == .blockDevice ? "block" : "char"
      add(
        PathBytes("/sys/dev/\(folder)/\(number.major):\(number.minor)"), FakeNode(kind: .directory))
    }
    state.withLock { state in
      let names = path.bytes.split(separator: UInt8(ascii: "/")).map { PathBytes(Array($0)) }
      var directory = 0
      for name in names.dropLast() {
        directory =
          Self.child(name, of: directory, &state.facts)
          ?? Self.insert(
            InodeFacts(kind: .directory, mode: 0o755, uid: 0, gid: 0), name, directory,
            &state.facts)
      }
      guard let name = names.last else { return }
      var inode = node.inode
      defer {
        if let index = Self.child(name, of: directory, &state.facts) {
          if node.hasListener { state.stale.remove(index) } else { state.stale.insert(index) }
        }
      }
      if let known = Self.child(name, of: directory, &state.facts) {
        inode.parent = directory
        inode.mount = state.facts.inodes[known].mount
        inode.entries = state.facts.inodes[known].entries
        inode.entriesAreComplete = inode.kind == .directory
        state.facts.inodes[known] = inode
        state.contents[known] = Array(node.contents.utf8)
      } else {
        let index = Self.insert(inode, name, directory, &state.facts)
        state.contents[index] = Array(node.contents.utf8)
      }
    }
  }

  /// Removes a name from its directory.
  public func remove(_ path: PathBytes) {
    state.withLock { state in
      let names = path.bytes.split(separator: UInt8(ascii: "/")).map { PathBytes(Array($0)) }
      var directory = 0
      for name in names.dropLast() {
        guard let next = Self.child(name, of: directory, &state.facts) else { return }
        directory = next
      }
      state.facts.inodes[directory].entries.removeAll { $0.name == names.last }
    }
  }

  /// Sets the answer of VIDIOC_QUERYCAP for a node.
  package func setCard(_ capability: VideoCapability, of path: PathBytes) {
    state.withLock { state in
      let evaluator = AccessEvaluator(
        facts: state.facts, credentials: Credentials(uid: 0, gid: 0, groups: []))
      guard let inode = evaluator.decide(.open(.path), path: path).inode else { return }
      state.cards[inode] = capability
    }
  }

  /// Makes every call of this name fail.
  ///
  /// - Parameters:
  ///   - call: The name of the method: `openat`, `write`.
  ///   - errno: The errno of the failure; nil lets the call succeed again.
  public func force(_ call: String, _ errno: Errno?) {
    state.withLock { $0.forced[call] = errno }
  }

  /// Makes every call after this number of calls fail with EIO, as if the process had been killed.
  ///
  /// - Parameter count: The number of calls that still work; nil lets all calls work again.
  package func kill(after count: Int?) {
    state.withLock { $0.callsLeft = count }
  }

  /// Adds a user, with the groups besides the primary group.
  public func addUser(_ user: UserRecord, groups: [UInt32] = []) {
    state.withLock {
      $0.users.append(user)
      $0.members[user.name] = groups
    }
    writeUsers()
  }

  /// Adds a group with this name.
  public func addGroup(_ gid: UInt32, _ name: String) {
    state.withLock { $0.groups[gid] = name }
    writeUsers()
  }

  /// Sets a variable of the environment; nil removes it.
  public func setEnvironment(_ name: String, _ value: PathBytes?) {
    state.withLock { $0.environment[name] = value }
  }

  /// Changes the credentials of the calling process.
  public func become(_ credentials: Credentials) {
    state.withLock { $0.credentials = credentials }
  }

  /// Makes one change before each open of a path with O_PATH, or for reading and writing, in order.
  public func change(
    beforeOpening path: PathBytes, _ changes: [@Sendable (FakeSystem) -> Void]
  ) {
    state.withLock { $0.changes[path] = changes }
  }

  /// The text that was written to standard error.
  package var standardError: [UInt8] { state.withLock { $0.standardError } }

  /// The names of the calls so far, in order.
  public var calls: [String] { state.withLock { $0.calls } }

  static func child(
    _ name: PathBytes, of directory: Int, _ facts: inout AccessFacts
  ) -> Int? {
    for entry in facts.inodes[directory].entries where entry.name == name {
      if case .inode(let index) = entry.found { return index }
    }
    return nil
  }

  static func insert(
    _ inode: InodeFacts, _ name: PathBytes, _ directory: Int, _ facts: inout AccessFacts
  ) -> Int {
    var inode = inode
    inode.parent = directory
    inode.mount = facts.inodes[directory].mount
    inode.entriesAreComplete = inode.kind == .directory
    let index = facts.inodes.count
    facts.inodes.append(inode)
    facts.inodes[directory].entries.append(.init(name: name, found: .inode(index)))
    return index
  }

  /// Records a call, and throws the errno that the test forced.
  func call<Result>(
    _ name: String, _ body: (inout sending State) throws(Errno) -> sending Result
  ) throws(Errno) -> Result {
    try state.withLock { state throws(Errno) in
      state.calls.append(name)
      if let left = state.callsLeft {
        guard left > 0 else { throw .EIO }
        state.callsLeft = left - 1
      }
      if let errno = state.forced[name] { throw errno }
      return try body(&state)
    }
  }
}
