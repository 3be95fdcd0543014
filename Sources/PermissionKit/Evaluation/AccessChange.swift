/// Changes of modes and ACLs as values, and who they reach besides the one they are meant for.

extension AccessEvaluator {
  /// Whether mode, ACL and capabilities permit `want` of the inode, nothing else being asked.
  func permits(_ want: Permissions, of inode: Int) -> Bool {
    var procedure = Procedure(self, "")
    return (try? procedure.generic(inode, want, .target)) != nil
  }
}

extension AccessControlList {
  /// Adds bits to the one entry of a kind.
  mutating func set(_ tag: Tag, adding permissions: Permissions) {
    for index in entries.indices where entries[index].tag == tag {
      entries[index].permissions.formUnion(permissions)
    }
  }
}

/// How long a change lasts.
public enum Persistence: String, Hashable, Sendable, Codable {
  /// Until udev sets the node up anew: re-plugged, driver reloaded, change event.
  case untilUdevEvent = "until-udev-event"
  /// Until the next boot, for the file system is in memory.
  case untilReboot = "until-reboot"
  /// Until the user logs out.
  case untilLogout = "until-logout"
  /// Until somebody changes it again.
  case permanent

  /// How long mode and ACL of an inode last on a file system of this type.
  init(fileSystem: String) {
    switch fileSystem {
    case "devtmpfs": self = .untilUdevEvent
    case "tmpfs", "ramfs": self = .untilReboot
    default: self = .permanent
    }
  }
}

/// A change of one inode's mode or ACL that lets the subject do what it could not.
struct InodeChange: Hashable, Sendable {
  /// What is changed, by one system call.
  enum Attribute: String, Hashable, Sendable, Codable {
    /// The mode, by chmod(2).
    case mode
    /// The access ACL, and with it the mode, by setxattr(2).
    case accessACL = "access-acl"
    /// The default ACL of a directory, by setxattr(2).
    case defaultACL = "default-acl"
  }

  /// Index into `AccessFacts.inodes`.
  let inode: Int
  var attribute: Attribute
  let before: InodeFacts
  var after: InodeFacts
  /// What the subject's own entry or bits hold afterwards.
  var permissions: Permissions
}

/// Finds the least changes that give a subject what it lacks, by trying them out on the facts.
///
/// Each component that refuses by its mode or ACL gets what the subject lacks there, for the subject
/// alone. The evaluator judges every step.
struct LeastChange {
  private(set) var facts: AccessFacts
  let credentials: Credentials
  private(set) var changes: [InodeChange] = []

  init(facts: AccessFacts, credentials: Credentials) {
    self.facts = facts
    self.credentials = credentials
  }

  /// Adds the changes that give `need` of `path`.
  ///
  /// - Returns: The decision with them made; where it is not granted, none of them would help.
  mutating func grant(_ need: Permissions, path: PathBytes, isDirectory: Bool) -> Decision {
    let (oldFacts, oldChanges) = (facts, changes)
    // Each round repairs one component, so there are no more rounds than components and rules.
    for _ in 0..<64 {
      let evaluator = AccessEvaluator(facts: facts, credentials: credentials)
      let decision = evaluator.decide(need, path, isDirectory: isDirectory)
      if decision.isGranted { return decision }
      let asked: Permissions = decision.step == .walk ? .execute : need
      guard decision.errno == .EACCES, let inode = decision.inode,
        let change = change(of: inode, decision.rule, asked: asked)
      else {
        (facts, changes) = (oldFacts, oldChanges)
        return decision
      }
      make(change)
    }
    (facts, changes) = (oldFacts, oldChanges)
    return AccessEvaluator(facts: facts, credentials: credentials)
      .decide(need, path, isDirectory: isDirectory)
  }

  /// Makes a change on the facts; several of one inode become one.
  private mutating func make(_ change: InodeChange) {
    facts.inodes[change.inode] = change.after
    if let known = changes.firstIndex(where: {
      $0.inode == change.inode && $0.attribute == change.attribute
    }) {
      changes[known].after = change.after
      changes[known].permissions = change.permissions
    } else {
      changes.append(change)
    }
  }

  /// The change that gives the subject what it lacks at one inode; nil where mode and ACL cannot be
  /// changed, or are not what refuses.
  private func change(of index: Int, _ rule: Rule, asked: Permissions) -> InodeChange? {
    let inode = facts.inodes[index]
    let mount = facts.mounts[inode.mount]
    guard !inode.isImmutable, !inode.isAppendOnly, !mount.isReadOnly, mount.idMapping == nil else {
      return nil
    }
    func change(bits shift: UInt16, _ tag: AccessControlList.Tag) -> InodeChange {
      var changed = inode
      changed.mode |= UInt16(asked.rawValue) << shift
      changed.acl?.set(tag, adding: asked)
      return InodeChange(
        inode: index, attribute: .mode, before: inode, after: changed, permissions: asked)
    }
    switch rule {
    case .ownerBits:
      // An ACL entry for the owner would be inert: the owner's bits are what counts.
      return change(bits: 6, .owner)
    case .groupBits where inode.hasACLs == false: return change(bits: 3, .owningGroup)
    case .otherBits where inode.hasACLs == false: return change(bits: 0, .other)
    case .groupBits, .otherBits, .groupBitsMaskEmpty, .otherBitsMaskEmpty, .aclUser,
      .aclOwningGroup, .aclGroup, .aclOther, .maskLimitsUser, .maskLimitsOwningGroup,
      .maskLimitsGroup:
      // The new entry takes the subject out of group and other: it keeps what it had.
      let evaluator = AccessEvaluator(facts: facts, credentials: credentials)
      let had = [Permissions.read, .write, .execute].filter { evaluator.permits($0, of: index) }
      let entry = asked.union(Permissions(had))
      return InodeChange(
        inode: index, attribute: .accessACL, before: inode,
        after: inode.granting(entry, to: credentials.user.fileSystem), permissions: entry)
    default: return nil
    }
  }
}

