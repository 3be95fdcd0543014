/// Whether a path can be looked at without waiting for a server and without mounting anything.
package enum Reach: Hashable, Sendable {
  /// Nothing on the way keeps a look waiting.
  case immediate
  /// The path leads to an automount that is not mounted yet.
  case automount(PathBytes)
  /// The mount at this path does not answer.
  case silent(PathBytes)

  /// The time that a server or daemon has to answer, in milliseconds.
  static let limit: Int32 = 1000

}

extension Reach {
  /// Why nothing can be told about the path; nil if nothing keeps a look from it.
  var reason: Reason? {
    switch self {
    case .immediate: nil
    case .automount(let point):
      Reason(
        .automount, .proven,
        "\(point) is an automount that is not mounted yet, and checking further would mount it")
    case .silent(let point):
      Reason(
        .notAnswering, .proven,
        "the server of \(point) did not answer within \(Self.limit / 1000) s")
    }
  }
}

extension System {
  /// Returns whether `path` can be looked at; reads nothing but the list of mounts if all of them are
  /// local.
  package func reach(_ path: PathBytes) -> Reach {
    guard (try? mountTable())?.hasBlocking == true, var reader = try? FactsReader(self) else {
      return .immediate
    }
    reader.read(path)
    return reader.facts.reach
  }

  /// Whether a server may keep waiting who works on `path`.
  package func leadsOverServer(_ path: PathBytes) -> Bool {
    guard (try? mountTable())?.hasBlocking == true, var reader = try? FactsReader(self) else {
      return false
    }
    reader.read(path)
    return reader.facts.mounts.contains(where: \.rules.mayKeepWaiting)
  }

  /// The system by which to look at `path` without a wait; nil if it cannot be read.
  package func reaching(_ path: PathBytes) -> (any System)? {
    guard (try? mountTable())?.hasBlocking == true, var reader = try? FactsReader(self) else {
      return self
    }
    reader.read(path)
    let facts = reader.facts
    if facts.reach != .immediate { return nil }
    let served = facts.mounts.first(where: \.rules.mayKeepWaiting)
    return served.map { apart($0.point, within: Reach.limit) } ?? self
  }

  /// Whether paths lead another process to the same files: it has the same mounts and root directory.
  ///
  /// - Throws: The errno of what cannot be read of the process in /proc.
  package func sharesPaths(withProcess pid: Int32) throws(Errno) -> Bool {
    let mounts = MountTable.path(of: pid)
    guard try mountTable(mounts) == mountTable() else { return false }
    return try sharesRoot(withProcess: pid)
  }

  /// Whether another process has the root directory of this one; it may have other mounts.
  ///
  /// - Throws: The errno of what cannot be read of the process in /proc.
  package func sharesRoot(withProcess pid: Int32) throws(Errno) -> Bool {
    let root = try openat(
      .currentDirectory, PathBytes("/proc/\(pid)/root/."), [.path, .directory], mode: 0)
    defer { close(root) }
    let own = try openat(.currentDirectory, "/", [.path, .directory], mode: 0)
    defer { close(own) }
    let (theirs, ours) = (try statx(root), try statx(own))
    return theirs.fileSystem == ours.fileSystem && theirs.inode == ours.inode
  }

  /// Throws ETIMEDOUT if the mount of `path` does not answer.
  func mustAnswer(_ path: PathBytes) throws(Errno) {
    if case .silent = reach(path) { throw .ETIMEDOUT }
  }
}

extension AccessFacts {
  /// What keeps a look from going on anywhere.
  fileprivate var reach: Reach {
    ([nil] + inodes.indices.map(Optional.some)).lazy.map(reach).first { $0 != .immediate }
      ?? .immediate
  }

  /// What keeps a look from going on at an inode; `nil` stands for where relative paths start.
  func reach(at index: Int?) -> Reach {
    guard let index else { return silentStart.map(Reach.silent) ?? .immediate }
    let inode = inodes[index]
    if mounts[inode.mount].isTrigger { return .automount(path(of: index)) }
    for entry in inode.entries {
      if entry.found == .silent {
        // The server of the folder, or that of what is mounted on the name.
        let own = mounts[inode.mount]
        return .silent(own.rules.mayKeepWaiting ? own.point : path(of: index).appending(entry.name))
      }
      if entry.found == .automount { return .automount(path(of: index).appending(entry.name)) }
    }
    return .immediate
  }
}
