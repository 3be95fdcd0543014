// What belongs to whom, as the pictures of the grants of one inode tell.

/// What the pictures of the grants of an ACL tell about the entry of one user.
///
/// Between two pictures somebody else may have changed the entry or the mask.
struct EntryStanding {
  /// The effective rights of the entry that somebody else set last; nil if there is none.
  private(set) var own: Permissions?
  /// The rights of that entry, with those that the mask takes away.
  private(set) var raw: Permissions = []
  /// Whether the user had the rights of others, because the mask was empty.
  private var isOfOthers = false
  /// What each grant of the user still gives, by its index: no right that somebody else took away.
  private(set) var rights: [Int: Permissions] = [:]
  /// Whether the present entry is as the last grant left it.
  private(set) var isOurs = false

  init(
    _ now: InodeGrant.State, _ grants: [InodeGrant], _ uid: UInt32,
    _ attribute: InodeChange.Attribute
  ) {
    var last: InodeGrant.State?
    for (index, grant) in grants.enumerated() {
      see(grant.before, after: last, uid)
      let (entry, left) = (grant.before.entry(of: uid), grant.after.entry(of: uid))
      if grant.uid == uid, grant.attribute == attribute {
        rights[index] = grant.permissions
      } else if left != entry {
        // The grant of another user lowered what a mask had hidden.
        own = left.flatMap { own?.intersection($0) }
        raw.formIntersection(left ?? [])
      }
      last = grant.after
    }
    isOurs = last.map { $0.entry(of: uid) == now.entry(of: uid) } ?? false
    see(now, after: last, uid)
  }

  private mutating func see(
    _ state: InodeGrant.State, after last: InodeGrant.State?, _ uid: UInt32
  ) {
    let effective = state.effective(of: uid)
    let had = last?.effective(of: uid)
    if last == nil || state.entry(of: uid) != last?.entry(of: uid) {
      own = effective
      raw = state.entry(of: uid) ?? []
      isOfOthers = state.isUnread
    } else if let last, let effective, let had, own != nil, last.acl?.mask != state.acl?.mask {
      // Somebody else changed the mask.
      if state.isUnread {
        (own, isOfOthers) = (effective, true)
      } else if last.isUnread {
        (own, isOfOthers) = (raw.intersection(effective), false)
      } else {
        own = own?.intersection(effective).union(effective.subtracting(had).intersection(raw))
      }
    }
    if isOfOthers { own?.formIntersection(state.rest.union(raw)) }
    if last != nil, effective != had {
      rights = rights.mapValues { $0.intersection(effective ?? []) }
    }
  }
}

/// What the pictures of the grants tell about the mode bits of the owner, the group or others.
struct BitStanding {
  /// The bits that somebody else set last.
  private(set) var own: UInt16 = 0
  private var bits: [Int: UInt16] = [:]
  /// Whether the present bits are as the last grant left them.
  private(set) var isOurs = false

  init(_ now: InodeGrant.State, _ grants: [InodeGrant], _ mask: UInt16) {
    var last: UInt16?
    for (index, grant) in grants.enumerated() {
      see(grant.before.mode & mask, after: last)
      if grant.attribute == .mode, grant.bitClass == mask { bits[index] = grant.neededBits }
      last = grant.after.mode & mask
    }
    isOurs = last == now.mode & mask
    see(now.mode & mask, after: last)
  }

  private mutating func see(_ present: UInt16, after last: UInt16?) {
    guard present != last else { return }
    own = present
    bits = bits.mapValues { $0 & present }
  }

  /// Returns the bits that some of the grants still give, by their indices.
  func needed(_ isWanted: (Int) -> Bool) -> UInt16 {
    bits.reduce(0) { isWanted($1.key) ? $0 | $1.value : $0 }
  }
}

extension InodeGrant.State {
  /// The rights of everybody whom no entry names.
  var rest: Permissions {
    acl?.entries.first { $0.tag == .other }?.permissions ?? Permissions(rawValue: UInt8(mode & 7))
  }

  /// Returns the rights of a user's entry as the mask limits them; nil if there is none.
  ///
  /// The kernel does not look at an ACL with an empty mask: then the user has the rights of others.
  func effective(of uid: UInt32) -> Permissions? {
    entry(of: uid).map { isUnread ? rest : $0.intersection(acl?.mask ?? .all) }
  }

  /// Whether the kernel does not look at the ACL.
  var isUnread: Bool { acl?.mask?.isEmpty == true }

  /// Returns those of the entries that change nobody's rights.
  func harmless(_ entries: [AccessControlList.Entry]) -> [AccessControlList.Entry] {
    entries.filter { $0.permissions.intersection(acl?.mask ?? []).isSuperset(of: rest) }
  }

