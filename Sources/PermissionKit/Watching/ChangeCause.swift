/// What made a status change, in words that stay the same from version to version.
public enum ChangeCause: String, Hashable, Sendable, CaseIterable {
  /// The node or folder is there now, and was not.
  case nodeAdded = "node-added"
  /// The node or folder was there, and is gone.
  case nodeRemoved = "node-removed"
  /// Its permission bits.
  case mode
  /// Its owner or group.
  case owner
  /// Entries of its ACL.
  case acl
  /// Something was mounted, unmounted, or mounted with other flags.
  case mount
  /// A directory or link on the way: gone, there again, or with other permissions.
  case parent
  /// Users and groups, see passwd(5) and group(5).
  case groupDatabase = "group-database"
  /// The file that says where the folder is, see user-dirs.dirs(5).
  case settings
  /// None of these: the kernel answers otherwise, on the same facts.
  case other
}
