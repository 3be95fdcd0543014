/// The cause of a change of status, stable across versions.
public enum ChangeCause: String, Hashable, Sendable, CaseIterable {
  /// The node or folder was created.
  case nodeAdded = "node-added"
  /// The node or folder was removed.
  case nodeRemoved = "node-removed"
  /// The permission bits changed.
  case mode
  /// The owner or group changed.
  case owner
  /// Entries of the ACL changed.
  case acl
  /// A file system was mounted, unmounted, or mounted with other flags.
  case mount
  /// A directory or link on the path was removed, created, or got other permissions.
  case parent
  /// The data base of users and groups changed, see passwd(5) and group(5).
  case groupDatabase = "group-database"
  /// The file that names the folder changed, see user-dirs.dirs(5).
  case settings
  /// None of these: the kernel's answer changed while the facts stayed the same.
  case other
}