  /// Returns the entries of others that the grants removed, because an empty mask hid them; with the
  /// rights that everybody else has.
  ///
  /// There are none if somebody has written entries since: what they wrote is what they want.
  func dropped(by grants: [InodeGrant]) -> [AccessControlList.Entry] {
    func has(_ entries: [AccessControlList.Entry], _ entry: AccessControlList.Entry) -> Bool {
      entries.contains { $0.tag == entry.tag && $0.id == entry.id }
    }
    var dropped: [AccessControlList.Entry] = []
    var last: InodeGrant.State?
    for (index, grant) in grants.enumerated() {
      if let last, grant.before.differsByEntries(from: last) { dropped = [] }
      for entry in grant.before.acl?.entries ?? [] where entry.tag == .user || entry.tag == .group {
        guard !has(grant.after.acl?.entries ?? [], entry), !has(dropped, entry) else { continue }
        // An entry that an earlier grant made is nobody else's.
        let own = grants[..<index].first {
          entry.tag == .user && $0.uid == entry.id && $0.attribute != .mode
        }
        if let own, own.before.entry(of: entry.id) == nil { continue }
        dropped.append(.init(entry.tag, id: entry.id, entry.permissions.intersection(rest)))
      }
      last = grant.after
    }
    if let last, differsByEntries(from: last) { return [] }
    return dropped.filter { !has(acl?.entries ?? [], $0) }
  }

  /// Returns whether both differ by what chmod(1) never changes.
  private func differsByEntries(from other: InodeGrant.State) -> Bool {
    func entries(_ state: InodeGrant.State) -> [AccessControlList.Entry] {
      (state.acl?.entries ?? []).filter {
        $0.tag == .user || $0.tag == .group || $0.tag == .owningGroup && state.acl?.mask != nil
      }
    }
    return entries(self) != entries(other)
  }

  /// Returns the state with further entries; the mask stays as it is.
  func adding(_ entries: [AccessControlList.Entry], isDefault: Bool) -> InodeGrant.State {
    if entries.isEmpty { return self }
    var copy = self
    var list = acl ?? AccessControlList(mode: mode)
    if list.mask == nil {
      let group = list.entries.first { $0.tag == .owningGroup }?.permissions ?? []
      list.entries.append(.init(.mask, group))
    }
    list.entries += entries
    list.entries.sort { ($0.tag.rawValue, $0.id) < ($1.tag.rawValue, $1.id) }
    copy.acl = list
    return copy
  }

  /// Returns the entry of a user; nil if there is none.
  func entry(of uid: UInt32) -> Permissions? {
    acl?.entries.first { $0.tag == .user && $0.id == uid }?.permissions
  }

  /// Returns the state without these mode bits, in the mode and in the ACL.
  func clearing(_ bits: UInt16) -> InodeGrant.State { setting(mode & ~bits) }

  /// Returns the state with these mode bits too, in the mode and in the ACL.
  func adding(_ bits: UInt16) -> InodeGrant.State { setting(mode | bits) }

  /// Returns the state after a chmod(2).
  private func setting(_ mode: UInt16) -> InodeGrant.State {
    var copy = self
    copy.mode = mode
    guard var acl else { return copy }
    for (shift, tag): (UInt16, AccessControlList.Tag) in [(6, .owner), (3, .mask), (0, .other)] {
      for index in acl.entries.indices where acl.entries[index].tag == tag {
        acl.entries[index].permissions = Permissions(rawValue: UInt8(mode >> shift & 7))
      }
    }
    copy.acl = acl
    return copy
  }

  /// Returns the state with another entry of a user, or without one; nothing else changes.
  ///
  /// - Parameters:
  ///   - permissions: The permissions of the entry; nil removes it.
  ///   - uid: The user.
  ///   - isDefault: Whether this is a default ACL, which does not become a mode.
  /// - Returns: The state.
  func setting(
    _ permissions: Permissions?, of uid: UInt32, isDefault: Bool
  ) -> InodeGrant.State {
    guard var acl, let place = acl.entries.firstIndex(where: { $0.tag == .user && $0.id == uid })
    else { return self }
    var copy = self
    if let permissions {
      acl.entries[place].permissions = permissions
      copy.acl = acl
      return copy
    }
    acl.entries.remove(at: place)
    copy.acl = acl
    if acl.entries.contains(where: { $0.tag == .user || $0.tag == .group }) { return copy }
    // Without named entries the mask limits only the owning group, so apply it to the group entry.
    let mask = acl.mask ?? .all
    acl.entries.removeAll { $0.tag == .mask }
    for index in acl.entries.indices where acl.entries[index].tag == .owningGroup {
      acl.entries[index].permissions.formIntersection(mask)
    }
    copy.acl = isDefault ? acl : nil
    if !isDefault { copy.mode = mode & 0o7000 | acl.mode }
    return copy
  }
}
