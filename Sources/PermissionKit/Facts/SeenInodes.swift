/// The inodes that a `FactsReader` has read, which it finds again by the fields of statx(2).
struct SeenInodes {
  /// What is known about one inode in addition to its facts.
  struct Inode {
    let identity: InodeIdentity
    /// The mount id; the same inode on another mount is another element, with other flags.
    let mount: UInt64?
    /// The descriptor of a directory, in which names can be looked up.
    let descriptor: Descriptor?
    var parentIsKnown: Bool
  }

  /// The inodes, in the order of the facts.
  var inodes: [Inode] = []
  /// A hash table: index in `inodes` plus one, at a place that follows from the inode number; 0 if
  /// free.
  ///
  /// Replaces Dictionary, because hashing would take most of the time of a check of a few nodes.
  private var places: [Int] = []

  init() { inodes.reserveCapacity(32) }

  /// Returns the index of an inode that was read before; nil for any other inode.
  func index(of status: StatusFields) -> Int? {
    guard !places.isEmpty else { return nil }
    var place = firstPlace(status.inode)
    while places[place] > 0 {
      let index = places[place] - 1
      if inodes[index].identity.inode == status.inode,
        inodes[index].identity.fileSystem == status.fileSystem,
        inodes[index].mount == status.mount
      {
        return index
      }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  /// Adds an inode, and keeps at least half of the places free.
  mutating func append(_ inode: Inode) {
    inodes.append(inode)
    guard inodes.count * 2 > places.count else { return take(inodes.count - 1) }
    let count = max(64, places.count * 2)
    places = []
    places.reserveCapacity(count)
    for _ in 0..<count { places.append(0) }
    for index in inodes.indices { take(index) }
  }

  private mutating func take(_ index: Int) {
    var place = firstPlace(inodes[index].identity.inode)
    while places[place] > 0 { place = (place + 1) & (places.count - 1) }
    places[place] = index + 1
  }

  /// Returns the place to search first; the number of places is a power of two.
  private func firstPlace(_ inode: UInt64) -> Int {
    Int(truncatingIfNeeded: (inode &* 0x9e37_79b9_7f4a_7c15) >> 32) & (places.count - 1)
  }
}
