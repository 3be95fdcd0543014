extension AccessControlList {
  /// Adds permissions to the entry with this tag.
  mutating func set(_ tag: Tag, adding permissions: Permissions) {
    for index in entries.indices where entries[index].tag == tag {
      entries[index].permissions.formUnion(permissions)
    }
  }
}

/// A change of the mode or ACL of one inode that gives the subject a right.
struct InodeChange: Hashable, Sendable {
  /// The attribute that one system call changes.
  enum Attribute: String, Hashable, Sendable {
    /// The mode, changed by chmod(2).
    case mode
    /// The access ACL and with it the mode, changed by setxattr(2).
    case accessACL = "access-acl"
    /// The default ACL of a directory, changed by setxattr(2).
    case defaultACL = "default-acl"
  }

  /// The index in `AccessFacts.inodes`.
  let inode: Int
  var attribute: Attribute
  var before: InodeFacts
  var after: InodeFacts
  /// The permissions of the subject's own entry or bits after the change.
  var permissions: Permissions
  /// The requested permissions; `permissions` may have others that an entry would hide.
  var asked: Permissions
  /// Whether these permissions are what was asked for, and not what the way there or an operation needs.
  var isAsked = false

  /// Whether the owning group or its bits change.
  var isOfGroup: Bool {
    attribute == .mode && (before.gid != after.gid || (before.mode ^ after.mode) & 0o070 != 0)
  }
}

extension InodeFacts {
  /// Returns the inode with another owning group and its bits, by which nobody loses anything; nil if that is impossible.
  fileprivate func given(_ permissions: Permissions, to group: UInt32) -> InodeFacts? {
    let (old, others) = (mode >> 3 & 7, mode & 7)
    // Who is in the old group has the rights of others then; and chown(2) clears the set-id bits.
    guard group != gid, old & ~others == 0, mode & 0o6000 == 0, acl == nil else { return nil }
    var changed = self
    changed.gid = group
    changed.mode = mode & ~0o070 | (others | UInt16(permissions.rawValue)) << 3
    return changed
  }

  /// Returns the inode with the first of these groups as its owning group; nil if that is impossible.
  func giving(_ permissions: Permissions, toOneOf groups: [UInt32]) -> InodeFacts? {
    groups.lazy.compactMap { given(permissions, to: $0) }.first
  }

  /// Returns the inode with an effective entry for `uid`; all others keep their effective rights.
  ///
  /// A wider mask would give back the rights that the mask took from other entries. These entries
  /// are lowered to the rights that they had in effect. If the mask is empty, the kernel does not
  /// read the ACL at all (see `acl_permission_check()` in fs/namei.c): the named entries had no
  /// effect and are removed.
  func granting(_ permissions: Permissions, to uid: UInt32) -> InodeFacts {
    let group = Permissions(rawValue: UInt8(mode >> 3 & 7))
    var list = acl ?? AccessControlList(mode: mode)
    let mask = list.mask ?? group
    let isUnread = acl != nil && group.isEmpty
    list.entries.removeAll { entry in
      switch entry.tag {
      case .user: isUnread || entry.id == uid
      case .group: isUnread
      case .mask: true
      case .owner, .owningGroup, .other: false
      }
    }
    let isWidened = !mask.isSuperset(of: permissions)
    for index in list.entries.indices where isWidened && list.entries[index].isMasked {
      list.entries[index].permissions.formIntersection(mask)
    }
    list.entries.append(.init(.user, id: uid, permissions))
    list.entries.append(.init(.mask, mask.union(permissions)))
    list.entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
    var changed = self
    changed.acl = list
    changed.mode = mode & ~0o070 | UInt16(mask.union(permissions).rawValue) << 3
    return changed
  }
}

extension AccessFacts {
  /// Returns a command on an inode's path that follows no link where others may put one.
  func physical(_ command: [PathBytes], _ inode: Int) -> [PathBytes] {
    let (file, folder) = (inodes[inode], inodes[inodes[inode].parent])
    let isSticky = folder.mode & 0o1000 != 0 && file.uid == 0
    guard command.first == "setfacl", inodes[inode].parent != inode,
      folder.uid != 0 || folder.mode & 0o022 != 0 && !isSticky
    else { return command }
    return ["setfacl", "-P"] + command.dropFirst()
  }
}

