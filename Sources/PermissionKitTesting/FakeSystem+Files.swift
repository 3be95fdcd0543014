@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

// The calls about files.
extension FakeSystem {
  /// See `System.openat`; answers from the tree in memory.
  @_spi(SystemCalls) public func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    if flags.contains(.readWrite) || flags.contains(.path) {
      let change = state.withLock { state -> (@Sendable (FakeSystem) -> Void)? in
        guard let next = state.changes[path]?.first else { return nil }
        state.changes[path]?.removeFirst()
        return next
      }
      change?(self)
    }
    return try open("openat", directory, path, flags, mode: mode)
  }

  /// Opens a file by the call of this name.
  func open(
    _ name: String, _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    try call(name) { state throws(Errno) in
      if path.bytes.contains(0) { throw .EINVAL }
      var facts = state.facts
      if directory != .currentDirectory {
        guard let start = state.files[directory.rawValue]?.inode else { throw .EBADF }
        facts.start = start
      }
      // The link of a descriptor in /proc.
      let prefix = "/proc/self/fd/"
      if path.hasPrefix(prefix) {
        let number = path.bytes.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "/") }
        guard let own = Int32(String(decoding: number, as: UTF8.self)),
          let file = state.files[own]
        else { throw .ENOENT }
        if !flags.contains(.path) {
          if let errno = state.forcedOn[name]?[file.inode] { throw errno }
          // Who has the descriptor has gone the way to the inode.
          let evaluator = AccessEvaluator(facts: state.facts, credentials: state.credentials)
          let decision = evaluator.decide(
            .open(flags.subtracting(.closeOnExec)), path: state.facts.path(of: file.inode))
          if decision.step == .target, let errno = decision.errno { throw errno }
        }
        return Self.open(file.inode, flags, &state)
      }
      let evaluator = AccessEvaluator(facts: facts, credentials: state.credentials)
      let decision = evaluator.decide(.open(flags.subtracting(.closeOnExec)), path: path)
      if let errno = decision.errno { throw errno }
      guard decision.isGranted, let inode = decision.inode else { throw .EIO }
      if !flags.contains(.path), let errno = state.forcedOn[name]?[inode] { throw errno }
      guard decision.rule == .created else { return Self.open(inode, flags, &state) }
      let created = Self.insert(
        InodeFacts(
          kind: .regular, mode: mode, uid: state.credentials.user.fileSystem,
          gid: state.credentials.group.fileSystem), path.lastComponent, inode, &state.facts)
      return Self.open(created, flags, &state)
    }
  }

  static func open(_ inode: Int, _ flags: OpenFlags, _ state: inout State) -> Descriptor {
    if flags.contains(.truncate) { state.contents[inode] = [] }
    let number = state.nextDescriptor
    state.nextDescriptor += 1
    state.files[number] = OpenFile(inode: inode, appends: flags.contains(.append))
    return Descriptor(rawValue: number)
  }

  /// See `System.close`.
  @_spi(SystemCalls) public func close(_ descriptor: Descriptor) {
    state.withLock { $0.files[descriptor.rawValue] = nil }
    watching.close(descriptor)
  }

  /// See `System.read`; answers from the tree in memory.
  @_spi(SystemCalls) public func read(
    _ descriptor: Descriptor, _ count: Int
  ) throws(Errno) -> [UInt8] {
    if let events = try watching.read(descriptor, count) { return events }
    return try call("read") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let part = Array((state.contents[file.inode] ?? []).dropFirst(file.offset).prefix(count))
      state.files[descriptor.rawValue]?.offset += part.count
      return part
    }
  }

  /// See `System.write`; changes the tree in memory.
  @_spi(SystemCalls) public func write(
    _ descriptor: Descriptor, _ bytes: [UInt8]
  ) throws(Errno) -> Int {
    if watching.write(descriptor) { return bytes.count }
    return try call("write") { state throws(Errno) in
      if descriptor.rawValue == 2 {
        state.standardError += bytes
        return bytes.count
      }
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      var contents = state.contents[file.inode] ?? []
      let offset = file.appends ? contents.count : min(file.offset, contents.count)
      contents.replaceSubrange(offset..<min(offset + bytes.count, contents.count), with: bytes)
      state.contents[file.inode] = contents
      state.files[descriptor.rawValue]?.offset = offset + bytes.count
      return bytes.count
    }
  }

  /// See `System.mkdirat`; changes the tree in memory.
  @_spi(SystemCalls) public func mkdirat(
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

  /// See `System.statx`; answers from the tree in memory.
  @_spi(SystemCalls) public func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    try call("statx") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      if let errno = state.forcedOn["statx"]?[file.inode] { throw errno }
      let inode = state.facts.inodes[file.inode]
      let types: [FileKind: UInt32] = [
        .directory: 0o040000, .regular: 0o100000, .symbolicLink: 0o120000,
        .characterDevice: 0o020000, .blockDevice: 0o060000, .fifo: 0o010000, .socket: 0o140000,
      ]
      var status = StatusFields(
        mode: (types[inode.kind] ?? 0) | UInt32(inode.mode), uid: inode.uid, gid: inode.gid,
        device: inode.device ?? .init(major: 0, minor: 0),
        fileSystem: state.superblocks[inode.mount]?.device ?? .init(major: 0, minor: 1),
        inode: UInt64(file.inode),
        mount: state.facts.mounts[inode.mount].id,
        isImmutable: inode.isImmutable, isAppendOnly: inode.isAppendOnly,
        birth: Int64(file.inode) + Int64(state.generations[file.inode] ?? 0) << 32)
      status.isEncrypted = inode.isLocked
      return status
    }
  }

  /// See `System.answers`; every mount answers that is not silenced.
  @_spi(SystemCalls) public func answers(_ path: PathBytes, within milliseconds: Int32) -> Bool {
    state.withLock { !$0.unresponsive.contains(path) }
  }

  /// See `System.isSnapshot`; no file system in memory is btrfs.
  @_spi(SystemCalls) public func isSnapshot(_ directory: Descriptor) throws(Errno) -> Bool {
    try call("isSnapshot") { _ throws(Errno) in throw .ENOTTY }
  }

  /// See `System.encryptionKeyIsPresent`.
  @_spi(SystemCalls) public func encryptionKeyIsPresent(
    _ directory: Descriptor
  ) throws(Errno) -> Bool {
    try call("encryptionKeyIsPresent") { state throws(Errno) in
      guard let file = state.files[directory.rawValue] else { throw .EBADF }
      return !state.facts.inodes[file.inode].isLocked
    }
  }

  /// See `System.readlinkat`; answers from the tree in memory.
  @_spi(SystemCalls) public func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    try call("readlinkat") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue],
        let target = state.facts.inodes[file.inode].target
      else { throw .EINVAL }
      return target
    }
  }

  /// See `System.getxattr`; answers from the tree in memory.
  @_spi(SystemCalls) public func getxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8] {
    try call("getxattr") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let inode = state.facts.inodes[file.inode]
      if attribute == .context || attribute == .branch { throw .ENODATA }
      guard let acl = attribute == .access ? inode.acl : inode.defaultACL else { throw .ENODATA }
      return acl.xattr
    }
  }

  /// See `System.statmount`; no mount is idmapped.
  @_spi(SystemCalls) public func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    try call("statmount") { _ throws(Errno) in nil }
  }

  /// See `System.fstatfs`; a tmpfs, or the type that was mounted.
  @_spi(SystemCalls) public func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields
  {
    try call("fstatfs") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let index = state.facts.inodes[file.inode].mount
      let mount = state.facts.mounts[index]
      var fields = state.superblocks[index]?.fields ?? FileSystemFields(flags: 0, type: 0x0102_1994)
      if mount.isReadOnly { fields.flags |= 1 }
      if mount.flags.contains(.noDevices) { fields.flags |= 4 }
      if mount.flags.contains(.noExecute) { fields.flags |= 8 }
      if mount.flags.contains(.noSymbolicLinks) { fields.flags |= 0x2000 }
      return fields
    }
  }

  /// See `System.checkRoom`; there is room unless a test forces an error.
  @_spi(SystemCalls) public func checkRoom(
    in directory: Descriptor, uid: UInt32, gid: UInt32
  ) throws(Errno) {
    try call("checkRoom") { _ in }
  }

  /// See `System.getdents`; answers from the tree in memory.
  @_spi(SystemCalls) public func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    try call("getdents") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      return state.facts.inodes[file.inode].entries.map(\.name)
    }
  }

  /// See `System.faccessat2`; answers from the tree in memory.
  @_spi(SystemCalls) public func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    try call("faccessat2") { state throws(Errno) in
      let evaluator = AccessEvaluator(facts: state.facts, credentials: state.credentials)
      let decision = evaluator.decide(.faccessat2(need, followsLink: true), path: path)
      if let errno = decision.errno { throw errno }
      if let inode = decision.inode, let errno = state.forcedOn["faccessat2"]?[inode] {
        throw errno
      }
    }
  }

  /// See `System.listener`; a program listens on every socket that was not added without one.
  @_spi(SystemCalls) public func listener(
    on socket: Descriptor, connects: Bool
  ) throws(Errno) -> Bool {
    try call("listener") { state throws(Errno) in
      guard let file = state.files[socket.rawValue] else { throw .EBADF }
      if !state.stale.contains(file.inode) { return true }
      if !connects { return false }
      let evaluator = AccessEvaluator(facts: state.facts, credentials: state.credentials)
      throw evaluator.permits(.write, of: file.inode) ? .ECONNREFUSED : .EACCES
    }
  }

  /// See `System.querycap`; returns the value of `setCard`.
  @_spi(SystemCalls) public func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability
  {
    try call("querycap") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      guard let card = state.cards[file.inode] else { throw .ENOTTY }
      return card
    }
  }
}
