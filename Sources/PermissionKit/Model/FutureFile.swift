/// A file or folder that somebody will create, as the kernel will create it.
public struct FutureFile: Hashable, Sendable {
  /// The type, mode, ids and ACL; if the umask applies and is unknown, with every bit that it may
  /// leave.
  public let inode: InodeSummary
  /// The owner's name, or the uid if there is no name.
  public let owner: String
  /// The owning group's name, or the gid if there is no name.
  public let group: String
  /// The name of the creator.
  public let creator: String
  /// The umask of the creator, 0 to 0777; nil if it is not known.
  public let umask: UInt16?
  /// Whether the umask counts: there is no default ACL, and the mount's options do not decide.
  public let heedsUmask: Bool
}
