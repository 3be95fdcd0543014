public import PermissionKit
internal import Synchronization

/// A system in memory, for tests that need no device and no root.
///
/// It holds a tree of inodes, and answers each call as the kernel would: its permissions are judged
/// by `AccessEvaluator`, for the credentials that it was given. Errors can be forced.
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
    var nextDescriptor: Int32 = 3
    var credentials: Credentials
    var environment: [String: PathBytes] = [:]
    var users: [UserRecord] = []
    var groups: [UInt32: String] = [:]
    var members: [String: [UInt32]] = [:]
    var forced: [String: Errno] = [:]
    var cards: [Int: VideoCapability] = [:]
    var time: Int64 = 1_000_000_000_000_000
    var calls: [String] = []
    /// What changes before a path is opened for reading and writing, the next change first.
    var changes: [PathBytes: [@Sendable (FakeSystem) -> Void]] = [:]
  }

  private let state: Mutex<State>
  let watching = FakeWatching()

  /// Makes a system with an empty root directory and a /proc that shows one mount.
  ///
  /// - Parameter credentials: Who the calling process is.
  public init(credentials: Credentials = Credentials(uid: 1000, gid: 1000, groups: [])) {
    var mount = MountFacts(id: 1, fileSystem: "tmpfs")
    mount.superblockOptions = "rw"
    let root = InodeFacts(kind: .directory, mode: 0o755, uid: 0, gid: 0)
    var facts = AccessFacts(
      inodes: [root], mounts: [mount],
      sysctls: .init(protectedSymlinks: 1, protectedRegular: 0, protectedFIFOs: 0))
    facts.inodes[0].entriesAreComplete = true
    state = Mutex(State(facts: facts, credentials: credentials))
    add("/proc/self/mountinfo", contents: "1 0 0:1 / / rw - tmpfs tmpfs rw\n")
    add("/proc/self/uid_map", contents: "0 0 4294967295\n")
    add("/proc/self/gid_map", contents: "0 0 4294967295\n")
    add("/proc/sys/fs/protected_symlinks", contents: "1\n")
  }

  // MARK: - What the test sets up

  /// Adds a file, device, link or directory, and the directories above it.
  ///
  /// - Parameters:
  ///   - path: Absolute, without `.`, `..` and links.
  ///   - kind: Its file type.
  ///   - mode: Its permission bits, 07777.
  ///   - uid: Its owner.
  ///   - gid: Its group.
  ///   - acl: Its access ACL; the mode's group bits become the mask.
  ///   - device: The number of a device node.
  ///   - driver: What the driver's open answers; nil when it opens.
  ///   - target: Where a symbolic link points.
  ///   - contents: What can be read from a file.
  public func add(
    _ path: PathBytes, kind: FileKind = .regular, mode: UInt16? = nil, uid: UInt32 = 0,
    gid: UInt32 = 0, acl: AccessControlList? = nil, device: DeviceNumber? = nil,
    driver: Errno? = nil, target: PathBytes? = nil, contents: String = ""
  ) {
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
      let standard: UInt16 = kind == .directory ? 0o755 : kind == .symbolicLink ? 0o777 : 0o644
      var inode = InodeFacts(
        kind: kind, mode: mode ?? standard, uid: uid, gid: gid, acl: acl, device: device,
        target: target)
      if let mask = acl?.mask {
        inode.mode = inode.mode & ~0o070 | UInt16(mask.rawValue) << 3
      }
      inode.driverErrno = driver
      if let known = Self.child(name, of: directory, &state.facts) {
        inode.parent = directory
        inode.entries = state.facts.inodes[known].entries
        inode.entriesAreComplete = kind == .directory
        state.facts.inodes[known] = inode
        state.contents[known] = Array(contents.utf8)
      } else {
        let index = Self.insert(inode, name, directory, &state.facts)
        state.contents[index] = Array(contents.utf8)
      }
    }
  }

  /// Takes a name out of its directory.
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

  /// Makes VIDIOC_QUERYCAP of a node answer.
  public func setCard(_ capability: VideoCapability, of path: PathBytes) {
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
  ///   - call: The method's name: `openat`, `write`.
  ///   - errno: The errno to fail with; nil lets the call work again.
  public func force(_ call: String, _ errno: Errno?) {
    state.withLock { $0.forced[call] = errno }
  }

  /// Adds a user and the groups besides the primary one.
  public func addUser(_ user: UserRecord, groups: [UInt32] = []) {
    state.withLock {
      $0.users.append(user)
      $0.members[user.name] = groups
    }
  }

  /// Names a group.
  public func addGroup(_ gid: UInt32, _ name: String) {
    state.withLock { $0.groups[gid] = name }
  }

  /// Sets a variable of the environment; nil removes it.
  public func setEnvironment(_ name: String, _ value: PathBytes?) {
    state.withLock { $0.environment[name] = value }
  }

  /// Changes who the calling process is.
  public func become(_ credentials: Credentials) {
    state.withLock { $0.credentials = credentials }
  }

  /// Makes something change just before a path is opened for reading and writing: one change each time.
  public func change(
    beforeOpening path: PathBytes, _ changes: [@Sendable (FakeSystem) -> Void]
  ) {
    state.withLock { $0.changes[path] = changes }
  }

  /// The names of the calls made so far, in order.
  public var calls: [String] { state.withLock { $0.calls } }

  private static func child(
    _ name: PathBytes, of directory: Int, _ facts: inout AccessFacts
  ) -> Int? {
    for entry in facts.inodes[directory].entries where entry.name == name {
      if case .inode(let index) = entry.found { return index }
    }
    return nil
  }

  private static func insert(
    _ inode: InodeFacts, _ name: PathBytes, _ directory: Int, _ facts: inout AccessFacts
  ) -> Int {
    var inode = inode
    inode.parent = directory
    inode.entriesAreComplete = inode.kind == .directory
    let index = facts.inodes.count
    facts.inodes.append(inode)
    facts.inodes[directory].entries.append(.init(name: name, found: .inode(index)))
    return index
  }

  /// Notes a call, and throws what was forced on it.
  func call<Result>(
    _ name: String, _ body: (inout sending State) throws(Errno) -> sending Result
  ) throws(Errno) -> Result {
    try state.withLock { state throws(Errno) in
      state.calls.append(name)
      if let errno = state.forced[name] { throw errno }
      return try body(&state)
    }
  }
}

