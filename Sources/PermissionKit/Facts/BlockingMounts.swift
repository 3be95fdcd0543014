/// The mounts that may block a system call (network, FUSE, autofs); read again after 100 ms.
struct BlockingMounts {
  private var points: [PathBytes]?
  private var time: Int64 = 0

  /// The points of mounts that may block; nil if they cannot be read.
  private mutating func current(_ system: LinuxSystem) -> [PathBytes]? {
    let now = system.monotonic()
    if points == nil || now - time > 100_000 {
      points = (try? system.mountTable())?.blockingMounts.map(\.point)
      time = now
    }
    return points
  }

  /// Whether any mount may block.
  mutating func hasBlocking(_ system: LinuxSystem) -> Bool { current(system)?.isEmpty != true }

  /// Whether a folder of this name may hold such a mount point.
  func mayHoldPoint(_ name: ArraySlice<UInt8>) -> Bool {
    points?.contains { $0.parent.lastComponent.bytes.elementsEqual(name) } ?? true
  }

  /// Whether such a mount is on a name in a folder.
  mutating func mayBlock(
    _ name: PathBytes, in folder: Descriptor, _ system: LinuxSystem
  ) -> Bool {
    guard let points = current(system) else { return true }
    if points.isEmpty { return false }
    guard let path = Self.path(of: folder, system) else { return true }
    return points.contains(path.appending(name))
  }

  /// Whether such a mount is on any name in a folder.
  mutating func hasBlockingPoint(in folder: Descriptor, _ system: LinuxSystem) -> Bool {
    guard let points = current(system), let path = Self.path(of: folder, system) else {
      return true
    }
    return points.contains { $0.parent == path }
  }

  /// Whether a link leads over such a mount, which is not examined.
  mutating func leadsToBlocking(
    _ link: PathBytes, in folder: Descriptor, _ system: LinuxSystem
  ) -> Bool {
    guard let points = current(system) else { return true }
    if points.isEmpty { return false }
    guard let path = Self.path(of: folder, system), var reader = try? FactsReader(system) else {
      return true
    }
    for point in points { reader.answers[point] = false }
    reader.read(path.appending(link))
    let facts = reader.facts
    return !facts.inodes.indices.allSatisfy { facts.availability(at: $0) == .immediate }
  }

  private static func path(of folder: Descriptor, _ system: LinuxSystem) -> PathBytes? {
    let link = folder.link
    guard let descriptor = try? system.openat(.currentDirectory, link, [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(descriptor) }
    return try? system.readlinkat(descriptor)
  }
}
