internal import CCap
internal import Glibc

// Doing something with a tree instead of asking about it.
extension TreeWorker {
  /// Visits the names of one read.
  mutating func visitNames(_ count: Int, _ visitor: TreeVisitor) {
    guard let folder = levels.last?.descriptor else { return }
    let visited = levels[levels.count - 1].visited
    var asked = 0
    for index in 0..<count {
      let fields = named[index]
      let start = Int(fields.name)
      if fields.error == ENOENT {
        visitor.didMiss()
        continue
      }
      asked += 1
      if fields.error != 0 {
        report(
          fields.error == EXDEV ? .remote : .failed(Errno(rawValue: fields.error)), name(start))
        continue
      }
      if fields.mode & 0o170000 == 0o040000 { wait(for: start) }
      // A link has no ACL.
      if fields.mode & 0o170000 == 0o120000 { continue }
      visit(start, fields.inode, folder, visitor, visited)
    }
    walk.count(asked: asked)
  }

  private mutating func visit(
    _ start: Int, _ number: UInt64, _ folder: Int32, _ visitor: TreeVisitor,
    _ visited: (any Sendable)?
  ) {
    let length = aclOfName(start)
    if length <= 0 {
      let errno = Errno(rawValue: Int32(-length))
      if length < 0, errno != .ENODATA, errno != .EOPNOTSUPP, errno != .ENOENT {
        report(.failed(errno), name(start))
      }
      return
    }
    guard visitor.wants(Array(found[..<length]), number, visited) else { return }
    let inode = unsafe buffer.withUnsafeBytes {
      unsafe ccap_open_name(
        folder, $0.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start })
    }
    if inode == -ENOENT { return visitor.didMiss() }
    guard inode >= 0 else {
      return report(inode == -EXDEV ? .remote : .failed(Errno(rawValue: -inode)), name(start))
    }
    let slash: [UInt8] = path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
    visitor.take(
      Descriptor(rawValue: inode), { PathBytes(path + slash + name(start).bytes) }, visited)
  }

  /// Reads the access ACL of a name in the working directory; returns its length, or -errno.
  private mutating func aclOfName(_ start: Int) -> Int {
    unsafe buffer.withUnsafeBytes { names in
      let name = unsafe names.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start }
      return unsafe found.withUnsafeMutableBytes { value in
        // The kernel clears as much memory as it is offered, so it is first offered little.
        let length = unsafe ccap_lgetxattr_acl(name, value.baseAddress, 256)
        return length == -Int(ERANGE)
          ? unsafe ccap_lgetxattr_acl(name, value.baseAddress, value.count) : length
      }
    }
  }
}
