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
    let given = try givenByOthers(descriptor, system, grants)
    if !given.isBySeat, let (target, rebased) = exactly(now, grants, place) {
      try set(target, from: now, descriptor, system)
      return .released(note: nil, rebased: rebased.mapValues { $0.marked(descriptor, system) })
    }
    let remains = remaining(now, grants, [place], given)
    try set(remains.state, from: now, descriptor, system)
    var rebased: [Int: InodeGrant] = [:]
    for (index, grant) in grants.enumerated() where index != place {
      var copy = grant
      copy.after = remains.state
      copy.before =
        grant.attribute == .mode
        ? remains.state
        : remains.state.setting(
          grant.own(in: grants), of: grant.uid, isDefault: grant.attribute == .defaultACL)
      rebased[index] = copy.marked(descriptor, system)
    }
    return .released(note: remains.note, rebased: rebased)
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
      let one = grants[first]
      let given = Given(entry: one.own(in: grants), owner: inode.uid)
      let state = one.remaining(State(inode, attribute), grants, Set(places), given).state
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

  /// What others gave the user before or beside the grants.
  private struct Given {
    /// The entry of the user that is not from a grant; nil if there is none.
    var entry: Permissions?
    /// Whether logind gives the device to the user now, by the same entry.
    var isBySeat = false
    /// The owner of the inode.
    var owner: UInt32
  }

  private func givenByOthers(
    _ descriptor: Descriptor, _ system: any System, _ grants: [InodeGrant]
  ) throws(PermissionError) -> Given {
    let status: StatusFields
    do throws(Errno) {
      status = try system.statx(descriptor)
    } catch {
      throw failure("\(path) cannot be read", "statx", error)
    }
    var given = Given(entry: own(in: grants), owner: status.uid)
    // Nobody has set the entry again since the last grant.
    let isUntouched =
      status.changed != nil && grants.compactMap(\.changed).max() == status.changed
    if !isUntouched, attribute == .accessACL, status.kind == .characterDevice,
      Seats(system).give(status.device, to: uid)
    {
      // See devnode_acl() in systemd's src/login/logind-seat-dbus.c: the seat gives rw.
      given.entry = (given.entry ?? []).union([.read, .write])
      given.isBySeat = true
    }
    return given
  }

  /// Returns the effective rights of the entry that somebody else gave the user; nil if there is none.
  ///
  /// An entry that differs from the one that the grant before left is somebody else's.
  private func own(in grants: [InodeGrant]) -> Permissions? {
    var own: Permissions?
    var expected: Permissions?
    var isFirst = true
    for grant in grants where grant.uid == uid && grant.attribute == attribute {
      let entry = grant.before.entry(of: uid)
      if isFirst || entry != expected {
        own = entry.map { $0.intersection(grant.before.acl?.mask ?? .all) }
      }
      isFirst = false
      expected = grant.after.entry(of: uid)
    }
    return own
  }

  /// Returns the present state without what only the grants at `places` give, which are like this one.
  private func remaining(
    _ now: State, _ grants: [InodeGrant], _ places: Set<Int>, _ given: Given
  ) -> (state: State, note: String?) {
    let same = grants.filter { $0.uid == uid && $0.attribute == attribute }
    let others = grants.indices.filter { index in
      !places.contains(index) && grants[index].uid == uid
        && grants[index].attribute == attribute
    }.map { grants[$0] }
    let theirs = "somebody else changed the access of \(user ?? "uid \(uid)") to \(path) meanwhile"
    guard let last = same.last else { return (now, nil) }
    if attribute == .mode { return remainingBits(now, grants, places, given, theirs) }
    guard let entry = now.entry(of: uid) else {
      return (now, "\(path) no longer has the granted access")
    }
    guard entry == last.after.entry(of: uid) else { return (now, "\(theirs), so it was left") }
    var kept = given.entry
    for other in others { kept = (kept ?? []).union(other.permissions) }
    let state = now.setting(
      kept.map { $0.intersection(entry) }, of: uid, isDefault: attribute == .defaultACL)
    if given.isBySeat { return (state, "the seat gives \(path) to \(user ?? "uid \(uid)") now") }
    return (state, state == now ? nil : meanwhile)
  }

  /// Returns the present state without the mode bits that only the grants at `places` give.
  private func remainingBits(
    _ now: State, _ grants: [InodeGrant], _ places: Set<Int>, _ given: Given, _ theirs: String
  ) -> (state: State, note: String?) {
    var bits = neededBits
    let mask: UInt16 = bits & 0o700 != 0 ? 0o700 : bits & 0o070 != 0 ? 0o070 : 0o007
    if mask == 0o700, given.owner != uid {
      return (now, "\(path) has another owner now, so its mode was left")
    }
    var own: UInt16?
    var expected: UInt16 = 0
    var needed: UInt16 = 0
    for (index, grant) in grants.enumerated() where grant.attribute == .mode {
      let before = grant.before.mode & mask
      if own == nil || before != expected { own = before }
      expected = grant.after.mode & mask
      if places.contains(index) { bits |= grant.neededBits } else { needed |= grant.neededBits }
    }
    guard now.mode & mask == expected else { return (now, "\(theirs), so it was left") }
    let state = now.clearing(bits & ~needed & ~(own ?? 0))
    return (state, state == now ? nil : meanwhile)
  }

  private var meanwhile: String {
    "somebody else changed \(path) meanwhile; only the granted access was removed"
  }

  /// The mode bits that the grant needs.
  private var neededBits: UInt16 { bits ?? after.mode & ~before.mode }
}

extension InodeGrant.State {
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
