/// An ACL entry of one user, or mode bits, of one inode: changed by a single system call.
package struct InodeGrant: GrantCommand {
  /// What is changed of an inode: its mode and its access ACL, or its default ACL alone.
  package struct State: Hashable, Sendable {
    /// The bits 07777; 0 for a default ACL.
    package var mode: UInt16
    /// The ACL; nil when the mode says it all.
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

  /// Where the inode is: absolute, without links.
  package var path: PathBytes
  /// Which inode it is; another one at the same path is left alone.
  package var identity: InodeIdentity
  /// For whom.
  package var uid: UInt32
  /// The user's name, for people; nil where there is none.
  package var user: String?
  /// What the user's entry holds afterwards, or which bits are added.
  package var permissions: Permissions
  /// How it was before.
  package var before: State
  /// How it is to be afterwards.
  package var after: State
  /// How long the file system keeps it.
  package var persistence: Persistence
  var attribute: InodeChange.Attribute
  /// See `arguments`.
  package var arguments: [PathBytes]

  /// The change as a person would tell it, without the path.
  package var summary: String {
    switch attribute {
    case .mode: "mode bits: \(arguments.dropFirst().first?.description ?? "")"
    case .accessACL: "ACL entry user:\(user ?? "\(uid)"):\(permissions)"
    case .defaultACL: "default ACL entry user:\(user ?? "\(uid)"):\(permissions)"
    }
  }

  // MARK: - Looking

  private var name: ACLAttribute { attribute == .defaultACL ? .default : .access }

  private func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens what is at the path now; nil when it is not the inode that is meant, or nothing.
  private func open(_ system: any System) throws(PermissionError) -> Descriptor? {
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
        if InodeIdentity(try system.statx(descriptor)) == identity { return descriptor }
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

  private func state(
    _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) -> State {
    do throws(Errno) {
      return try Self.state(attribute, of: descriptor, system)
    } catch {
      throw failure("mode and ACL of \(path) cannot be read", "getxattr", error)
    }
  }

  /// Whether it is made.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    guard let descriptor = try open(system) else { return .neither }
    defer { system.close(descriptor) }
    let now = try state(descriptor, system)
    return now == before ? .before : now == after ? .after : .neither
  }

  // MARK: - Changing

  private func set(
    _ state: State, from old: State, _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) {
    var call = "chmod"
    do throws(Errno) {
      guard state.acl != old.acl else { return try system.chmod(descriptor, state.mode) }
      if attribute == .mode { return try system.chmod(descriptor, state.mode) }
      guard attribute == .accessACL || state.acl != nil else {
        call = "removexattr"
        return try system.removexattr(name, of: descriptor)
      }
      // An ACL that says no more than the mode is kept as the mode: one call for both.
      let acl = state.acl ?? AccessControlList(mode: state.mode)
      call = "acl_valid"
      guard acl.isValid else { throw .EINVAL }
      call = "setxattr"
      try system.setxattr(name, of: descriptor, acl.xattr)
    } catch {
      let advice: String? =
        error == .EPERM ? "only its owner or root may change it" : nil
      throw failure("\(path) cannot be changed", call, error, advice: advice)
    }
  }

  /// Makes the change of the very inode that was planned for, as it was then.
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
      try? set(before, from: done, descriptor, system)
      throw failure(
        "\(path) did not get the planned mode and ACL, because somebody else changes it; it was put back",
        advice: "try again")
    }
    system.close(again)
  }

  /// Puts the inode back to `before`, or, when somebody else has changed it since, takes out just
  /// what was put in.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    guard let descriptor = try open(system) else {
      return "\(path) was removed or replaced"
    }
    defer { system.close(descriptor) }
    let now = try state(descriptor, system)
    if now == before { return nil }
    if now == after {
      try set(before, from: now, descriptor, system)
      return nil
    }
    guard let without = try withoutOwn(now) else {
      return "\(path) no longer has the granted access"
    }
    try set(without, from: now, descriptor, system)
    return "somebody else changed \(path) meanwhile; only the granted access was removed"
  }

  /// The same change of the device node that is at the path now; nil when none of the same driver is.
  func ofPresentNode(_ system: any System) throws(PermissionError) -> InodeGrant? {
    do throws(Errno) {
      let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      defer { system.close(descriptor) }
      let present = InodeIdentity(try system.statx(descriptor))
      guard present.type == identity.type, present.device.major == identity.device.major else {
        return nil
      }
      var copy = self
      copy.identity = present
      return copy
    } catch .ENOENT {
      return nil
    } catch {
      throw failure("\(path) cannot be read", "open", error)
    }
  }

  /// The state without what this command put in; nil when it is not there any more.
  ///
  /// - Throws: Where it is there in part, so that it cannot be told what is whose.
  private func withoutOwn(_ now: State) throws(PermissionError) -> State? {
    let conflict = failure(
      "somebody else changed \(path), so the granted access cannot be told from that change",
      advice: "check \(path) with getfacl and change it by hand")
    if attribute == .mode {
      let added = after.mode & ~before.mode
      guard now.mode & added != 0 else { return nil }
      guard now.mode & added == added else { throw conflict }
      return State(mode: now.mode & ~added, acl: now.acl)
    }
    func own(_ acl: AccessControlList?) -> AccessControlList.Entry? {
      acl?.entries.first { $0.tag == .user && $0.id == uid }
    }
    guard var acl = now.acl, let entry = own(acl), entry != own(before.acl) else { return nil }
    guard entry == own(after.acl) else { throw conflict }
    acl.entries.removeAll { $0 == entry }
    if let earlier = own(before.acl) {
      acl.entries.append(earlier)
      acl.entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
    }
    guard !acl.entries.contains(where: { $0.tag == .user || $0.tag == .group }) else {
      return State(mode: now.mode, acl: acl)
    }
    // The mask bounds nobody but the group now, whose bits become what they were in effect.
    let mask = acl.mask ?? .all
    acl.entries.removeAll { $0.tag == .mask }
    for index in acl.entries.indices where acl.entries[index].tag == .owningGroup {
      acl.entries[index].permissions.formIntersection(mask)
    }
    guard attribute == .accessACL else { return State(mode: 0, acl: acl) }
    let digits = acl.entries.reduce(into: now.mode & 0o7000) { mode, entry in
      let shift: UInt16 = entry.tag == .owner ? 6 : entry.tag == .owningGroup ? 3 : 0
      mode |= UInt16(entry.permissions.rawValue) << shift
    }
    return State(mode: digits, acl: nil)
  }

  /// The same change, made of another state than it was planned on.
  func rebased(onto state: State) -> InodeGrant {
    var copy = self
    copy.before = state
    copy.after = state
    if attribute == .mode {
      let added = after.mode & ~before.mode
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
    inode = inode.granting(permissions, to: uid)
    copy.after = State(mode: attribute == .defaultACL ? 0 : inode.mode, acl: inode.acl)
    return copy
  }
}

extension AccessControlList {
  /// The nine bits that stand for it where its named entries are not shown.
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
