/// An extended attribute that decides about access.
@_spi(SystemCalls) public enum ExtendedAttribute: String, Hashable, Sendable {
  /// The access ACL, which decides what each user may do with the inode, see acl(5).
  case access = "system.posix_acl_access"
  /// The default ACL of a directory, which new files in the directory inherit.
  case `default` = "system.posix_acl_default"
  /// The context that SELinux gives the inode, whether the file system stores it or not.
  case context = "security.selinux"
  /// The path of the file that a pool of mergerfs shows, on its branch.
  case branch = "user.mergerfs.fullpath"
}
