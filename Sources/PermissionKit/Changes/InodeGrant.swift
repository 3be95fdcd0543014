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
  }

  /// The absolute path of the inode, without symbolic links.
  package var path: PathBytes
  /// The identity of the inode; another inode at the same path is never changed.
  package var identity: InodeIdentity
  /// The uid of the user who gets access.
  package var uid: UInt32
  /// The name of the user, for people; nil if there is none.
  package var user: String?
  /// The permissions of the user's entry after the change, or the mode bits that are added.
  package var permissions: Permissions
  /// The state before the change.
  package var before: State
  /// The state after the change.
  package var after: State
  /// How long the file system keeps the change.
  package var persistence: Persistence
  /// The attribute that changes.
  var attribute: InodeChange.Attribute
  /// The shell command that makes the same change.
  package var arguments: [PathBytes]
  /// The mode bits that the user needs, for `Attribute.mode`; nil in an old journal.
  var bits: UInt16?
  /// When this process last changed the inode, by `StatusFields.changed`; nil if unknown.
  var changed: Int64?
  /// What finds the inode again; nil in an old journal.
  package var anchor: InodeAnchor?

  /// Whether this changes the access ACL of a character device.
  package var isOfDevice: Bool { identity.type == 0o020000 && attribute == .accessACL }

  /// The change in one line for people, without the path.
  package var summary: String {
    let change =
      switch attribute {
      case .mode: "mode bits: \(arguments.dropFirst().first?.description ?? "")"
      case .accessACL: "ACL entry user:\(user ?? "\(uid)"):\(permissions)"
      case .defaultACL: "default ACL entry user:\(user ?? "\(uid)"):\(permissions)"
      }
    return before == after ? "\(change), kept from an earlier grant" : change
  }

  // MARK: - Reading

  private var name: ACLAttribute { attribute == .defaultACL ? .default : .access }

  func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the inode; nil if another inode or none is at the path.
  func open(_ system: any System) throws(PermissionError) -> Descriptor? {
    var call = "open"
    do throws(Errno) {
      let descriptor: Descriptor
      do throws(Errno) {
        descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      } catch .ENOENT {
        return nil
      } catch .ENOTDIR {
        return nil
      }
      call = "statx"
      do throws(Errno) {
        if identity.matches(InodeIdentity(try system.statx(descriptor))),
          isHandle(of: descriptor, system)
        {
          return descriptor
        }
      } catch {
        system.close(descriptor)
        throw error
      }
      system.close(descriptor)
      return nil
    } catch {
      throw failure("\(path) cannot be read", call, error)
    }
  }

  /// Returns whether an inode has the handle of the anchor, as far as both are known.
  private func isHandle(of descriptor: Descriptor, _ system: any System) -> Bool {
    guard let handle = anchor?.handle, let present = try? system.name_to_handle_at(descriptor)
    else { return true }
    return handle == present
  }

  /// Returns the present state of an inode.
  ///
  /// - Parameters:
  ///   - attribute: The attribute that changes.
  ///   - descriptor: The inode, open with O_PATH.
  ///   - system: The system to read from.
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
    } catch .EOPNOTSUPP {
    }
    return State(mode: mode, acl: nil)
  }

  func state(
    _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) -> State {
    do throws(Errno) {
      return try Self.state(attribute, of: descriptor, system)
    } catch {
      throw failure("mode and ACL of \(path) cannot be read", "getxattr", error)
    }
  }

  /// Returns whether the inode is in the state before or after the change.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    guard let descriptor = try open(system) else { return .neither }
    defer { system.close(descriptor) }
    let now = try state(descriptor, system)
    return now == before ? .before : now == after ? .after : .neither
  }

  // MARK: - Changing

  /// Changes the inode from a state to another one, by one system call.
  ///
  /// No system call exchanges an ACL for another one, so the state is read once more immediately
  /// before.
  func set(
    _ state: State, from old: State, _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) {
    if state == old { return }
    var call = "chmod"
    do throws(Errno) {
      let isMode = attribute == .mode || state.acl == old.acl
      // The kernel stores an ACL without named entries as the mode, so one call sets both.
      let acl = state.acl ?? AccessControlList(mode: state.mode)
      if !isMode, attribute == .accessACL || state.acl != nil {
        // The kernel keeps an ACL that names a user twice, which libacl does not call valid. Such an
        // ACL is changed and put back, but a valid one does not become such a one.
        call = "acl_valid"
        guard acl.isValid || state == before || old.acl?.isValid == false else { throw .EINVAL }
      }
      let bytes = acl.xattr
      call = "getxattr"
      guard try Self.state(attribute, of: descriptor, system) == old else { throw .EAGAIN }
      if isMode {
        call = "chmod"
        try system.chmod(descriptor, state.mode)
      } else if attribute == .accessACL || state.acl != nil {
        call = "setxattr"
        try system.setxattr(name, of: descriptor, bytes)
      } else {
        call = "removexattr"
        try system.removexattr(name, of: descriptor)
      }
    } catch .EAGAIN {
      throw failure(
        "mode or ACL of \(path) changed while it was read, so it was not changed", nil, .EAGAIN,
        advice: "try again")
    } catch {
      let advice: String? =
        error == .EPERM ? "only its owner or root may change it" : nil
      throw failure("\(path) cannot be changed", call, error, advice: advice)
    }
  }

  /// Changes the inode if it is the planned one and still in the planned state.
  package func execute(_ system: any System) throws(PermissionError) {
    guard let descriptor = try open(system) else {
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
      _ = try? release(descriptor, system, [self], 0)
      throw failure(
        "\(path) did not get the planned mode and ACL, because somebody else changes it; it was put back",
        advice: "try again")
    }
    system.close(again)
  }

  /// Restores the state `before`; if somebody else changed the inode since, removes only the granted
  /// access.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    switch try release(system, among: [self], at: 0) {
    case .released(let note, _): return note
    case .missing(let reason): throw failure(reason)
    }
  }

  /// Returns the time of the last change of the inode, if it is at its path; nil if unknown.
  func lastChange(_ system: any System) -> Int64? {
    guard let descriptor = (try? open(system)) ?? nil else { return nil }
    defer { system.close(descriptor) }
    return (try? system.statx(descriptor))?.changed
  }

  /// Returns the same change for the present device node; nil if no node of that driver is there.
  func retargetedToPresentNode(_ system: any System) throws(PermissionError) -> InodeGrant? {
    do throws(Errno) {
      let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      defer { system.close(descriptor) }
      let present = InodeIdentity(try system.statx(descriptor))
      guard present.type == identity.type, present.device.major == identity.device.major else {
        return nil
      }
      var copy = self
      copy.identity = present
      copy.anchor = nil
      return copy
    } catch .ENOENT {
      return nil
    } catch {
      throw failure("\(path) cannot be read", "open", error)
    }
  }

  /// Returns the same change for an inode in another state.
  func rebased(onto state: State) -> InodeGrant {
    var copy = self
    copy.before = state
    copy.after = state
    if attribute == .mode {
      let added = bits ?? after.mode & ~before.mode
      copy.after.mode = state.mode | added
      guard var acl = state.acl else { return copy }
      for (shift, tag): (UInt16, AccessControlList.Tag) in [(6, .owner), (3, .mask), (0, .other)] {
        acl.set(tag, adding: Permissions(rawValue: UInt8(added >> shift & 7)))
      }
      copy.after.acl = acl
      return copy
    }
    var inode = InodeFacts(kind: .regular, mode: state.mode, uid: 0, gid: 0, acl: state.acl)
    if attribute == .defaultACL { inode.mode = state.acl?.mode ?? 0 }
    let held = state.entry(of: uid)?.intersection(state.acl?.mask ?? .all)
    // An empty entry would take away what the user has as a member of a group.
    if !permissions.isEmpty, held?.isSuperset(of: permissions) != true {
      inode = inode.granting(permissions.union(held ?? []), to: uid)
    }
    copy.after = State(mode: attribute == .defaultACL ? 0 : inode.mode, acl: inode.acl)
    return copy
  }
}

extension AccessControlList {
  /// The nine mode bits of the ACL, as stat(2) shows them.
  var mode: UInt16 {
    entries.reduce(into: 0) { mode, entry in
      let bits = UInt16(entry.permissions.rawValue)
      switch entry.tag {
      case .owner: mode |= bits << 6
      case .mask: mode |= bits << 3
      case .owningGroup: if mask == nil { mode |= bits << 3 }
      case .other: mode |= bits
      case .user, .group: break
      }
    }
  }
}
