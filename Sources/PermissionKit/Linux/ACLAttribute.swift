/// The extended attribute that holds an ACL, see acl(5).
@_spi(SystemCalls) public enum ACLAttribute: String, Hashable, Sendable {
  /// The access ACL, which decides what each user may do with the inode.
  case access = "system.posix_acl_access"
  /// The default ACL of a directory, which new files in the directory inherit.
  case `default` = "system.posix_acl_default"
}