// MARK: - System

extension FakeSystem {
  /// See `System.openat`; the answer comes from the tree in memory.
  public func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    if flags.contains(.readWrite) {
      let change = state.withLock { state -> (@Sendable (FakeSystem) -> Void)? in
        guard let next = state.changes[path]?.first else { return nil }
        state.changes[path]?.removeFirst()
        return next
      }
      change?(self)
    }
    return try call("openat") { state throws(Errno) in
      if path.bytes.contains(0) { throw .EINVAL }
      var facts = state.facts
      if directory != .currentDirectory {
        guard let start = state.files[directory.rawValue]?.inode else { throw .EBADF }
        facts.start = start
      }
      // A descriptor's own link in /proc.
      let prefix = "/proc/self/fd/"
      if path.hasPrefix(prefix) {
        let number = path.bytes.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "/") }
        guard let own = Int32(String(decoding: number, as: UTF8.self)),
          let file = state.files[own]
        else { throw .ENOENT }
        return Self.open(file.inode, flags, &state)
      }
      let evaluator = AccessEvaluator(facts: facts, credentials: state.credentials)
      let decision = evaluator.decide(.open(flags.subtracting(.closeOnExec)), path: path)
      if let errno = decision.errno { throw errno }
      guard decision.isGranted, let inode = decision.inode else { throw .EIO }
      guard decision.rule == .created else { return Self.open(inode, flags, &state) }
      let created = Self.insert(
        InodeFacts(
          kind: .regular, mode: mode, uid: state.credentials.user.fileSystem,
          gid: state.credentials.group.fileSystem), path.lastComponent, inode, &state.facts)
      return Self.open(created, flags, &state)
    }
  }

  private static func open(_ inode: Int, _ flags: OpenFlags, _ state: inout State) -> Descriptor {
    if flags.contains(.truncate) { state.contents[inode] = [] }
    let number = state.nextDescriptor
    state.nextDescriptor += 1
    state.files[number] = OpenFile(inode: inode, appends: flags.contains(.append))
    return Descriptor(rawValue: number)
  }

  /// See `System.close`; the answer comes from the tree in memory.
  public func close(_ descriptor: Descriptor) {
    state.withLock { $0.files[descriptor.rawValue] = nil }
    watching.close(descriptor)
  }

  /// See `System.read`; the answer comes from the tree in memory.
  public func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    if let events = try watching.read(descriptor, count) { return events }
    return try call("read") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let part = Array((state.contents[file.inode] ?? []).dropFirst(file.offset).prefix(count))
      state.files[descriptor.rawValue]?.offset += part.count
      return part
    }
  }

  /// See `System.write`; the answer comes from the tree in memory.
  public func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    if watching.write(descriptor) { return bytes.count }
    return try call("write") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      var contents = state.contents[file.inode] ?? []
      let offset = file.appends ? contents.count : min(file.offset, contents.count)
      contents.replaceSubrange(offset..<min(offset + bytes.count, contents.count), with: bytes)
      state.contents[file.inode] = contents
      state.files[descriptor.rawValue]?.offset = offset + bytes.count
      return bytes.count
    }
  }

  /// See `System.mkdirat`; the answer comes from the tree in memory.
  public func mkdirat(
    _ directory: Descriptor, _ path: PathBytes, mode: UInt16
  ) throws(Errno) {
    try call("mkdirat") { state throws(Errno) in
      let evaluator = AccessEvaluator(facts: state.facts, credentials: state.credentials)
      let decision = evaluator.decide(.open([.create, .exclusive, .writeOnly]), path: path)
      if let errno = decision.errno { throw errno }
      guard decision.rule == .created, let parent = decision.inode else { throw .EIO }
      _ = Self.insert(
        InodeFacts(
          kind: .directory, mode: mode, uid: state.credentials.user.fileSystem,
          gid: state.credentials.group.fileSystem), path.lastComponent, parent, &state.facts)
    }
  }

  /// See `System.statx`; the answer comes from the tree in memory.
  public func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    try call("statx") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let inode = state.facts.inodes[file.inode]
      let types: [FileKind: UInt32] = [
        .directory: 0o040000, .regular: 0o100000, .symbolicLink: 0o120000,
        .characterDevice: 0o020000, .blockDevice: 0o060000, .fifo: 0o010000, .socket: 0o140000,
      ]
      return StatusFields(
        mode: (types[inode.kind] ?? 0) | UInt32(inode.mode), uid: inode.uid, gid: inode.gid,
        device: inode.device ?? .init(major: 0, minor: 0), inode: UInt64(file.inode), mount: 1,
        isImmutable: inode.isImmutable, isAppendOnly: inode.isAppendOnly)
    }
  }

  /// See `System.readlinkat`; the answer comes from the tree in memory.
  public func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    try call("readlinkat") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue],
        let target = state.facts.inodes[file.inode].target
      else { throw .EINVAL }
      return target
    }
  }

  /// See `System.getxattr`; the answer comes from the tree in memory.
  public func getxattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8] {
    try call("getxattr") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let inode = state.facts.inodes[file.inode]
      guard let acl = attribute == .access ? inode.acl : inode.defaultACL else { throw .ENODATA }
      return acl.xattr
    }
  }

  /// See `System.statmount`; the answer comes from the tree in memory.
  public func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    try call("statmount") { _ throws(Errno) in nil }
  }

  /// See `System.fstatfs`; the answer comes from the tree in memory.
  public func fstatfs(_ descriptor: Descriptor) throws(Errno) -> MountFacts {
    try call("fstatfs") { state throws(Errno) in state.facts.mounts[0] }
  }

  /// See `System.getdents`; the answer comes from the tree in memory.
  public func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    try call("getdents") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      return state.facts.inodes[file.inode].entries.map(\.name)
    }
  }

  /// See `System.faccessat2`; the answer comes from the tree in memory.
  public func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    try call("faccessat2") { state throws(Errno) in
      let evaluator = AccessEvaluator(facts: state.facts, credentials: state.credentials)
      let decision = evaluator.decide(.faccessat2(need, followsLink: true), path: path)
      if let errno = decision.errno { throw errno }
    }
  }

  /// See `System.querycap`; the answer comes from the tree in memory.
  public func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability {
    try call("querycap") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      guard let card = state.cards[file.inode] else { throw .ENOTTY }
      return card
    }
  }

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
