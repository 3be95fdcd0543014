/// Compares the facts before and after an event, to distinguish changes of mode, owner and ACL.
///
/// inotify(7) reports these changes by the same event.
struct CauseFinder {
  /// The inodes at one time, by path, from several sets of facts.
  struct Snapshot {
    fileprivate struct Place: Hashable {
      var inode: InodeFacts
      var mount: MountFacts
    }

    private let facts: [AccessFacts]
    fileprivate var places: [PathBytes: Place] = [:]
    fileprivate var missing: Set<PathBytes> = []

    /// Collects the inodes of several sets of facts; if they differ, the first one is used.
    init(_ facts: [AccessFacts]) {
      self.facts = facts
      for facts in facts {
        for (index, path) in facts.reached {
          var inode = facts.inodes[index]
          for entry in inode.entries where entry.found == .missing {
            missing.insert(path.appending(entry.name))
          }
          // Keeps only values that decide; indices have no meaning in other facts.
          inode.entries = []
          inode.entriesAreComplete = false
          (inode.parent, inode.jump) = (0, nil)
          let mount = facts.mounts[inode.mount]
          inode.mount = 0
          if places[path] == nil { places[path] = Place(inode: inode, mount: mount) }
        }
      }
    }

    /// Returns the path of the inode that `path` leads to, through links; nil if it leads nowhere.
    fileprivate func target(of path: PathBytes) -> PathBytes? {
      let anybody = Credentials(uid: 0, gid: 0, groups: [])
      for facts in facts {
        let decision = AccessEvaluator(facts: facts, credentials: anybody)
          .decide(.open(.path), path: path)
        if decision.isGranted, let inode = decision.inode { return facts.path(of: inode) }
      }
      return nil
    }
  }

  let old: Snapshot
  let new: Snapshot

  /// Finds the first difference on the way to the resources that changed.
  ///
  /// - Parameters:
  ///   - changed: The resources whose status or main reason changed.
  ///   - others: The resources that did not change, whose own nodes cannot be the cause.
  /// - Returns: The cause and its path; nil if there is no difference.
  func cause(of changed: [PathBytes], not others: [PathBytes]) -> (ChangeCause, PathBytes)? {
    let paths = Set(old.places.keys).union(new.places.keys).filter {
      old.places[$0] != new.places[$0]
    }
    if paths.isEmpty { return nil }
    let targets = self.targets(changed)
    let innocent = paths.count > 1 ? self.targets(others).subtracting(targets) : []
    return paths.subtracting(innocent).sorted(by: isBefore).lazy
      .compactMap { path in cause(at: path, isTarget: targets.contains(path)).map { ($0, path) } }
      .first
  }

  private func targets(_ paths: [PathBytes]) -> Set<PathBytes> {
    Set(paths.flatMap { [old.target(of: $0), new.target(of: $0), $0].compactMap { $0 } })
  }

  /// Returns whether a walk decides at `one` first: a shorter path is nearer to the root.
  private func isBefore(_ one: PathBytes, _ other: PathBytes) -> Bool {
    let depths = (one.components.count, other.components.count)
    return depths.0 == depths.1 ? one < other : depths.0 < depths.1
  }

  private func cause(at path: PathBytes, isTarget: Bool) -> ChangeCause? {
    guard let before = old.places[path], let after = new.places[path] else {
      let isAdded = old.places[path] == nil
      if isTarget { return isAdded ? .nodeAdded : .nodeRemoved }
      // A directory that no earlier check looked up is not new.
      return (isAdded ? old : new).missing.contains(path) ? .parent : nil
    }
    if before.mount != after.mount { return .mount }
    if !isTarget { return .parent }
    if before.inode.uid != after.inode.uid || before.inode.gid != after.inode.gid { return .owner }
    if Self.named(before.inode) != Self.named(after.inode) { return .acl }
    if before.inode.mode != after.inode.mode { return .mode }
    return .other
  }

  /// Returns the entries that chmod(1) never changes; it changes those of owner, mask and others.
  private static func named(_ inode: InodeFacts) -> [AccessControlList.Entry]? {
    inode.acl?.entries.filter { ![.owner, .mask, .other].contains($0.tag) }
  }
}
