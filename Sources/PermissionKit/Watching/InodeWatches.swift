/// The inodes that one inotify descriptor watches, and the accessors that the events of each
/// concern.
///
/// - SeeAlso: inotify(7)
struct InodeWatches: ~Copyable {
  /// The inodes to watch: every inode of these facts that was reached by name.
  struct Scope {
    let facts: AccessFacts
    /// The root of the process that the facts were read for, which precedes all their paths.
    var prefix: PathBytes = ""
    /// The directories in which an event about any name matters, and not only about names that were
    /// looked up.
    var listed: Set<Int> = []
    /// Whether a change of a file's contents matters.
    var readsFiles = false
  }

  /// The accessors, by index, that one watch concerns.
  private struct Concern {
    /// The accessors that events about the inode itself concern.
    var inode: Set<Int> = []
    /// The accessors that events about any name in the directory concern.
    var listed: Set<Int> = []
    /// The accessors that events about one name concern.
    var names: [PathBytes: Set<Int>] = [:]

    func accessors(_ name: PathBytes) -> Set<Int> {
      name.isEmpty ? inode : listed.union(names[name] ?? [])
    }
  }

  /// The inotify descriptor, which is readable if there are events.
  let descriptor: Descriptor
  /// The paths that could not be watched, each with the errno.
  private(set) var unwatched: [(path: PathBytes, errno: Errno)] = []
  /// The accessors that a path which could not be watched concerns.
  private(set) var unwatching: Set<Int> = []
  private let system: any System
  private var watches: [Int32: Concern] = [:]

  init(_ system: any System) throws(Errno) {
    self.system = system
    descriptor = try system.inotify_init1()
  }

  deinit { system.close(descriptor) }

  /// Watches the inodes of `scopes` and removes every other watch.
  ///
  /// - Parameter scopes: The inodes to watch, for each accessor.
  /// - Returns: The accessors of which an inode is newly watched, so that it may have changed after the
  ///   facts were read.
  mutating func arm(_ scopes: [[Scope]]) -> Set<Int> {
    var wanted: [Int32: Concern] = [:]
    (unwatched, unwatching) = ([], [])
    for (accessor, scopes) in scopes.enumerated() {
      for scope in scopes { arm(scope, of: accessor, &wanted) }
    }
    var new: Set<Int> = []
    for (watch, concern) in wanted where watches[watch] == nil { new.formUnion(concern.inode) }
    for watch in watches.keys where wanted[watch] == nil {
      system.inotify_rm_watch(descriptor, watch)
    }
    watches = wanted
    return new
  }

  private mutating func arm(
    _ scope: Scope, of accessor: Int, _ wanted: inout [Int32: Concern]
  ) {
    let facts = scope.facts
    var isWatched = [Bool](repeating: false, count: facts.inodes.count)
    for (index, path) in facts.reached {
      let inode = facts.inodes[index]
      var mask: WatchMask = inode.kind == .directory ? .directory : .node
      if scope.readsFiles, inode.kind == .regular { mask.insert(.closeWrite) }
      let whole = scope.prefix.isEmpty ? path : PathBytes(scope.prefix.bytes + path.bytes)
      do throws(Errno) {
        // A server may keep this call waiting, and it tells of no change that others make.
        if facts.mounts[inode.mount].rules.mayKeepWaiting { throw .EOPNOTSUPP }
        let watch = try system.inotify_add_watch(descriptor, whole, mask)
        isWatched[index] = true
        var concern = wanted[watch] ?? Concern()
        concern.inode.insert(accessor)
        if scope.listed.contains(index) {
          concern.listed.insert(accessor)
        } else {
          for entry in inode.entries { concern.names[entry.name, default: []].insert(accessor) }
        }
        wanted[watch] = concern
      } catch .ENOENT {
        // The inode is gone, which the watch of its directory reports.
      } catch .ENOTDIR {
      } catch {
        let parent = facts.inodes[inode.parent]
        let parentTells = isWatched[inode.parent] && parent.mount == inode.mount
        if !parentTells || inode.hasKnownEntries {
          unwatched.append((whole, error))
          unwatching.insert(accessor)
        }
      }
    }
  }

  /// Reads all waiting events.
  ///
  /// - Returns: The accessors for which one of the events counts; nil for all.
  mutating func drain() throws(Errno) -> Set<Int>? {
    var counts: Set<Int>? = []
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
          counts = nil
        } else if event.mask.contains(.ignored) {
          watches[event.watch] = nil
        } else if let concern = watches[event.watch] {
          counts?.formUnion(concern.accessors(event.name))
        }
      }
    }
    return counts
  }
}

@available(*, unavailable)
extension InodeWatches: Sendable {}

extension InodeFacts {
  /// Whether names were looked up in this directory with a known result, so that an event about a
  /// name can matter.
  fileprivate var hasKnownEntries: Bool {
    entries.contains { if case .unreadable = $0.found { false } else { true } }
  }
}
