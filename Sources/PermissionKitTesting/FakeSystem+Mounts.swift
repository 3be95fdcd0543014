package import PermissionKit
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
        let list = Self.inode(of: "/proc/self/mountinfo", state)
      else { return }
      let id = state.facts.mounts.count + 1
      let line = Array(
        "\(id) 1 0:\(id) / \(point) \(options) - \(fileSystem) none \(superblock)\n".utf8)
      state.contents[list, default: []] += line
      guard var mount = MountTable(mountinfo: line).mounts.first else { return }
      // Here this system is the server.
      mount.fileSystem = fileSystem.hasPrefix("fuse") ? "fuse" : "tmpfs"
      mount.superblockOptions += ",default_permissions"
      state.facts.inodes[root].entries = []
      state.facts.inodes[root].mount = state.facts.mounts.count
      state.facts.mounts.append(mount)
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
