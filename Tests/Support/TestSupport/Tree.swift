package import Foundation
import Glibc

/// A temporary folder of files and device nodes, created by real system calls and removed at the
/// end.
package final class Tree {
  package let root: String

  /// Creates an empty folder with mode 0755 that every user can reach.
  package init() throws {
    root = "/tmp/permissionkit-tree-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    chmod(root, 0o755)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// Returns the absolute path of a name in the tree.
  package func path(_ name: String) -> String { root + "/" + name }

  /// Creates a folder and its parents.
  package func folder(
    _ name: String, mode: mode_t = 0o755, uid: uid_t = geteuid(), gid: gid_t = getegid()
  ) throws {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    try owned(name, mode, uid, gid)
  }

  /// Writes a file and creates its parent folders.
  package func file(
    _ name: String, _ text: String = "", mode: mode_t = 0o644, uid: uid_t = geteuid(),
    gid: gid_t = getegid()
  ) throws {
    try file(name, Data(text.utf8), mode: mode, uid: uid, gid: gid)
  }

  package func file(
    _ name: String, _ data: Data, mode: mode_t = 0o644, uid: uid_t = geteuid(),
    gid: gid_t = getegid()
  ) throws {
    try makeFolder(of: name)
    if mode & 0o111 == 0 {
      try data.write(to: URL(filePath: path(name)))
    } else {
      try Command.write(program: String(decoding: data, as: UTF8.self), to: path(name))
    }
    try owned(name, mode, uid, gid)
  }

  /// Creates a character device node (needs root); 1:3 is the null device, which opens.
  package func device(
    _ name: String, _ major: UInt32 = 1, _ minor: UInt32 = 3, mode: mode_t = 0o660,
    uid: uid_t = 0, gid: gid_t = 0
  ) throws {
    try makeFolder(of: name)
    try check(mknod(path(name), S_IFCHR | 0o600, makedev(major, minor)), "mknod \(name)")
    try owned(name, mode, uid, gid)
  }

  package func link(_ name: String, to target: String) throws {
    try makeFolder(of: name)
    try check(symlink(target, path(name)), "symlink \(name)")
  }

  /// Runs setfacl(1) with these arguments on a file in the tree.
  package func setfacl(_ arguments: [String], _ name: String) throws {
    let outcome = try Command.run(["setfacl"] + arguments + [path(name)])
    guard outcome.status == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  package func mode(_ name: String, _ mode: mode_t) throws {
    try check(chmod(path(name), mode), "chmod \(name)")
  }

  private func makeFolder(of name: String) throws {
    try FileManager.default.createDirectory(
      at: URL(filePath: path(name)).deletingLastPathComponent(), withIntermediateDirectories: true)
  }

  private func owned(_ name: String, _ mode: mode_t, _ uid: uid_t, _ gid: gid_t) throws {
    try check(lchown(path(name), uid, gid), "chown \(name)")
    try check(chmod(path(name), mode), "chmod \(name)")
  }

  private func check(_ result: Int32, _ what: String) throws {
    guard result != 0 else { return }
    let text = String(cString: strerror(errno))
    throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: "\(what): \(text)"])
  }
}

private func makedev(_ major: UInt32, _ minor: UInt32) -> dev_t {
  dev_t(major & 0xfff) << 8 | dev_t(minor & 0xff) | dev_t(minor & ~0xff) << 12
}
