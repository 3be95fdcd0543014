/// The inodes that a `FactsReader` has met, found again by what statx(2) says of them.
struct SeenInodes {
  /// What is known of one inode beyond its facts.
  struct Inode {
    let identity: InodeIdentity
    /// The same inode on another mount is judged by other flags.
    let mount: UInt64?
    /// Open as long as something may be looked up in it.
    let descriptor: Descriptor?
    var parentIsKnown: Bool
  }

  /// In the order of the facts.
  var inodes: [Inode] = []
  /// Where in `inodes` an inode is, plus one, at a place that its number leads to; 0 where none is.
  ///
  /// A table of our own: the check of a few nodes would spend its time in Dictionary's hashing.
  private var places: [Int] = []

  init() { inodes.reserveCapacity(32) }

  /// Returns the index of an inode that was met before.
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

  /// Adds an inode; at most half of the places are taken.
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

  /// The number of places is a power of two.
  private func firstPlace(_ inode: UInt64) -> Int {
    Int(truncatingIfNeeded: (inode &* 0x9e37_79b9_7f4a_7c15) >> 32) & (places.count - 1)
  }
}
