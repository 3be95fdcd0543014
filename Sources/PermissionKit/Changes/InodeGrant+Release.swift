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
  ///   - isAgain: Whether a process that was killed may have done it already.
  /// - Returns: The result.
  /// - Throws: If the inode cannot be read or changed.
  func release(
    _ system: any System, among grants: [InodeGrant], at place: Int, isAgain: Bool = false
  ) throws(PermissionError) -> Release {
    var again = 0
    while true {
      switch try locate(system) {
      case .deleted: return .released(note: "\(path) was deleted", rebased: [:])
      case .missing(let reason): return .missing(reason)
      case .found(let descriptor):
        defer { system.close(descriptor) }
        do throws(PermissionError) {
          return try release(descriptor, system, grants, place, isAgain: isAgain)
        } catch {
          // Somebody else changed the inode meanwhile.
          again += 1
          guard error.errno == .EAGAIN, again < 100 else { throw error }
        }
      }
    }
  }

  func release(
    _ descriptor: Descriptor, _ system: any System, _ grants: [InodeGrant], _ place: Int,
    isAgain: Bool = false
  ) throws(PermissionError) -> Release {
    let present = try state(descriptor, system)
    let status: StatusFields
    do throws(Errno) {
      status = try system.statx(descriptor)
    } catch {
      throw failure("\(path) cannot be read", "statx", error)
    }
    let isBySeat = isGivenBySeat(status, grants, system)
    if !isBySeat, let (target, rebased) = exactly(present, grants, place) {
      try set(target, from: present, descriptor, system)
      return .released(note: nil, rebased: rebased.mapValues { $0.marked(descriptor, system) })
    }
    let earlier = isAgain ? beforeRelease(present, grants, place, owner: status.uid) : nil
    let now = earlier ?? present
    var (target, note) = remaining(now, grants, [place], owner: status.uid, isBySeat: isBySeat)
    let rest = grants.indices.filter { $0 != place }
    let dropped = now.dropped(by: grants)
    if rest.isEmpty {
      target = target.adding(target.harmless(dropped), isDefault: attribute == .defaultACL)
    }
    try set(target, from: present, descriptor, system)
    var rebased: [Int: InodeGrant] = [:]
    for index in rest {
      // Only the first grant of a user has the state without what the user got.
      var copy = grants[index].reduced(index, now, grants)
      copy.after = target
      let isFirst = !rest.contains { $0 < index && grants[$0].gives(likes: copy) }
      copy.before = isFirst ? copy.without(rest, among: grants, now, target) : target
      if index == rest.first {
        copy.before = copy.before.adding(
          copy.before.harmless(dropped), isDefault: attribute == .defaultACL)
      }
      rebased[index] = copy.marked(descriptor, system)
    }
    return .released(note: note, rebased: rebased)
  }

  /// Returns whether logind gives the device to the user now, because of what happened after the grants.
  ///
  /// Where it finds an entry that gives all it wants, it writes nothing, so that the node tells nothing:
  /// see devnode_acl() in systemd's src/shared/devnode-acl.c.
  private func isGivenBySeat(
    _ status: StatusFields, _ grants: [InodeGrant], _ system: any System
  ) -> Bool {
    let granted = grants.filter { $0.uid == uid }.compactMap(\.changed).max()
    return attribute == .accessACL && status.kind == .characterDevice
      && Seats(system).mayHaveGiven(status.device, to: uid, since: granted)
  }

  /// Returns whether both give the same user rights in the same way.
  private func gives(likes other: InodeGrant) -> Bool {
    attribute == .mode
      ? other.attribute == .mode && bitClass == other.bitClass
      : other.uid == uid && other.attribute == attribute
  }

  /// Returns whether other grants give all that this one gives.
  private func isCovered(by others: ArraySlice<InodeGrant>) -> Bool {
    let others = others.filter { $0.gives(likes: self) }
    return attribute == .mode
      ? neededBits & ~others.reduce(0) { $0 | $1.neededBits } == 0
      : others.reduce(into: Permissions()) { $0.formUnion($1.permissions) }
        .isSuperset(of: permissions)
  }

  /// Returns this grant without the rights that somebody else took away.
  private func reduced(_ place: Int, _ now: State, _ grants: [InodeGrant]) -> InodeGrant {
    var copy = self
    if attribute == .mode {
      let left = BitStanding(now, grants, bitClass).needed { $0 == place }
      if left != 0 { copy.bits = left }
    } else {
      copy.permissions = EntryStanding(now, grants, uid, attribute).rights[place] ?? permissions
    }
    return copy
  }

  /// Returns the state without what the remaining grants give the user.
  private func without(
    _ rest: [Int], among grants: [InodeGrant], _ now: State, _ target: State
  ) -> State {
    if attribute == .mode {
      let standing = BitStanding(now, grants, bitClass)
      return target.clearing(standing.needed { rest.contains($0) } & ~standing.own)
    }
    let standing = EntryStanding(now, grants, uid, attribute)
    let isDefault = attribute == .defaultACL
    guard let own = standing.own else { return target.setting(nil, of: uid, isDefault: isDefault) }
    // A mask that hides rights now may show them later.
    let whole = target.setting(standing.raw, of: uid, isDefault: isDefault)
    return whole.effective(of: uid) == own
      ? whole : target.setting(own, of: uid, isDefault: isDefault)
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
    // After another release the pictures of a grant may be the same; who gives its rights then?
    guard before != after || isCovered(by: grants[..<place]) else { return nil }
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

  /// Returns the state before a process that was killed took back this grant; nil if it did not.
  private func beforeRelease(
    _ now: State, _ grants: [InodeGrant], _ place: Int, owner: UInt32
  ) -> State? {
    guard let last = grants.last?.after else { return nil }
    var then = now
    if attribute == .mode {
      then = now.adding(last.mode & bitClass)
    } else if let entry = last.entry(of: uid) {
      then = now.setting(entry, of: uid, isDefault: attribute == .defaultACL)
    }
    let target = remaining(then, grants, [place], owner: owner, isBySeat: false).state
    return then != now && target == now ? then : nil
  }

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
      // See devnode_acl() in systemd's src/shared/devnode-acl.c: the seat gives rw.
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
  var bitClass: UInt16 {
    neededBits & 0o700 != 0 ? 0o700 : neededBits & 0o070 != 0 ? 0o070 : 0o007
  }

  /// The mode bits that the grant needs.
  var neededBits: UInt16 { bits ?? after.mode & ~before.mode }
}
