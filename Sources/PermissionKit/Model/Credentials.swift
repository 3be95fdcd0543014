/// Who asks: the ids and capabilities that the kernel compares, as in credentials(7).
///
/// Ids are those of one view, the same one in which the facts about inodes were read.
public struct Credentials: Hashable, Sendable {
  /// The three ids of a kind: real, effective, and the one file access is judged by.
  public struct IDs: Hashable, Sendable {
    /// Whose process it is; access(2) judges by it.
    public var real: UInt32
    /// Whose rights it acts with, except on files; set-id programs change it.
    public var effective: UInt32
    /// fsuid or fsgid: follows the effective id unless setfsuid(2) sets it apart.
    public var fileSystem: UInt32

    /// Makes one of its parts.
    public init(real: UInt32, effective: UInt32, fileSystem: UInt32) {
      self.real = real
      self.effective = effective
      self.fileSystem = fileSystem
    }

    /// All three the same.
    public init(_ id: UInt32) { self.init(real: id, effective: id, fileSystem: id) }
  }

  /// The uids: real, effective, file system.
  public var user: IDs
  /// The gids: real, effective, file system.
  public var group: IDs
  /// Supplementary groups, in no particular order.
  public var groups: [UInt32]
  /// The effective capabilities: the only ones that a file access can use.
  public var effective: CapabilitySet
  /// The permitted capabilities, which access(2) makes effective for uid 0.
  public var permitted: CapabilitySet
  /// The user namespace's maps; nil when every id of the view is mapped.
  ///
  /// `inside` is an id of the namespace, `outside` one of the view.
  public var userNamespace: IDMapping?
  /// SECBIT_NO_SETUID_FIXUP: access(2) then keeps the capabilities, see capabilities(7).
  public var noSetUIDFixup: Bool

  /// Makes one of its parts; what is permitted is what is effective unless given.
  public init(
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

  /// A user as login(1) makes one: no capabilities unless the uid is 0.
  public init(uid: UInt32, gid: UInt32, groups: [UInt32]) {
    self.init(
      user: IDs(uid), group: IDs(gid), groups: groups, effective: uid == 0 ? .all : [])
  }

  /// Whether the subject is in group `id`: by its fsgid or a supplementary group, never its egid.
  ///
  /// See `in_group_p()` in kernel/groups.c.
  public func isMember(of id: UInt32) -> Bool {
    if id == group.fileSystem { return true }
    for group in groups where group == id { return true }
    return false
  }

  /// The credentials that access(2) and faccessat(2) without AT_EACCESS judge by.
  ///
  /// See `access_override_creds()` in fs/open.c: the real ids, and capabilities only for uid 0 of
  /// the caller's own user namespace.
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
