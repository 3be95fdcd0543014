/// The extended attribute that holds an ACL, see acl(5).
public enum ACLAttribute: String, Hashable, Sendable {
  /// Who may do what to the inode.
  case access = "system.posix_acl_access"
  /// What is created in the directory inherits this.
  case `default` = "system.posix_acl_default"
}
