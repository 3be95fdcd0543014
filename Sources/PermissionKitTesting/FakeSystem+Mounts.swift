@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

// What the kernel has above mode and ACL: mounts, and refusals of one inode.
extension FakeSystem {
  /// Mounts a file system on a directory, which is created if it is missing.
  ///
  /// The mount hides the old content of the directory; files that are added below it later are on
  /// the mount. A server grants by mode and ACL, and so does a FUSE daemon; use `force` to make
  /// them refuse.
  ///
  /// - Parameters:
  ///   - point: The directory: absolute, without `.`, `..`, links and blanks.
  ///   - fileSystem: The type, as mountinfo has it: `ext4`, `fuse.sshfs`.
  ///   - options: The options of the mount, as mountinfo has them: `ro,nodev`.
  ///   - superblock: The options of the superblock.
  public func mount(
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
          type: ["tmpfs", "devtmpfs"].contains(fileSystem)
            ? 0x0102_1994 : fileSystem.hasPrefix("fuse") ? 0x6573_5546 : 0xef53,
          id: UInt64(id)),
        device: .init(major: 0, minor: UInt32(id)), line: line)
      state.facts.inodes[root].entries = []
      state.facts.inodes[root].mount = state.facts.mounts.count
      state.facts.mounts.append(mount)
    }
  }

  /// Unmounts what is mounted on a directory; `remount` mounts it again.
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

  /// Mounts again what `unmount` unmounted, with another device number.
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

  /// Makes the server of a mount unresponsive.
  package func makeUnresponsive(_ point: PathBytes) {
    state.withLock { _ = $0.unresponsive.insert(point) }
  }

  /// Deletes the file at a path, and gives its inode number to a new node there.
  package func replace(_ path: PathBytes, _ node: FakeNode) {
    state.withLock { state in
      guard let inode = Self.inode(of: path, state) else { return }
      state.generations[inode, default: 0] += 1
      state.facts.inodes[inode].entries = []
    }
    add(path, node)
  }

  /// Changes the owner and the group of the file at a path, as root.
  public func chown(_ path: PathBytes, uid: UInt32, gid: UInt32) {
    change(path) { ($0.uid, $0.gid) = (uid, gid) }
  }

  /// Changes the permission bits of the file at a path, 07777, as root.
  public func chmod(_ path: PathBytes, _ mode: UInt16) {
    change(path) { $0.mode = mode & 0o7777 }
  }

  /// Sets the access ACL of the file at a path, as root; its mask replaces the group bits of the
  /// mode.
  public func setACL(_ path: PathBytes, _ acl: AccessControlList?) {
    change(path) { inode in
      inode.acl = acl
      if let mask = acl?.mask { inode.mode = inode.mode & ~0o070 | UInt16(mask.rawValue) << 3 }
    }
  }

  private func change(_ path: PathBytes, _ body: (inout InodeFacts) -> Void) {
    state.withLock { state in
      let root = Credentials(uid: 0, gid: 0, groups: [])
      let decision = AccessEvaluator(facts: state.facts, credentials: root)
        .decide(.open([.path, .noFollow]), path: path)
      if let inode = decision.inode { body(&state.facts.inodes[inode]) }
    }
  }

  /// The layer that refuses an open although mode, ACL and mount grant it.
  public enum Refusal: Sendable {
    /// The device cgroup of a container or service without the device: EPERM.
    case deviceCgroup
    /// A rule set of Landlock, landlock(7): EACCES.
    case landlock
    /// A filter of system calls, seccomp(2), that refuses openat(2): EPERM.
    case seccomp
  }

  /// Makes a layer refuse the file at a path.
  ///
  /// - Parameters:
  ///   - path: What is there already.
  ///   - refusal: What refuses; nil for nothing any more.
  public func refuse(_ path: PathBytes, by refusal: Refusal?) {
    let errno: Errno? = refusal == nil ? nil : refusal == .landlock ? .EACCES : .EPERM
    force("openat", errno, on: path)
    force("openat2", refusal == .seccomp ? nil : errno, on: path)
    force("faccessat2", refusal == .deviceCgroup ? errno : nil, on: path)
    setSeccomp(refusal == .seccomp ? 2 : 0)
  }

  /// Makes the calls of one name fail for one inode.
  ///
  /// - Parameters:
  ///   - call: `openat` and `openat2`, which fail without O_PATH alone, `faccessat2` or `statx`.
  ///   - errno: The errno to fail with; nil lets the call work again.
  ///   - path: What is there already.
  public func force(_ call: String, _ errno: Errno?, on path: PathBytes) {
    state.withLock { state in
      guard let inode = Self.inode(of: path, state) else { return }
      state.forcedOn[call, default: [:]][inode] = errno
    }
  }

  static func inode(of path: PathBytes, _ state: State) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: state.facts, credentials: anybody)
      .decide(.open(.path), path: path)
    return decision.isGranted ? decision.inode : nil
  }
}

/// A mount, and its content while it is not mounted.
struct FakeSuperblock {
  var fields: FileSystemFields
  var device: DeviceNumber
  /// The line of mountinfo.
  var line: [UInt8]
  /// The mount point; nil while it is mounted.
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
