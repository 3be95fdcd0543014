// Takes back what a grant gave, and leaves what other grants and other people gave.

extension InodeGrant {
  /// The result of taking back a grant.
  enum Release {
    /// The grant has ended.
    ///
    /// The note says what was left, for people. `rebased` has the other grants of the inode as they
    /// are now, by their index; empty if they are unchanged.
    case released(note: String?, rebased: [Int: InodeGrant])
    /// The inode is not found, so the grant may still give access.
    case missing(String)
  }

  /// Returns whether both change the same ACL of the same inode.
  func isSameACL(as other: InodeGrant) -> Bool {
    identity.matches(other.identity)
      && (anchor?.handle == nil || other.anchor?.handle == nil
        || anchor?.handle == other.anchor?.handle)
      && (attribute == .defaultACL) == (other.attribute == .defaultACL)
  }

  /// Takes back this grant.
  ///
  /// - Parameters:
  ///   - system: The system to change.
  ///   - grants: The open grants of the same ACL in the order in which they were made, with this one.
  ///   - place: The index of this grant.
  /// - Returns: The result.
  /// - Throws: If the inode cannot be read or changed.
  func release(
    _ system: any System, among grants: [InodeGrant], at place: Int
  ) throws(PermissionError) -> Release {
    var again = 0
    while true {
      switch try locate(system) {
      case .deleted: return .released(note: "\(path) was deleted", rebased: [:])
      case .missing(let reason): return .missing(reason)
      case .found(let descriptor):
        defer { system.close(descriptor) }
        do throws(PermissionError) {
          return try release(descriptor, system, grants, place)
        } catch {
          // Somebody else changed the inode meanwhile.
          again += 1
          guard error.errno == .EAGAIN, again < 100 else { throw error }
        }
      }
    }
  }

  func release(
    _ descriptor: Descriptor, _ system: any System, _ grants: [InodeGrant], _ place: Int
  ) throws(PermissionError) -> Release {
    let now = try state(descriptor, system)
    let status: StatusFields
    do throws(Errno) {
      status = try system.statx(descriptor)
    } catch {
      throw failure("\(path) cannot be read", "statx", error)
    }
    let isBySeat = isGivenBySeat(status, grants, system)
    if !isBySeat, let (target, rebased) = exactly(now, grants, place) {
      try set(target, from: now, descriptor, system)
      return .released(note: nil, rebased: rebased.mapValues { $0.marked(descriptor, system) })
    }
    var (target, note) = remaining(now, grants, [place], owner: status.uid, isBySeat: isBySeat)
    let rest = grants.indices.filter { $0 != place }
    let dropped = now.dropped(by: grants)
    if rest.isEmpty { target = target.adding(dropped, isDefault: attribute == .defaultACL) }
    try set(target, from: now, descriptor, system)
    var rebased: [Int: InodeGrant] = [:]
    for index in rest {
      // Only the first grant of a user has the state without what the user got.
      var copy = grants[index]
      copy.after = target
      let isFirst = !rest.contains { $0 < index && grants[$0].gives(likes: copy) }
      copy.before = isFirst ? copy.without(rest, among: grants, now, target) : target
      if index == rest.first {
        copy.before = copy.before.adding(dropped, isDefault: attribute == .defaultACL)
      }
      rebased[index] = copy.marked(descriptor, system)
    }
    return .released(note: note, rebased: rebased)
  }

  /// Returns whether logind gives the device to the user now, by an entry that it set after the grants.
  private func isGivenBySeat(
    _ status: StatusFields, _ grants: [InodeGrant], _ system: any System
  ) -> Bool {
    // Nobody has set the entry again since the last grant.
    if let changed = status.changed, grants.compactMap(\.changed).max() == changed { return false }
    return attribute == .accessACL && status.kind == .characterDevice
      && Seats(system).give(status.device, to: uid)
  }

  /// Returns whether both give the same user rights in the same way.
  private func gives(likes other: InodeGrant) -> Bool {
    attribute == .mode
      ? other.attribute == .mode && bitClass == other.bitClass
      : other.uid == uid && other.attribute == attribute
  }

  /// Returns the state without what the remaining grants give the user.
  private func without(
    _ rest: [Int], among grants: [InodeGrant], _ now: State, _ target: State
  ) -> State {
    if attribute == .mode {
      let standing = BitStanding(now, grants, bitClass)
      return target.clearing(standing.needed { rest.contains($0) } & ~standing.own)
    }
    return target.setting(
      EntryStanding(now, grants, uid, attribute).own, of: uid,
      isDefault: attribute == .defaultACL)
  }

  /// Returns an inode as it would be without some of its grants to this user.
  ///
  /// - Parameters:
  ///   - inode: The inode as it is.
  ///   - grants: The open grants of its access ACL, in the order in which they were made.
  ///   - uid: The user.
  ///   - isHeld: Returns whether to leave out a grant, by its index.
  /// - Returns: The inode without these grants.
  static func inode(
    _ inode: InodeFacts, among grants: [InodeGrant], for uid: UInt32, without isHeld: (Int) -> Bool
  ) -> InodeFacts {
    var inode = inode
    for attribute in [InodeChange.Attribute.mode, .accessACL] {
      let places = grants.indices.filter {
        isHeld($0) && grants[$0].uid == uid && grants[$0].attribute == attribute
      }
      guard let first = places.first else { continue }
      let state = grants[first].remaining(
        State(inode, attribute), grants, Set(places), owner: inode.uid, isBySeat: false
      ).state
      inode.mode = state.mode
      inode.acl = state.acl
    }
    return inode
  }

