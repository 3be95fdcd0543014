/// Which mounts hide which other ones.
///
/// A mount namespace may have 100,000 mounts (sysctl fs.mount-max), so each question takes no longer than the path of
/// a mount point is deep, but for `covers(of:)`, which looks at each mount once.
struct MountTree {
  /// A mount with the mount that it is mounted on, and the number of its file system: `8:1`.
  struct Entry {
    let mount: MountFacts
    let parent: UInt64
    let device: [UInt8]
  }

  private struct Place: Hashable {
    let parent: UInt64
    let point: PathBytes
  }

  /// All mounts, in the order of the file.
  let entries: [Entry]
  private var parents: [UInt64: UInt64] = [:]
  private var points: Set<PathBytes> = []
  private var children: [Place: UInt64] = [:]
  private var root: UInt64?
  /// The mount that a path to each point leads to, as far as it was asked for.
  private var tops: [PathBytes: UInt64] = [:]

  init(_ entries: [Entry]) {
    self.entries = entries
    for entry in entries {
      parents[entry.mount.id] = entry.parent
      points.insert(entry.mount.point)
    }
    for entry in entries {
      // The mount of the root directory is on itself, or on one that this process does not see.
      if entry.parent == entry.mount.id || parents[entry.parent] == nil {
        if root == nil, entry.mount.point == "/" { root = entry.mount.id }
      } else {
        children[Place(parent: entry.parent, point: entry.mount.point)] = entry.mount.id
      }
    }
  }

  /// Whether the path of a mount point leads to this mount: no other one hides it.
  mutating func isVisible(_ mount: MountFacts) -> Bool {
    guard var current = root else { return false }
    var place: PathBytes = "/"
    current = top(at: place, from: current)
    for name in mount.point.components {
      place = place.appending(name)
      if points.contains(place) { current = top(at: place, from: current) }
    }
    return current == mount.id
  }

  private mutating func top(at point: PathBytes, from start: UInt64) -> UInt64 {
    if let known = tops[point] { return known }
    var current = start
    while let next = children[Place(parent: current, point: point)] { current = next }
    tops[point] = current
    return current
  }

  /// Returns the mount points of the mounts that hide another one, the last mount first.
  func covers(of hidden: MountFacts) -> [PathBytes] {
    // What it is mounted on hides nothing of it.
    var ancestors: Set<UInt64> = []
    var next: UInt64? = hidden.id
    while let id = next, ancestors.insert(id).inserted { next = parents[id] }
    return entries.reversed().compactMap { entry in
      let (id, point) = (entry.mount.id, entry.mount.point)
      guard hidden.point == point || hidden.point.isBelow(point), !ancestors.contains(id) else {
        return nil
      }
      return point
    }
  }
}
