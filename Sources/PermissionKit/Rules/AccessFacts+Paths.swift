extension AccessFacts {
  /// Whether every index names an inode or mount of these facts; facts from a document may be
  /// anything.
  package var isConsistent: Bool {
    guard inodes.indices.contains(root), inodes.indices.contains(start) else { return false }
    return inodes.allSatisfy { inode in
      mounts.indices.contains(inode.mount) && inodes.indices.contains(inode.parent)
        && inode.jump.map(inodes.indices.contains) ?? true
        && inode.entries.allSatisfy { entry in
          if case .inode(let index) = entry.found { inodes.indices.contains(index) } else { true }
        }
    }
  }

  /// The path by which the inode was reached, from the root or, relative, from the start; of one that
  /// a magic link leads to, the link's.
  package func path(of inode: Int) -> PathBytes {
    let (top, path) = climb(from: inode)
    guard top != root, top != start, let link = inodes.firstIndex(where: { $0.jump == top }) else {
      return path
    }
    let below = climb(from: link).path
    return top == inode ? below : below.appending(path)
  }

  /// Whether its path leads from the root to it by names alone.
  func isReachedFromRoot(_ inode: Int) -> Bool { climb(from: inode).top == root }

  /// The names from where the climb ends: at the root, or at an inode that was not reached by name.
  private func climb(from inode: Int) -> (top: Int, path: PathBytes) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    var top = inode
    // From its end; up to the root, and no further than there are inodes or 64 KiB: facts may come
    // from a document.
    for _ in inodes.indices where top != root && bytes.count < 1 << 16 {
      let parent = inodes[top].parent
      guard parent != top, let entry = entry(of: top, in: parent) else { break }
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
      for byte in inodes[parent].entries[entry].name.bytes.reversed() { bytes.append(byte) }
      top = parent
    }
    if top == root { bytes.append(UInt8(ascii: "/")) } else if bytes.isEmpty { return (top, ".") }
    bytes.reverse()
    return (top, PathBytes(bytes))
  }

  /// The path by which the inode was reached: `asked`, where that is it.
  func path(of inode: Int, asked: PathBytes) -> PathBytes {
    var end = asked.bytes.count
    var current = inode
    while current != root {
      let parent = inodes[current].parent
      guard parent != current, let entry = entry(of: current, in: parent) else { break }
      let start = end - inodes[parent].entries[entry].name.bytes.count
      guard start > 0, asked.bytes[start - 1] == UInt8(ascii: "/"),
        inodes[parent].entries[entry].name.bytes.elementsEqual(asked.bytes[start..<end])
      else { break }
      end = start - 1
      current = parent
    }
    return current == root && current != inode && end == 0 ? asked : path(of: inode)
  }

  /// The name by which an inode was found in its directory; nil where it was come upon otherwise.
  func name(of inode: Int) -> PathBytes? {
    let parent = inodes[inode].parent
    return entry(of: inode, in: parent).map { inodes[parent].entries[$0].name }
  }

  /// The index of the name by which an inode was found in a directory.
  private func entry(of inode: Int, in directory: Int) -> Int? {
    for index in inodes[directory].entries.indices {
      if case .inode(inode) = inodes[directory].entries[index].found { return index }
    }
    return nil
  }

  /// The path of the name that the last look-up of `steps` did not find.
  func missingPath(_ steps: [WalkStep]) -> PathBytes? {
    for step in steps.reversed() {
      if case .lookup(let name, let parent, nil, _) = step.event {
        return path(of: parent).appending(name)
      }
    }
    return nil
  }
}

extension AccessFacts {
  /// The inode that `path` names, whoever asks, the last component not followed.
  func inode(at path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: self, credentials: anybody)
      .decide(.open([.path, .noFollow]), path: path)
    return decision.isGranted ? decision.inode : nil
  }
}

extension AccessFacts {
  /// Returns the inode that `path` leads to, whoever asks, links followed; nil if the facts do not
  /// reach it.
  func target(of path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: self, credentials: anybody)
      .decide(.open(.path), path: path)
    return decision.isGranted ? decision.inode : nil
  }

  /// Returns the file type of what `path` names, whoever asks; nil if the facts do not reach it.
  func kind(of path: PathBytes) -> FileKind? { target(of: path).map { inodes[$0].kind } }
}
