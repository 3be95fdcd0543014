/// The question of a check about each of its resources: how facts become decisions, and nothing else.
package enum Question: Sendable {
  /// The permissions of the context or of the resource, on what exists.
  case permissions
  /// An operation, which is never tried, because it would then be done.
  case operation(NamedOperation)
  /// The permissions on the next file and the next folder that somebody makes in a folder.
  case newFiles(by: FileCreator)

  /// Reads the facts that the question needs in addition to those about a path.
  ///
  /// - Parameters:
  ///   - reader: The reader, which has read the path.
  ///   - index: The inode at its end; nil if it was not reached.
  ///   - path: The path of the resource.
  ///   - need: The permissions that are asked for.
  func read(_ reader: inout FactsReader, _ index: Int?, _ path: PathBytes, need: Permissions) {
    switch self {
    case .permissions: if need.contains(.write) { reader.readSysctls(ofSticky: index) }
    case .newFiles: if let index { reader.readDefaultACL(index) }
    case .operation(let operation):
      // Of a directory that is removed or replaced it matters whether it is empty.
      let replaced = operation.target.flatMap { reader.read($0, followsLast: false) }
      for inode in [index, replaced] {
        if let inode, [.delete, .rmdir, .rename].contains(operation.name) {
          reader.readEmptiness(inode)
        }
      }
      // A folder does not go into itself.
      if operation.name == .rename, let folder = operation.target?.parent,
        let folder = reader.read(folder)
      {
        reader.readAncestors(of: folder)
      }
      if operation.name == .exec { reader.readPrograms(from: index, named: path) }
      if operation.name == .link { reader.readSysctls() }
      if operation.name == .write { reader.readSysctls(ofSticky: index) }
    }
  }
}
