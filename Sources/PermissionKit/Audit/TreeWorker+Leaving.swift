internal import Glibc

// The way back to the folders above.
extension TreeWorker {
  /// Closes the first folder that is open; `leave` opens it again.
  mutating func closeFirst() {
    while firstOpen < levels.count - 1, levels[firstOpen].descriptor == nil { firstOpen += 1 }
    guard firstOpen < levels.count - 1 else { return }
    close(levels[firstOpen].descriptor)
    levels[firstOpen].descriptor = nil
    open -= 1
  }

  /// Goes back to the next folder above in which something waits.
  mutating func leave() {
    let left = levels.removeLast()
    names.removeLast(names.count - left.start)
    open -= 1
    var steps = 1
    while let level = levels.last {
      if level.descriptor != nil { break }
      if !level.isSpent, let descriptor = climb(from: left.descriptor, steps, to: level) {
        levels[levels.count - 1].descriptor = descriptor
        firstOpen = min(firstOpen, levels.count - 1)
        open += 1
        break
      }
      path.removeLast(path.count - level.length)
      if !level.isSpent { report(.changed, "") }
      names.removeLast(names.count - level.start)
      levels.removeLast()
      steps += 1
    }
    close(left.descriptor)
    if let level = levels.last { path.removeLast(path.count - level.length) }
  }

  /// Opens a folder above again; nil if another one is there now.
  private func climb(from start: Int32?, _ steps: Int, to level: Level) -> Int32? {
    guard let start else { return nil }
    var current = Descriptor(rawValue: start)
    defer { if current.rawValue != start { system.close(current) } }
    for _ in 0..<steps {
      guard let above = try? system.openat(current, "..", [.path, .directory], mode: 0) else {
        return nil
      }
      if current.rawValue != start { system.close(current) }
      current = above
    }
    guard let status = try? system.statx(current),
      Place(fileSystem: status.fileSystem, inode: status.inode) == level.place,
      let folder = try? system.openat(current, ".", [.directory, .nonBlocking], mode: 0)
    else { return nil }
    if !level.isRead { _ = lseek(folder.rawValue, Int(level.offset), SEEK_SET) }
    return folder.rawValue
  }
}
