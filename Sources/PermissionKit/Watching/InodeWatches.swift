/// The inodes that one inotify descriptor watches, and the names whose events count.
///
/// - SeeAlso: inotify(7)
struct InodeWatches: ~Copyable {
  /// The inodes to watch: every inode of these facts that was reached by name.
  struct Scope {
    let facts: AccessFacts
    /// The prefix of all paths of the facts: the root of the process that they were read for.
    var prefix: PathBytes = ""
    /// The directories in which every name counts, and not only the names that were looked up.
    var listed: Set<Int> = []
    /// Whether a change of a file's contents counts.
    var readsFiles = false
  }

  private enum Names {
    case all
    case some(Set<PathBytes>)

    func contains(_ name: PathBytes) -> Bool {
      if case .some(let names) = self { names.contains(name) } else { true }
    }

    mutating func formUnion(_ other: Names) {
      if case .some(let mine) = self, case .some(let theirs) = other {
        self = .some(mine.union(theirs))
      } else {
        self = .all
      }
    }
  }

  /// The inotify descriptor, which is readable if there are events.
  let descriptor: Descriptor
  /// The paths that could not be watched, each with the errno.
  private(set) var unwatched: [(PathBytes, Errno)] = []
  private let system: any System
  private var watches: [Int32: Names] = [:]

  init(_ system: any System) throws(Errno) {
    self.system = system
    descriptor = try system.inotify_init1()
  }

  deinit { system.close(descriptor) }

  /// Watches the inodes of `scopes` and removes every other watch.
  ///
  /// - Parameter scopes: The inodes to watch.
  /// - Returns: Whether an inode is newly watched, so that it may have changed after the facts were
  ///   read.
  mutating func arm(_ scopes: [Scope]) -> Bool {
    var wanted: [Int32: Names] = [:]
    unwatched = []
    for scope in scopes { arm(scope, &wanted) }
    let isNew = wanted.keys.contains { watches[$0] == nil }
    for watch in watches.keys where wanted[watch] == nil {
      system.inotify_rm_watch(descriptor, watch)
    }
    watches = wanted
    return isNew
  }

  private mutating func arm(_ scope: Scope, _ wanted: inout [Int32: Names]) {
    let facts = scope.facts
    var isWatched = [Bool](repeating: false, count: facts.inodes.count)
    for (index, path) in facts.reached {
      let inode = facts.inodes[index]
      var mask: WatchMask = inode.kind == .directory ? .directory : .node
      if scope.readsFiles, inode.kind == .regular { mask.insert(.closeWrite) }
      let names: Names =
        scope.listed.contains(index) ? .all : .some(Set(inode.entries.map(\.name)))
      let whole = scope.prefix.isEmpty ? path : PathBytes(scope.prefix.bytes + path.bytes)
      do throws(Errno) {
        let watch = try system.inotify_add_watch(descriptor, whole, mask)
        isWatched[index] = true
        if wanted[watch]?.formUnion(names) == nil { wanted[watch] = names }
      } catch .ENOENT {
        // The inode is gone, which the watch of its directory reports.
      } catch .ENOTDIR {
      } catch {
        let parent = facts.inodes[inode.parent]
        let parentTells = isWatched[inode.parent] && parent.mount == inode.mount
        if !parentTells || inode.hasKnownEntries { unwatched.append((whole, error)) }
      }
    }
  }

  /// Reads all waiting events.
  ///
  /// - Returns: Whether one of the events counts.
  mutating func drain() throws(Errno) -> Bool {
    var counts = false
    // At most the size of a full queue, because a storm of events may not end.
    for _ in 0..<64 {
      let bytes: [UInt8]
      do throws(Errno) {
        bytes = try system.read(descriptor, 1 << 16)
      } catch .EAGAIN {
        break
      }
      if bytes.isEmpty { break }
      WatchEvent.each(in: bytes) { event in
        if event.mask.contains(.overflow) {
          counts = true
        } else if event.mask.contains(.ignored) {
          watches[event.watch] = nil
        } else if let names = watches[event.watch],
          event.name.isEmpty || names.contains(event.name)
        {
          counts = true
        }
      }
    }
    return counts
  }
}

@available(*, unavailable)
extension InodeWatches: Sendable {}

extension InodeFacts {
  /// Whether names were looked up in this directory with a known result, so that names can change.
  fileprivate var hasKnownEntries: Bool {
    entries.contains { if case .unreadable = $0.found { false } else { true } }
  }
}