extension InodeChange {
  /// Returns the shell command that makes this change to `path`.
  func command(_ path: PathBytes) -> [PathBytes] {
    switch attribute {
    case .mode:
      let added = after.mode & ~before.mode
      let (who, shift) = added & 0o700 != 0 ? ("u", 6) : added & 0o070 != 0 ? ("g", 3) : ("o", 0)
      let bits = Permissions(rawValue: UInt8(added >> UInt16(shift) & 7))
      let letters = (before.gid == after.gid ? permissions : bits).letters
      return ["chmod", PathBytes("\(who)+\(letters)"), path]
    case .accessACL: return setfacl([], before.acl, after.acl, path)
    case .defaultACL: return setfacl(["-d"], before.defaultACL, after.defaultACL, path)
    }
  }

  /// Returns the shell command that restores the earlier state of `path`.
  func undo(_ path: PathBytes) -> [PathBytes] {
    switch attribute {
    case .mode:
      let added = after.mode & ~before.mode
      let (who, shift) = added & 0o700 != 0 ? ("u", 6) : added & 0o070 != 0 ? ("g", 3) : ("o", 0)
      let letters = Permissions(rawValue: UInt8(added >> UInt16(shift) & 7)).letters
      return ["chmod", PathBytes("\(who)-\(letters)"), path]
    case .accessACL:
      let new = after.acl ?? AccessControlList(mode: after.mode)
      return takenOut([], new, before.acl ?? AccessControlList(mode: before.mode), path)
    case .defaultACL:
      guard let acl = before.defaultACL else { return ["setfacl", "-k", path] }
      return takenOut(["-d"], after.defaultACL ?? AccessControlList([]), acl, path)
    }
  }

  /// Returns the command that takes out what was put in, and leaves what others put in since.
  private func takenOut(
    _ options: [PathBytes], _ new: AccessControlList, _ old: AccessControlList, _ path: PathBytes
  ) -> [PathBytes] {
    let added = new.entries.filter { old[ACLItem($0)] == nil }
    let changed = old.entries.filter { new[ACLItem($0)] != $0.permissions }
    // Nothing but entries of users, groups and the mask is ever added.
    let items = added.map { entry in
      entry.tag == .mask ? "m::" : "\(entry.tag == .user ? "u" : "g"):\(entry.id):"
    }
    var command: [PathBytes] = ["setfacl"] + options + ["-n"]
    if !items.isEmpty { command += ["-x", PathBytes(items.joined(separator: ","))] }
    if !changed.isEmpty { command += ["-m", PathBytes(AccessControlList(changed).brief)] }
    return command + [path]
  }

  private func setfacl(
    _ options: [PathBytes], _ before: AccessControlList?, _ after: AccessControlList?,
    _ path: PathBytes
  ) -> [PathBytes] {
    let none = attribute == .accessACL ? AccessControlList(mode: self.before.mode) : .init([])
    let old = (before ?? none).entries
    let new = after?.entries ?? []
    let isRemoved = old.contains { entry in
      !new.contains { $0.tag == entry.tag && $0.id == entry.id }
    }
    let text = AccessControlList(isRemoved ? new : new.filter { !old.contains($0) }).brief
    return ["setfacl"] + options + ["-n", isRemoved ? "--set" : "-m", PathBytes(text), path]
  }
}

extension HostSide {
  /// Returns the shell command that makes the change outside of the container, with the ids that
  /// users and groups have there.
  ///
  /// - Returns: Nil if somebody whom the command names has no number outside.
  func command(
    _ change: InodeChange, _ path: PathBytes, _ overflow: AccessFacts.Overflow?
  ) -> [PathBytes]? {
    let before = change.before.acl.map { outside($0, overflow) }
    let after = change.after.acl.map { outside($0, overflow) }
    var outer = change
    outer.before.acl = before?.list
    outer.after.acl = after?.list
    let command = outer.command(path)
    // What the ACL has already, the command names only where it sets the whole ACL.
    let news = (change.after.acl?.entries ?? []).filter { entry in
      change.before.acl?.entries.contains(entry) != true
    }
    let isNamed = outside(AccessControlList(news), overflow).isWhole
    return isNamed && (after?.isWhole != false || !command.contains("--set")) ? command : nil
  }
}
