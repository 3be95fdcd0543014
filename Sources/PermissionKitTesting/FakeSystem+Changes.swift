@_spi(SystemCalls) public import PermissionKit

// MARK: - Changes and commands

extension FakeSystem {
  /// See `System.setxattr`; a minimal ACL becomes the mode.
  @_spi(SystemCalls) public func setxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) {
    try call("setxattr") { state throws(Errno) in
      guard let acl = AccessControlList(xattr: value) else { throw .EINVAL }
      try Self.change(descriptor, &state) { inode in
        guard attribute == .access else {
          inode.defaultACL = acl
          return
        }
        let digits = acl.entries.reduce(into: UInt16(0)) { mode, entry in
          let bits = UInt16(entry.permissions.rawValue)
          switch entry.tag {
          case .owner: mode |= bits << 6
          case .owningGroup: if acl.mask == nil { mode |= bits << 3 }
          case .mask: mode |= bits << 3
          case .other: mode |= bits
          case .user, .group: break
          }
        }
        inode.mode = inode.mode & ~0o777 | digits
        inode.acl = acl.entries.count > 3 ? acl : nil
      }
    }
  }

  /// See `System.removexattr`; changes the tree in memory.
  @_spi(SystemCalls) public func removexattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) {
    try call("removexattr") { state throws(Errno) in
      try Self.change(descriptor, &state) { inode in
        if attribute == .access { inode.acl = nil } else { inode.defaultACL = nil }
      }
    }
  }

  /// See `System.chmod`; also changes the ACL entries of owner, mask and others.
  @_spi(SystemCalls) public func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) {
    try call("chmod") { state throws(Errno) in
      try Self.change(descriptor, &state) { inode in
        inode.mode = mode & 0o7777
        guard var acl = inode.acl else { return }
        for index in acl.entries.indices {
          switch acl.entries[index].tag {
          case .owner: acl.entries[index].permissions = Permissions(rawValue: UInt8(mode >> 6 & 7))
          case .mask: acl.entries[index].permissions = Permissions(rawValue: UInt8(mode >> 3 & 7))
          case .other: acl.entries[index].permissions = Permissions(rawValue: UInt8(mode & 7))
          case .user, .group, .owningGroup: break
          }
        }
        inode.acl = acl
      }
    }
  }

  /// See `System.chgrp`; only CAP_CHOWN may give a file to a group that is not the caller's.
  @_spi(SystemCalls) public func chgrp(_ descriptor: Descriptor, _ gid: UInt32) throws(Errno) {
    try call("chown") { state throws(Errno) in
      guard state.credentials.isMember(of: gid) || state.credentials.effective.contains(.chown)
      else { throw .EPERM }
      try Self.change(descriptor, &state) { $0.gid = gid }
    }
  }

  /// Changes an inode; only the owner and CAP_FOWNER may do so.
  private static func change(
    _ descriptor: Descriptor, _ state: inout State, _ body: (inout InodeFacts) -> Void
  ) throws(Errno) {
    guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
    let owner = state.facts.inodes[file.inode].uid
    guard
      owner == state.credentials.user.fileSystem || state.credentials.effective.contains(.fowner)
    else { throw .EPERM }
    body(&state.facts.inodes[file.inode])
  }

  /// See `System.fsync`; does nothing, because there is no disk.
  @_spi(SystemCalls) public func fsync(_ descriptor: Descriptor) throws(Errno) {
    try call("fsync") { _ throws(Errno) in }
  }

  /// See `System.flock`; does nothing, because there is no other process.
  @_spi(SystemCalls) public func flock(_ descriptor: Descriptor) throws(Errno) {
    try call("flock") { _ throws(Errno) in }
  }

  /// See `System.name_to_handle_at`; every inode has a handle.
  @_spi(SystemCalls) public func name_to_handle_at(
    _ descriptor: Descriptor
  ) throws(Errno) -> [UInt8] {
    try call("name_to_handle_at") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      let number = file.inode + (state.generations[file.inode] ?? 0) << 32
      return (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
  }

  /// See `System.open_by_handle_at`; an inode without a name is deleted.
  @_spi(SystemCalls) public func open_by_handle_at(
    _ mount: Descriptor, _ handle: [UInt8]
  ) throws(Errno) -> Descriptor {
    try call("open_by_handle_at") { state throws(Errno) in
      guard state.credentials.effective.contains(.dacReadSearch) else { throw .EPERM }
      let number = handle.reversed().reduce(0) { $0 << 8 | Int($1) }
      let inode = number & 0xffff_ffff
      let isNamed = state.facts.inodes.contains { folder in
        folder.entries.contains { $0.found == .inode(inode) }
      }
      guard isNamed, number >> 32 == state.generations[inode] ?? 0 else {
        throw Errno(rawValue: 116)
      }  // ESTALE
      return Self.open(inode, .path, &state)
    }
  }

  /// See `System.rename`; changes the tree in memory.
  @_spi(SystemCalls) public func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) {
    try call("rename") { state throws(Errno) in
      let anybody = AccessEvaluator(
        facts: state.facts, credentials: Credentials(uid: 0, gid: 0, groups: []))
      guard let inode = anybody.decide(.open([.path, .noFollow]), path: old).inode,
        let folder = anybody.decide(.open(.path), path: new.parent).inode
      else { throw .ENOENT }
      let from = state.facts.inodes[inode].parent
      state.facts.inodes[from].entries.removeAll { $0.found == .inode(inode) }
      state.facts.inodes[folder].entries.removeAll { $0.name == new.lastComponent }
      state.facts.inodes[folder].entries.append(
        .init(name: new.lastComponent, found: .inode(inode)))
      state.facts.inodes[inode].parent = folder
    }
  }

  /// See `System.unlink`; changes the tree in memory.
  @_spi(SystemCalls) public func unlink(_ path: PathBytes) throws(Errno) {
    try call("unlink") { state throws(Errno) in
      let anybody = AccessEvaluator(
        facts: state.facts, credentials: Credentials(uid: 0, gid: 0, groups: []))
      let decision = anybody.decide(.open([.path, .noFollow]), path: path)
      guard decision.isGranted, let inode = decision.inode else { throw .ENOENT }
      let folder = state.facts.inodes[inode].parent
      state.facts.inodes[folder].entries.removeAll { $0.found == .inode(inode) }
    }
  }

  /// See `System.spawn`; fails with ENOENT, because there are no programs.
  @_spi(SystemCalls) public func spawn(
    _ arguments: [PathBytes], output: Descriptor
  ) throws(Errno) -> Int32 {
    try call("spawn") { _ throws(Errno) in throw .ENOENT }
  }
}

// MARK: - Diagnosis

extension FakeSystem {
  /// See `System.openat2`; the answer comes from the tree in memory.
  @_spi(SystemCalls) public func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor {
    try open("openat2", directory, path, flags, mode: 0)
  }

  /// See `System.lsm_list_modules`; returns no modules.
  @_spi(SystemCalls) public func lsm_list_modules() throws(Errno) -> [UInt64] {
    try call("lsm_list_modules") { _ throws(Errno) in [] }
  }

  /// See `System.reqbufs`; no program captures, unless `occupy` was called.
  @_spi(SystemCalls) public func reqbufs(none descriptor: Descriptor) throws(Errno) {
    try call("reqbufs") { state throws(Errno) in
      guard let file = state.files[descriptor.rawValue] else { throw .EBADF }
      if let errno = state.forcedOn["reqbufs"]?[file.inode] { throw errno }
    }
  }
}