  /// Returns the same grant with the time of the change that this process just made.
  private func marked(_ descriptor: Descriptor, _ system: any System) -> InodeGrant {
    var copy = self
    copy.changed = (try? system.statx(descriptor))?.changed
    return copy
  }

  // MARK: - Nobody else changed the inode

  /// Returns the state without this grant and the other grants as they are then; nil if somebody else
  /// changed the inode after this grant was made.
  private func exactly(
    _ now: State, _ grants: [InodeGrant], _ place: Int
  ) -> (State, [Int: InodeGrant])? {
    var state = before
    var last = after
    var rebased: [Int: InodeGrant] = [:]
    for index in grants.indices.dropFirst(place + 1) {
      let later = grants[index]
      guard later.before == last else { return nil }
      last = later.after
      let moved = later.rebased(onto: state)
      rebased[index] = moved
      state = moved.after
    }
    // A process that was killed may have made this change already.
    return now == last || now == state ? (state, rebased) : nil
  }

  // MARK: - Somebody else changed the inode

  /// Returns the present state without what only the grants at `places` give, which are like this one.
  private func remaining(
    _ now: State, _ grants: [InodeGrant], _ places: Set<Int>, owner: UInt32, isBySeat: Bool
  ) -> (state: State, note: String?) {
    let theirs =
      "somebody else changed the access of \(user ?? "uid \(uid)") to \(path) meanwhile, so it was left"
    if attribute == .mode {
      if bitClass == 0o700, owner != uid {
        return (now, "\(path) has another owner now, so its mode was left")
      }
      let standing = BitStanding(now, grants, bitClass)
      guard standing.isOurs else { return (now, theirs) }
      let bits = standing.needed { places.contains($0) }
      let state = now.clearing(bits & ~standing.needed { !places.contains($0) } & ~standing.own)
      return (state, state == now ? nil : meanwhile)
    }
    let standing = EntryStanding(now, grants, uid, attribute)
    guard let entry = now.entry(of: uid) else {
      return (now, "\(path) no longer has the granted access")
    }
    guard standing.isOurs else { return (now, theirs) }
    var kept = standing.own
    if isBySeat {
      // See devnode_acl() in systemd's src/login/logind-seat-dbus.c: the seat gives rw.
      kept = (kept ?? []).union([.read, .write])
    }
    for (place, rights) in standing.rights where !places.contains(place) && !rights.isEmpty {
      kept = (kept ?? []).union(rights)
    }
    let state = now.setting(
      kept.map { $0.intersection(entry) }, of: uid, isDefault: attribute == .defaultACL)
    if isBySeat { return (state, "the seat gives \(path) to \(user ?? "uid \(uid)") now") }
    return (state, state == now ? nil : meanwhile)
  }

  private var meanwhile: String {
    "somebody else changed \(path) meanwhile; only the granted access was removed"
  }

  /// The bits of the owner, the group or others, whichever this grant is about.
  fileprivate var bitClass: UInt16 {
    neededBits & 0o700 != 0 ? 0o700 : neededBits & 0o070 != 0 ? 0o070 : 0o007
  }

  /// The mode bits that the grant needs.
  fileprivate var neededBits: UInt16 { bits ?? after.mode & ~before.mode }
}

/// What the pictures of the grants of an ACL tell about the entry of one user.
///
/// Between two pictures somebody else may have changed the entry or the mask.
private struct EntryStanding {
  /// The effective rights of the entry that somebody else set last; nil if there is none.
  private(set) var own: Permissions?
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
    guard let last else {
      own = effective
      return
    }
    if state.entry(of: uid) != last.entry(of: uid) { own = effective }
    if effective != last.effective(of: uid) {
      rights = rights.mapValues { $0.intersection(effective ?? []) }
    }
  }
}

/// What the pictures of the grants tell about the mode bits of the owner, the group or others.
private struct BitStanding {
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
  /// Returns the rights of a user's entry as the mask limits them; nil if there is none.
  func effective(of uid: UInt32) -> Permissions? {
    entry(of: uid).map { $0.intersection(acl?.mask ?? .all) }
  }

  /// Returns the entries of others that the grants removed, because an empty mask hid them, and that
  /// nobody has made again; with the rights that everybody else has.
  func dropped(by grants: [InodeGrant]) -> [AccessControlList.Entry] {
    let others = acl?.entries.first { $0.tag == .other }?.permissions
    let rest = others ?? Permissions(rawValue: UInt8(mode & 7))
    func has(_ entries: [AccessControlList.Entry], _ entry: AccessControlList.Entry) -> Bool {
      entries.contains { $0.tag == entry.tag && $0.id == entry.id }
    }
    var dropped: [AccessControlList.Entry] = []
    for grant in grants {
      for entry in grant.before.acl?.entries ?? [] where entry.tag == .user || entry.tag == .group {
        guard !has(grant.after.acl?.entries ?? [], entry), !has(acl?.entries ?? [], entry),
          !has(dropped, entry)
        else { continue }
        // An entry that a grant made is nobody else's.
        let own = grants.first { entry.tag == .user && $0.uid == entry.id && $0.attribute != .mode }
        if let own, own.before.entry(of: entry.id) == nil { continue }
        dropped.append(.init(entry.tag, id: entry.id, entry.permissions.intersection(rest)))
      }
    }
    return dropped
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
  func clearing(_ bits: UInt16) -> InodeGrant.State {
    var copy = self
    copy.mode &= ~bits
    guard var acl else { return copy }
    for (shift, tag): (UInt16, AccessControlList.Tag) in [(6, .owner), (3, .mask), (0, .other)] {
      for index in acl.entries.indices where acl.entries[index].tag == tag {
        acl.entries[index].permissions.subtract(Permissions(rawValue: UInt8(bits >> shift & 7)))
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
