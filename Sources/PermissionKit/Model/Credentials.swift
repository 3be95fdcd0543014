/// The ids and capabilities that the kernel compares, as in credentials(7).
///
/// Ids belong to one user namespace: the one in which the facts about inodes were read. This
/// namespace is called the view.
public struct Credentials: Hashable, Sendable {
  /// The three ids of one kind: real, effective and file system.
  public struct IDs: Hashable, Sendable {
    /// The id of the owner of the process; access(2) decides by this id.
    public var real: UInt32
    /// The id that the process acts with, except on files; set-id programs change it.
    public var effective: UInt32
    /// fsuid or fsgid, which decides file access; equals the effective id unless setfsuid(2)
    /// changes it.
    public var fileSystem: UInt32

    /// Creates ids with these values.
    public init(real: UInt32, effective: UInt32, fileSystem: UInt32) {
      self.real = real
      self.effective = effective
      self.fileSystem = fileSystem
    }

    /// Creates three equal ids.
    public init(_ id: UInt32) { self.init(real: id, effective: id, fileSystem: id) }
  }

  /// The uids: real, effective, file system.
  public var user: IDs
  /// The gids: real, effective, file system.
  public var group: IDs
  /// The supplementary groups, in any order.
  public var groups: [UInt32]
  /// The effective capabilities, the only ones that count for file access.
  public var effective: CapabilitySet
  /// The permitted capabilities, which access(2) makes effective for uid 0.
  public var permitted: CapabilitySet
  /// The id maps of the subject's user namespace; nil if every id of the view is mapped.
  ///
  /// `inside` is an id of the namespace, `outside` an id of the view.
  @_spi(SystemCalls) public var userNamespace: IDMapping?
  /// SECBIT_NO_SETUID_FIXUP: with this bit access(2) keeps the capabilities, see capabilities(7).
  @_spi(SystemCalls) public var noSetUIDFixup: Bool

  /// Creates credentials with these values.
  ///
  /// - Parameters:
  ///   - user: The uids.
  ///   - group: The gids.
  ///   - groups: The supplementary groups.
  ///   - effective: The effective capabilities.
  ///   - permitted: The permitted capabilities; the effective ones if left out.
  ///   - userNamespace: The id maps of the user namespace; nil if every id of the view is mapped.
  ///   - noSetUIDFixup: Whether SECBIT_NO_SETUID_FIXUP is set.
  @_spi(SystemCalls) public init(
    user: IDs,
    group: IDs,
    groups: [UInt32],
    effective: CapabilitySet,
    permitted: CapabilitySet? = nil,
    userNamespace: IDMapping? = nil,
    noSetUIDFixup: Bool = false
  ) {
    self.user = user
    self.group = group
    self.groups = groups
    self.effective = effective
    self.permitted = permitted ?? effective
    self.userNamespace = userNamespace
    self.noSetUIDFixup = noSetUIDFixup
  }

  /// Creates the credentials of a user after login(1): no capabilities unless the uid is 0.
  public init(uid: UInt32, gid: UInt32, groups: [UInt32]) {
    self.init(
      user: IDs(uid), group: IDs(gid), groups: groups, effective: uid == 0 ? .all : [])
  }

  /// Whether the process acts as root: its effective uid is 0.
  package var isRoot: Bool { user.effective == 0 }

  /// Returns whether the subject is in group `id`, by the fsgid or a supplementary group.
  ///
  /// The egid does not count. See `in_group_p()` in kernel/groups.c.
  package func isMember(of id: UInt32) -> Bool {
    if id == group.fileSystem { return true }
    for group in groups where group == id { return true }
    return false
  }

  /// The credentials that access(2), and faccessat(2) without AT_EACCESS, decide by.
  ///
  /// They have the real ids, and capabilities only for uid 0 of the caller's own user namespace.
  /// See `access_override_creds()` in fs/open.c.
  package var forAccess: Credentials {
    var copy = self
    copy.user.fileSystem = user.real
    copy.group.fileSystem = group.real
    guard !noSetUIDFixup else { return copy }
    let inside = userNamespace.map { $0.users.inside(user.real) } ?? user.real
    copy.effective = inside == 0 ? permitted : []
    return copy
  }
}