extension InodeFacts {
  /// The inode with a named entry for `uid` that takes effect, all other entries keeping just what
  /// they had in effect.
  ///
  /// A mask that must be widened would give back what it hid: those entries are lowered to what
  /// they effectively were. With an empty mask the ACL was not read at all (see
  /// `acl_permission_check()` in fs/namei.c): its named entries stood for nothing, and go.
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
    for index in list.entries.indices where list.entries[index].isMasked {
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

extension InodeChange {
  /// What an administrator would type to make the change of `path`.
  func command(_ path: PathBytes) -> [PathBytes] {
    switch attribute {
    case .mode:
      let added = after.mode & ~before.mode
      let who = added & 0o700 != 0 ? "u" : added & 0o070 != 0 ? "g" : "o"
      return ["chmod", PathBytes("\(who)+\(permissions.letters)"), path]
    case .accessACL: return setfacl([], before.acl, after.acl, path)
    case .defaultACL: return setfacl(["-d"], before.defaultACL, after.defaultACL, path)
    }
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
    let text = (isRemoved ? new : new.filter { !old.contains($0) }).map(Self.text)
    return ["setfacl"] + options + ["-n", isRemoved ? "--set" : "-m"]
      + [PathBytes(text.joined(separator: ",")), path]
  }

  /// The entry as setfacl(1) takes it.
  private static func text(_ entry: AccessControlList.Entry) -> String {
    switch entry.tag {
    case .owner: "u::\(entry.permissions)"
    case .user: "u:\(entry.id):\(entry.permissions)"
    case .owningGroup: "g::\(entry.permissions)"
    case .group: "g:\(entry.id):\(entry.permissions)"
    case .mask: "m::\(entry.permissions)"
    case .other: "o::\(entry.permissions)"
    }
  }
}

/// Every class of subject that two ACLs of an inode can tell apart, and what each gains.
///
/// A class is a user id that one of the ACLs names or the owner, or nobody in particular, each with
/// every subset of the groups that are named. None has capabilities.
struct SubjectClasses {
  enum Who: Hashable {
    case user(UInt32)
    case groups([UInt32])
    case others
  }

  struct Gain: Hashable {
    var who: Who
    var permissions: Permissions
  }

  let gains: [Gain]
  /// Classes that are permitted less than before.
  let losses: [Gain]

  /// Compares, for each class, what is permitted before and after.
  ///
  /// - Parameters:
  ///   - old: The inode as it is.
  ///   - new: The inode with the change made.
  ///   - uid: The subject for whom the change is meant, who is left out.
  init(of old: InodeFacts, and new: InodeFacts, without uid: UInt32) {
    let entries = (old.acl?.entries ?? []) + (new.acl?.entries ?? [])
    let users = Set(entries.filter { $0.tag == .user }.map(\.id) + [old.uid]).subtracting([uid])
    let groups = Set(entries.filter { $0.tag == .group }.map(\.id) + [old.gid]).sorted()
    // Beyond a dozen groups the subsets that matter are the single ones and the pairs.
    var subsets: [[UInt32]] = [[]]
    if groups.count <= 12 {
      for group in groups { subsets += subsets.map { $0 + [group] } }
    } else {
      for (index, group) in groups.enumerated() {
        subsets.append([group])
        subsets += groups[(index + 1)...].map { [group, $0] }
      }
    }
    let (oldEvaluator, newEvaluator) = (Self.evaluator(old), Self.evaluator(new))
    let stranger = Self.unused(Set(entries.map(\.id) + [old.uid, old.gid, uid]))
    var gains: [Gain] = []
    var losses: [Gain] = []
    for user in users.sorted() + [stranger] {
      for subset in subsets {
        let who: Who = user != stranger ? .user(user) : subset.isEmpty ? .others : .groups(subset)
        let credentials = Credentials(
          user: .init(user), group: .init(stranger), groups: subset, effective: [])
        let before = Self.permitted(oldEvaluator, credentials)
        let after = Self.permitted(newEvaluator, credentials)
        let gained = Permissions(after.subtracting(before))
        if !gained.isEmpty, !gains.contains(where: { $0.who == who }) {
          gains.append(Gain(who: who, permissions: gained))
        }
        let lost = Permissions(before.subtracting(after))
        if !lost.isEmpty, !losses.contains(where: { $0.who == who }) {
          losses.append(Gain(who: who, permissions: lost))
        }
      }
    }
    self.gains = gains
    self.losses = losses
  }

  private static func unused(_ ids: Set<UInt32>) -> UInt32 {
    var id: UInt32 = 4_000_000_000
    while ids.contains(id) { id += 1 }
    return id
  }

  /// Judges the inode alone; for whom is told later.
  private static func evaluator(_ inode: InodeFacts) -> AccessEvaluator {
    var inode = inode
    inode.mount = 0
    return AccessEvaluator(
      facts: AccessFacts(inodes: [inode], mounts: [MountFacts()]),
      credentials: Credentials(uid: 0, gid: 0, groups: []))
  }

  /// Every combination of bits that is permitted: a group may grant r and w, and refuse both at
  /// once.
  private static func permitted(
    _ evaluator: AccessEvaluator, _ credentials: Credentials
  ) -> Set<Permissions> {
    let evaluator = AccessEvaluator(evaluator, credentials: credentials)
    return Set((1...7).map(Permissions.init(rawValue:)).filter { evaluator.permits($0, of: 0) })
  }
}
