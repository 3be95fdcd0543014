/// An operation on a path, by the name that people use.
package struct NamedOperation: Hashable, Sendable {
  /// The names, as `explain --to` and `to =` of an expectation take them.
  package enum Name: String, CaseIterable, Sendable {
    case create, write, mkdir, mkfifo, mknod, symlink, link, delete, rmdir, rename, chmod, chown,
      touch
    case utimes, truncate, chdir, setxattr, exec, connect

    /// Whether the operation has a second path.
    package var needsPath: Bool { self == .rename || self == .link }
  }

  package let name: Name
  /// The new name of `rename` and `link`.
  package var target: PathBytes?
  /// The new owner of `chown`; nil if it is unknown.
  package var uid: UInt32?
  /// The new group of `chown`; nil for the present one.
  package var gid: UInt32?
  /// The new owner as it was written: `ada:video`.
  package var owner: String?

  package init(_ name: Name) { self.name = name }

  /// The operation, for people: `delete`, `rename to /srv/b`, `chown to ada:video`.
  package var words: String {
    let to = target.map { "\($0)" } ?? owner
    return to.map { "\(name.rawValue) to \($0)" } ?? name.rawValue
  }
}
