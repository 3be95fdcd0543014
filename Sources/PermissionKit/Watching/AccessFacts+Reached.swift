extension AccessFacts {
  /// The inodes that were reached by name, each with its path, a directory before its contents.
  ///
  /// Links are not followed: the path of each inode is its place in its directory. Includes the
  /// start of relative paths if names were looked up there.
  var reached: [(inode: Int, path: PathBytes)] {
    var found: [(inode: Int, path: PathBytes)] = []
    var isFound = [Bool](repeating: false, count: inodes.count)
    let starts = inodes[start].entries.isEmpty ? [] : [(start, PathBytes("."))]
    for (origin, path) in [(root, PathBytes("/"))] + starts where !isFound[origin] {
      var next = found.count
      found.append((origin, path))
      isFound[origin] = true
      while next < found.count {
        let (index, path) = found[next]
        next += 1
        for entry in inodes[index].entries {
          guard case .inode(let child) = entry.found, !isFound[child] else { continue }
          isFound[child] = true
          found.append((child, path.appending(entry.name)))
        }
      }
    }
    return found
  }
}
