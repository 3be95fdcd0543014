extension AccessFacts {
  /// Whether every index is valid, which facts from a document cannot guarantee.
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

  /// Returns the path by which the inode was reached, absolute if the path begins at the root.
  ///
  /// A path that does not begin at the root is relative to the start. For an inode behind a magic
  /// link, this is the path of the link.
  package func path(of inode: Int) -> PathBytes {
    let (top, path) = climb(from: inode)
    guard top != root, top != start, let link = inodes.firstIndex(where: { $0.jump == top }) else {
      return path
    }
    let below = climb(from: link).path
    return top == inode ? below : below.appending(path)
  }

  /// Returns whether the path of the inode leads from the root by names alone.
  func isReachedFromRoot(_ inode: Int) -> Bool { climb(from: inode).top == root }

  /// Returns the names up to the root or to the first inode that was not reached by name.
  private func climb(from inode: Int) -> (top: Int, path: PathBytes) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    var top = inode
    // Builds the path from its end. Ends at the root, or after as many steps as there are inodes,
    // or at 64 KiB, because facts from a document can have cycles.
    var steps = 0
    while top != root, steps < inodes.count, bytes.count < 1 << 16 {
      steps += 1
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

  /// Returns the path by which the inode was reached; returns `asked` itself if it is that path.
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

  /// Returns the name of an inode in its directory; nil if the inode was not found by name.
  func name(of inode: Int) -> PathBytes? {
    let parent = inodes[inode].parent
    return entry(of: inode, in: parent).map { inodes[parent].entries[$0].name }
  }

  /// Returns the index of the entry by which an inode was found in a directory.
  private func entry(of inode: Int, in directory: Int) -> Int? {
    for index in inodes[directory].entries.indices {
      if case .inode(inode) = inodes[directory].entries[index].found { return index }
    }
    return nil
  }

  /// Returns the path of the name that the last lookup of `steps` did not find.
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
  /// Returns the inode that `path` names, for any subject; does not follow a link at the end.
  func inode(at path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: self, credentials: anybody)
      .decide(.open([.path, .noFollow]), path: path)
    return decision.isGranted ? decision.inode : nil
  }
}

extension AccessFacts {
  /// Returns the inode that `path` leads to, for any subject; follows links.
  ///
  /// Nil if the facts do not contain the inode.
  func target(of path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    var call = KernelCall(AccessEvaluator(facts: self, credentials: anybody), path)
    call.asksNobody = true
    let decision = call.run(.open(.path))
    return decision.isGranted ? decision.inode : nil
  }

  /// Returns the file type at the end of `path`, for any subject; nil if the facts lack the inode.
  func kind(of path: PathBytes) -> FileKind? { target(of: path).map { inodes[$0].kind } }
}
