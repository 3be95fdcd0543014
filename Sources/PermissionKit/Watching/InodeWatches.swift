/// The inodes that one inotify descriptor watches, and which of their events count.
///
/// - SeeAlso: inotify(7)
struct InodeWatches: ~Copyable {
  /// What is to be watched: every inode of these facts that was reached by name.
  struct Scope {
    let facts: AccessFacts
    /// What stands before the paths of the facts: the root of the process they were read for.
    var prefix: PathBytes = ""
    /// Directories of which every name counts, not just those that were looked up.
    var listed: Set<Int> = []
    /// What is in a file counts as well.
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

  /// The inotify descriptor, readable when there are events.
  let descriptor: Descriptor
  /// Something happens unseen: what could not be watched, and why.
  private(set) var unseen: [(PathBytes, Errno)] = []
  private let system: any System
  private var watches: [Int32: Names] = [:]

  init(_ system: any System) throws(Errno) {
    self.system = system
    descriptor = try system.inotify_init1()
  }

  deinit { system.close(descriptor) }

  /// Watches all that is in `scopes`, and nothing else any more.
  ///
  /// - Returns: Whether an inode is watched that was not before, so that it may have changed since
  ///   the facts were read.
  mutating func arm(_ scopes: [Scope]) -> Bool {
    var wanted: [Int32: Names] = [:]
    unseen = []
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
        // Gone since: its directory tells.
      } catch .ENOTDIR {
      } catch {
        let parent = facts.inodes[inode.parent]
        let parentTells = isWatched[inode.parent] && parent.mount == inode.mount
        if !parentTells || inode.hasKnownEntries { unseen.append((whole, error)) }
      }
    }
  }

  /// Takes all events that wait.
  ///
  /// - Returns: Whether one of them counts.
  mutating func drain() throws(Errno) -> Bool {
    var counts = false
    // As many as are a full queue; in a storm of events there is no end of them.
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
  /// A name in it was looked up, and found or known to be missing: names may come and go.
  fileprivate var hasKnownEntries: Bool {
    entries.contains { if case .unreadable = $0.found { false } else { true } }
  }
}
