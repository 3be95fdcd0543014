/// The facts about the mounts of a walk, each read when the walk first reaches the mount.
struct KnownMounts {
  /// The mounts, in the order in which the walk reached them.
  private(set) var facts: [MountFacts] = []
  private var table = MountTable(mountinfo: [])

  /// Returns the index of a mount in `facts`.
  mutating func index(of id: UInt64?, _ system: any System) -> Int {
    let id = id ?? 0
    if let index = facts.firstIndex(where: { $0.id == id }) { return index }
    if table[id: id] == nil {
      table = (try? system.mountTable()) ?? table
    }
    var found = table[id: id] ?? .unreadable(id: id)
    if table.hasBlocking, found.fileSystem == "overlay" {
      found.hasLayerOnServer = table.hasLayerOnServer(found)
    }
    if FactsReader.overflow(system) != nil {
      found.mayBelongToNamespace = ["tmpfs", "ramfs", "overlay"].contains(found.fileSystem)
    }
    facts.append(found)
    return facts.count - 1
  }
}
