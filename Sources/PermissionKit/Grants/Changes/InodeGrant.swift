/// Changes an ACL entry or mode bits of one inode for one user, by a single system call.
package struct InodeGrant: GrantCommand {
  /// The part of an inode that changes: mode and access ACL, or the default ACL alone.
  package struct State: Hashable, Sendable {
    /// The bits 07777; 0 for a default ACL.
    package var mode: UInt16
    /// The ACL; nil if the inode has only a mode.
    package var acl: AccessControlList?

    init(mode: UInt16, acl: AccessControlList?) {
      self.mode = mode
      self.acl = acl
    }

    init(_ inode: InodeFacts, _ attribute: InodeChange.Attribute) {
      switch attribute {
      case .mode, .accessACL: self.init(mode: inode.mode, acl: inode.acl)
      case .defaultACL: self.init(mode: 0, acl: inode.defaultACL)
      }
    }

    /// Mode and ACL in one list; nil for a folder without a default ACL.
    func list(_ attribute: InodeChange.Attribute) -> AccessControlList? {
      attribute == .defaultACL ? acl : acl ?? AccessControlList(mode: mode)
    }

    /// Returns the state with other permissions; owner, group and special bits stay.
    func setting(_ list: AccessControlList?, _ attribute: InodeChange.Attribute) -> State {
      guard attribute != .defaultACL, let list else { return State(mode: mode, acl: list) }
      if list == self.list(attribute) { return self }
      let isMode = list.mask == nil && !list.hasNamed
      return State(mode: mode & 0o7000 | list.mode, acl: isMode ? nil : list)
    }
  }

  /// The absolute path of the inode, without symbolic links.
  package var path: PathBytes
  /// The identity of the inode; another inode at the same path is never changed.
  package var identity: InodeIdentity
  /// The uid of the user who gets access.
  package var uid: UInt32
  /// The name of the user, for people; nil if there is none.
  package var user: String?
  /// The rights of the lease: by the user's entry, or by the mode bits of one class.
  package var permissions: Permissions
  /// The state before the change; nil unless it was just planned, or is from an old journal.
  package var before: State?
  /// The state after the change, like `before`.
  package var after: State?
  /// The result of the merge that planned the change.
  var outcome: LeaseOutcome?
  /// How long the file system keeps the change.
  package var persistence: Persistence
  /// The attribute that changes.
  var attribute: InodeChange.Attribute
  /// The shell command that makes the same change.
  package var arguments: [PathBytes]
  /// The mode bits that the user needs, for `Attribute.mode`; nil in an old journal.
  var bits: UInt16?
  /// The identity of the inode; nil in an old journal.
  package var anchor: InodeAnchor?

  /// Whether this changes the access ACL of a character device.
  package var isOfDevice: Bool { identity.type == 0o020000 && attribute == .accessACL }

  /// Removes what only planning needs.
  mutating func forgetPlan() { (before, after, outcome) = (nil, nil, nil) }

  /// The rights of the grant, for the merge.
  var lease: Lease {
    Lease(uid: uid, tag: attribute == .mode ? bitClass : .user, rights: permissions)
  }

  /// The class of mode bits that the grant is about.
  private var bitClass: AccessControlList.Tag {
    let bits = bits ?? 0
    return bits & 0o070 != 0 ? .owningGroup : bits & 0o007 != 0 ? .other : .owner
  }

  /// Returns the same grant on another inode, which is open.
  func at(_ inode: Descriptor, _ identity: InodeIdentity, _ system: any System) -> InodeGrant {
    var other = self
    (other.identity, other.anchor) = (identity, InodeAnchor(inode, system))
    return other
  }

  /// Returns whether both change the same ACL of the same inode.
  func isSameACL(as other: InodeGrant) -> Bool {
    identity.matches(other.identity)
      && (anchor?.handle == nil || other.anchor?.handle == nil
        || anchor?.handle == other.anchor?.handle)
      && (attribute == .defaultACL) == (other.attribute == .defaultACL)
  }

  /// The change in one line for people, without the path.
  package var summary: String {
    let change =
      switch attribute {
      case .mode: "mode bits: \(arguments.dropFirst().first?.description ?? "")"
      case .accessACL: "ACL entry user:\(user ?? "\(uid)"):\(permissions)"
      case .defaultACL: "default ACL entry user:\(user ?? "\(uid)"):\(permissions)"
      }
    return before != nil && before == after ? "\(change), kept from an earlier grant" : change
  }

  // MARK: - Reading

  private var name: ExtendedAttribute { attribute == .defaultACL ? .default : .access }

  func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the inode by its path; nil if another inode or none is there.
  func open(_ system: any System) throws(PermissionError) -> Descriptor? {
    do throws(Errno) {
      let descriptor = try system.open(
        path, [.path, .noFollow], through: [], within: PathAvailability.limit)
      if isInode(descriptor, system) { return descriptor }
      system.close(descriptor)
      return nil
    } catch .ENOENT {
      return nil
    } catch .ENOTDIR {
      return nil
    } catch {
      throw failure("\(path) cannot be read", "open", error)
    }
  }

  /// Returns whether an open file is the inode of the grant.
  func isInode(_ descriptor: Descriptor, _ system: any System) -> Bool {
    guard let status = try? system.statx(descriptor), identity.matches(InodeIdentity(status)) else {
      return false
    }
    guard let handle = anchor?.handle, let present = try? system.name_to_handle_at(descriptor)
    else { return true }
    return handle == present
  }

  /// Returns the present state of an inode.
  ///
  /// - Returns: The mode and the ACL; the ACL is nil if the inode has none.
  /// - Throws: The errno of statx(2) or getxattr(2), EINVAL for a malformed ACL.
  static func state(
    _ attribute: InodeChange.Attribute, of descriptor: Descriptor, _ system: any System
  ) throws(Errno) -> State {
    let isDefault = attribute == .defaultACL
    let mode = isDefault ? 0 : UInt16(try system.statx(descriptor).mode & 0o7777)
    do throws(Errno) {
      let bytes = try system.getxattr(isDefault ? .default : .access, of: descriptor)
      guard let acl = AccessControlList(xattr: bytes) else { throw .EINVAL }
      return State(mode: mode, acl: acl)
    } catch .ENODATA {
    } catch .EOPNOTSUPP where attribute == .mode {
    }
    return State(mode: mode, acl: nil)
  }

  func state(
    _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) -> State {
    do throws(Errno) {
      return try Self.state(attribute, of: descriptor, system)
    } catch .EOPNOTSUPP {
      throw failure(
        "\(path) is on a file system that is mounted without ACLs now, so the entry cannot be taken out",
        advice: "mount it with the option acl first")
    } catch {
      throw failure("mode and ACL of \(path) cannot be read", "getxattr", error)
    }
  }

  // MARK: - Changing

  /// Changes the inode from a state to another one, by one system call.
  ///
  /// No system call exchanges an ACL for another one, so the state is read once more immediately
  /// before.
  ///
  /// - Throws: EAGAIN if the inode is in another state.
  func set(
    _ state: State, from old: State, isPutBack: Bool = false, _ descriptor: Descriptor,
    _ system: any System
  ) throws(PermissionError) {
    if state == old { return }
    var call = "chmod"
    do throws(Errno) {
      // The kernel stores an ACL without named entries as the mode, so one call sets both.
      let acl = state.acl ?? AccessControlList(mode: state.mode)
      let isMode = state.acl == old.acl || state.acl == nil && old.acl == nil
      if !isMode, attribute != .defaultACL || state.acl != nil {
        // The kernel keeps an ACL that names a user twice, which libacl does not call valid. Such an
        // ACL is changed and put back, but a valid one does not become such a one.
        call = "acl_valid"
        guard acl.isValid || isPutBack || old.acl?.isValid == false else { throw .EINVAL }
      }
      call = "getxattr"
      guard try Self.state(attribute, of: descriptor, system) == old else { throw .EAGAIN }
      if isMode {
        call = "chmod"
        try system.chmod(descriptor, state.mode)
      } else if attribute != .defaultACL || state.acl != nil {
        call = "setxattr"
        try system.setxattr(name, of: descriptor, acl.xattr)
      } else {
        call = "removexattr"
        try system.removexattr(name, of: descriptor)
      }
    } catch .EAGAIN {
      throw failure(
        "mode or ACL of \(path) changed while it was read, so it was not changed", nil, .EAGAIN,
        advice: "try again")
    } catch {
      throw failure(
        "\(path) cannot be changed", call, error, advice: advice(error, descriptor, system))
    }
  }

  private func advice(
    _ error: Errno, _ descriptor: Descriptor, _ system: any System
  ) -> String? {
    switch error {
    case .EROFS: return "mount its file system for writing first"
    case .ENOSPC: return "make room on its file system first"
    case .EPERM:
      let status = try? system.statx(descriptor)
      if status?.isImmutable == true { return "it is immutable (chattr -i)" }
      if status?.isAppendOnly == true { return "it is append-only (chattr -a)" }
      return "only its owner or root may change it"
    default: return nil
    }
  }

  /// Changes the inode if it is the planned one and still in the planned state.
  package func execute(_ system: any System) throws(PermissionError) {
    guard let before, let after, let descriptor = try open(system) else {
      throw failure(
        "\(path) was removed or replaced after the plan was made, so it was not changed",
        advice: "try again")
    }
    defer { system.close(descriptor) }
    let now = try state(descriptor, system)
    guard now == before else {
      throw failure(
        "mode or ACL of \(path) changed after the plan was made, so it was not changed",
        advice: "try again")
    }
    try set(after, from: before, descriptor, system)
    let done = try state(descriptor, system)
    guard done == after, let again = try open(system) else {
      throw failure(
        "\(path) did not get the planned mode and ACL, because somebody else changes it; it was put back",
        advice: "try again")
    }
    system.close(again)
  }

  /// Returns the time of the last change of the inode, if it is at its path; nil if unknown.
  func lastChange(_ system: any System) -> Int64? {
    guard let descriptor = (try? open(system)) ?? nil else { return nil }
    defer { system.close(descriptor) }
    return (try? system.statx(descriptor))?.changed
  }
}
