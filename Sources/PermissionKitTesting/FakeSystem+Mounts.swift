@_spi(SystemCalls) package import PermissionKit
internal import Synchronization

// What the kernel has above mode and ACL: mounts, and refusals of one inode.
extension FakeSystem {
  /// Mounts a file system on a directory, which is made if it is not there.
  ///
  /// What was in the directory is hidden; what is added below it lies on the mount. A server lets
  /// everybody in by mode and ACL, and so does a FUSE daemon: `force` makes them refuse.
  ///
  /// - Parameters:
  ///   - point: The directory: absolute, without `.`, `..`, links and blanks.
  ///   - fileSystem: The type, as mountinfo has it: `ext4`, `fuse.sshfs`.
  ///   - options: The options of the mount, as mountinfo has them: `ro,nodev`.
  ///   - superblock: The options of the superblock.
  package func mount(
    _ point: PathBytes, _ fileSystem: String, options: String = "rw", superblock: String = "rw"
  ) {
    add(point, FakeNode(kind: .directory))
    state.withLock { state in
      guard let root = Self.inode(of: point, state),
        let list = Self.inode(of: "/proc/thread-self/mountinfo", state)
      else { return }
      let id = state.facts.mounts.count + 1
      let line = Array(
        "\(id) 1 0:\(id) / \(point) \(options) - \(fileSystem) none \(superblock)\n".utf8)
      state.contents[list, default: []] += line
      guard var mount = MountTable(mountinfo: line).mounts.first else { return }
      // Here this system is the server.
      mount.fileSystem = fileSystem.hasPrefix("fuse") ? "fuseblk" : "tmpfs"
      mount.superblockOptions += ",default_permissions"
      state.superblocks[state.facts.mounts.count] = FakeSuperblock(
        fields: FileSystemFields(
          flags: 0,
          type: fileSystem == "tmpfs"
            ? 0x0102_1994 : fileSystem.hasPrefix("fuse") ? 0x6573_5546 : 0xef53,
          id: UInt64(id)),
        device: .init(major: 0, minor: UInt32(id)), line: line)
      state.facts.inodes[root].entries = []
      state.facts.inodes[root].mount = state.facts.mounts.count
      state.facts.mounts.append(mount)
    }
  }

  /// Takes away what is mounted on a directory; `remount` brings it back.
  package func unmount(_ point: PathBytes) {
    state.withLock { state in
      guard let root = Self.inode(of: point, state),
        let list = Self.inode(of: "/proc/thread-self/mountinfo", state)
      else { return }
      let inode = state.facts.inodes[root]
      guard let line = state.superblocks[inode.mount]?.line else { return }
      state.contents[list]?.removeRange(of: line)
      state.superblocks[inode.mount]?.entries = inode.entries
      state.superblocks[inode.mount]?.point = point
      state.facts.inodes[root].entries = []
      state.facts.inodes[root].mount = state.facts.inodes[inode.parent].mount
    }
  }

  /// Mounts again what `unmount` took away, with another device number.
  package func remount(_ point: PathBytes) {
    state.withLock { state in
      guard let root = Self.inode(of: point, state),
        let list = Self.inode(of: "/proc/thread-self/mountinfo", state),
        let (mount, superblock) = state.superblocks.first(where: { $0.value.point == point })
      else { return }
      state.contents[list, default: []] += superblock.line
      state.facts.inodes[root].entries = superblock.entries
      state.facts.inodes[root].mount = mount
      state.superblocks[mount]?.point = nil
      state.superblocks[mount]?.device.minor += 1000
    }
  }

  /// Lets the server of a mount answer no longer.
  package func silence(_ point: PathBytes) {
    state.withLock { _ = $0.silent.insert(point) }
  }

  /// Deletes what is at a path, and gives its inode number to a new node there.
  package func replace(_ path: PathBytes, _ node: FakeNode) {
    state.withLock { state in
      guard let inode = Self.inode(of: path, state) else { return }
      state.generations[inode, default: 0] += 1
      state.facts.inodes[inode].entries = []
    }
    add(path, node)
  }

  /// Changes the owner and the group of what is at a path, as root.
  package func chown(_ path: PathBytes, _ uid: UInt32, _ gid: UInt32) {
    state.withLock { state in
      let root = Credentials(uid: 0, gid: 0, groups: [])
      let decision = AccessEvaluator(facts: state.facts, credentials: root)
        .decide(.open([.path, .noFollow]), path: path)
      guard let inode = decision.inode else { return }
      (state.facts.inodes[inode].uid, state.facts.inodes[inode].gid) = (uid, gid)
    }
  }

  /// Makes the calls of one name fail about one inode.
  ///
  /// - Parameters:
  ///   - call: `openat` and `openat2`, which fail without O_PATH alone, `faccessat2` or `statx`.
  ///   - errno: The errno to fail with; nil lets the call work again.
  ///   - path: What is there already.
  package func force(_ call: String, _ errno: Errno?, on path: PathBytes) {
    state.withLock { state in
      guard let inode = Self.inode(of: path, state) else { return }
      state.forcedOn[call, default: [:]][inode] = errno
    }
  }

  private static func inode(of path: PathBytes, _ state: State) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: state.facts, credentials: anybody)
      .decide(.open(.path), path: path)
    return decision.isGranted ? decision.inode : nil
  }
}

/// What is mounted, and what it holds while it is not.
struct FakeSuperblock {
  var fields: FileSystemFields
  var device: DeviceNumber
  /// The line of mountinfo.
  var line: [UInt8]
  /// Where it was mounted; nil while it is.
  var point: PathBytes?
  var entries: [InodeFacts.Entry] = []
}

extension [UInt8] {
  /// Removes a part that occurs once.
  fileprivate mutating func removeRange(of part: [UInt8]) {
    guard let range = firstRange(of: part) else { return }
    removeSubrange(range)
  }
}
