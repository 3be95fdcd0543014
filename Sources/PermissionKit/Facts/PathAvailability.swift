/// Whether a path can be examined without waiting for a server and without mounting anything.
package enum PathAvailability: Hashable, Sendable {
  /// No mount on the path can block.
  case immediate
  /// The path leads to an automount that is not mounted yet.
  case automount(PathBytes)
  /// The server of the mount at this path does not answer.
  case unresponsive(PathBytes)

  /// The time that a server or daemon has to answer, in milliseconds.
  static let limit: Int32 = 1000

}

extension PathAvailability {
  /// The reason why the path cannot be examined; nil if it can.
  var reason: Reason? {
    switch self {
    case .immediate: nil
    case .automount(let point):
      Reason(
        .automount, .proven,
        "\(point) is an automount that is not mounted yet, and checking further would mount it")
    case .unresponsive(let point):
      Reason(
        .notAnswering, .proven,
        "the server of \(point) did not answer within \(Self.limit / 1000) s")
    }
  }
}

extension System {
  /// Returns whether `path` can be examined; reads only the list of mounts if all of them are local.
  package func availability(of path: PathBytes) -> PathAvailability {
    guard (try? mountTable())?.hasBlocking == true, var reader = try? FactsReader(self) else {
      return .immediate
    }
    reader.read(path)
    return reader.facts.availability
  }

  /// Returns whether a mount on `path` may block.
  package func leadsOverServer(_ path: PathBytes) -> Bool {
    guard (try? mountTable())?.hasBlocking == true, var reader = try? FactsReader(self) else {
      return false
    }
    reader.read(path)
    return reader.facts.mounts.contains(where: \.rules.mayKeepWaiting)
  }

  /// Returns the system that examines `path` without blocking; nil if the path cannot be examined.
  package func examiner(of path: PathBytes) -> (any System)? {
    guard (try? mountTable())?.hasBlocking == true, var reader = try? FactsReader(self) else {
      return self
    }
    reader.read(path)
    let facts = reader.facts
    if facts.availability != .immediate { return nil }
    let served = facts.mounts.first(where: \.rules.mayKeepWaiting)
    return served.map { withCallProcess($0.point, within: PathAvailability.limit) } ?? self
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
    if case .unresponsive = availability(of: path) { throw .ETIMEDOUT }
  }
}

extension AccessFacts {
  /// The first obstacle on any path of the facts.
  fileprivate var availability: PathAvailability {
    ([nil] + inodes.indices.map(Optional.some)).lazy.map(availability(at:)).first {
      $0 != .immediate
    }
      ?? .immediate
  }

  /// The obstacle at an inode; `nil` is the inode at which relative paths start.
  func availability(at index: Int?) -> PathAvailability {
    guard let index else {
      return unresponsiveStart.map(PathAvailability.unresponsive) ?? .immediate
    }
    let inode = inodes[index]
    if mounts[inode.mount].isTrigger { return .automount(path(of: index)) }
    for entry in inode.entries {
      if entry.found == .unresponsive {
        // The server of the folder, or that of what is mounted on the name.
        let own = mounts[inode.mount]
        return .unresponsive(
          own.rules.mayKeepWaiting ? own.point : path(of: index).appending(entry.name))
      }
      if entry.found == .automount { return .automount(path(of: index).appending(entry.name)) }
    }
    return .immediate
  }
}
