/// The open leases on one ACL, with its record in the journal.
struct OpenLeases: Sendable {
  /// The identifier of the record.
  let acl: String
  var record: LeasedACL
  /// The open grants, oldest first, by their identifiers.
  var grants: [(id: String, grant: InodeGrant)]
  /// The users whose leases gave permissions to new files in the folder; also of leases that have
  /// ended.
  var givers: Set<UInt32> = []

  /// The values that leases gave to an item, in the ACLs that are remembered.
  func values(of item: ACLItem) -> Set<Permissions> {
    Set(
      record.own.compactMap { $0?[item] }
        + grants.filter { $0.grant.lease.item == item }.map(\.grant.permissions))
  }

  /// The record of the ACL, without the leases of other users than one.
  func seen(by uid: UInt32) -> LeasedACL {
    let others = grants.map(\.grant.lease).filter { $0.uid != uid }
    var record = record
    record.given.removeAll { $0.uid != uid }
    record.base = LeaseMerge(record, now: record.written, owner: record.owner, leases: others)
      .target(others)
    return record
  }
}

/// The result of a merge: the new ACL, and the record for the journal.
struct LeaseOutcome: Hashable, Sendable {
  /// The identifier of the record; nil if this is the first lease on the ACL.
  var acl: String?
  var record: LeasedACL
  /// The leases from which somebody else removed permissions, with those that remain.
  var rights: [String: Permissions] = [:]
  /// The leases that no longer give anything, because somebody else removed it.
  var ended: [String] = []
  /// Changes by others that were found, for people.
  var notes: [String] = []
}

/// An inode as it is now, and the change that a lease needs.
final class LeaseLook {
  let grant: InodeGrant
  /// The inode as it is now, with owner and group.
  let inode: InodeFacts
  private let merge: LeaseMerge
  private let leases: OpenLeases
  private let system: any System

  /// Merges the record in the journal with the inode as it is now.
  ///
  /// - Parameters:
  ///   - grant: A grant on the inode.
  ///   - inode: The inode now.
  ///   - device: The number of the device; nil for other files.
  ///   - leases: The open leases; nil if there are none.
  ///   - system: The system whose seats may give the device.
  init(
    _ grant: InodeGrant, _ inode: InodeFacts, device: DeviceNumber?, _ leases: OpenLeases?,
    _ system: any System
  ) {
    self.grant = grant
    self.inode = inode
    self.system = system
    let now = InodeGrant.State(inode, grant.attribute).list(grant.attribute)
    let owner = grant.attribute == .defaultACL ? nil : inode.uid
    self.leases =
      leases
      ?? OpenLeases(acl: "", record: LeasedACL(now, owner: owner), grants: [])
    let record = self.leases.record
    let users = Set(self.leases.grants.map(\.grant.uid))
    var seated: Set<UInt32> = []
    if let device, grant.attribute == .accessACL {
      seated = users.filter {
        Seats(system).mayHaveGiven(device, to: $0, since: record.changed)
      }
    }
    merge = LeaseMerge(
      record, now: now, owner: owner, leases: self.leases.grants.map(\.grant.lease),
      seated: seated)
  }

  /// The entries that a folder's new default ACL begins with.
  private var origin: AccessControlList {
    inode.acl?.unnamed ?? AccessControlList(mode: inode.mode)
  }

  private var now: InodeGrant.State { .init(inode, grant.attribute) }

  /// The most entries of an ACL that is merged as a whole.
  ///
  /// Of a longer one, which its owner may have made to keep others waiting, only the entries of the leases that end
  /// are taken out, and the journal keeps what it remembers of the rest.
  private static let mostEntries = 256

  private var isLong: Bool {
    now.list(grant.attribute).map { $0.entries.count > Self.mostEntries } ?? false
  }

  /// The users with leases, who get back the rights that their entries hid.
  var users: Set<UInt32> { Set(leases.grants.map(\.grant.uid)) }

  /// Returns the inode as it would be with some of its leases.
  ///
  /// - Parameters:
  ///   - added: A further lease.
  ///   - isKept: Returns whether a lease counts, by its identifier.
  /// - Returns: The inode; other attributes than that of the grant are as they are.
  func inode(with added: Lease? = nil, where isKept: (String) -> Bool) -> InodeFacts {
    let kept = zip(leases.grants, merge.leases).filter { isKept($0.0.id) }.map(\.1)
    let list = merge.target(kept + (added.map { [$0] } ?? []), origin: origin)
    return inode.setting(now.setting(list, grant.attribute), grant.attribute)
  }

  /// The rights of a user by groups and by the entry of others, which an entry for the user will
  /// hide; of a default ACL those on new files, whoever makes them.
  func hidden(_ credentials: Credentials) -> Permissions {
    let item = ACLItem(.user, id: credentials.user.fileSystem)
    let isDefault = grant.attribute == .defaultACL
    guard var list = merge.base ?? (isDefault ? leases.record.written?.unnamed ?? origin : nil),
      list[item] == nil || list.mask?.isEmpty == true
    else { return [] }
    list[item] = nil
    if isDefault { return inode.rightsOnNew(list, of: credentials).all }
    let state = now.setting(list, grant.attribute)
    return SubjectClasses.rights(of: credentials, on: inode.setting(state, grant.attribute))
  }

  /// Returns the record for the journal once the inode is in a state.
  ///
  /// - Parameters:
  ///   - target: The state.
  ///   - released: The leases that end, by their identifiers.
  ///   - isAgain: Whether a killed process may have released them already.
  /// - Returns: The record, and what happened to the leases.
  func outcome(
    _ target: InodeGrant.State, releasing released: Set<String>, isAgain: Bool = false
  ) -> LeaseOutcome {
    var record = leases.record
    let list = target.list(grant.attribute)
    if isLong, !released.isEmpty {
      // Until it is known that the change was made, what is there now is permcheck's as well.
      var seen = record.written
      for (id, grant) in leases.grants where released.contains(id) {
        let item = grant.lease.item
        record.written?[item] = list?[item]
        if !merge.theirs.contains(item) { seen?[item] = now.list(grant.attribute)?[item] }
      }
      record.seen = .some(seen)
    } else {
      record.base = merge.base
      record.written = list
      record.seen = list == now.list(grant.attribute) ? nil : .some(now.list(grant.attribute))
    }
    record.owner = merge.owner
    record.since = record.since ?? GivenEntry(now: system).since
    if grant.attribute == .defaultACL {
      record.rememberGiven(to: users.union(leases.givers).union([grant.uid]), system)
    }
    var outcome = LeaseOutcome(acl: leases.acl.isEmpty ? nil : leases.acl, record: record)
    for ((id, grant), lease) in zip(leases.grants, merge.leases) {
      if released.contains(id) {
        if let note = note(grant, isAgain) { outcome.notes.append(note) }
      } else if lease.rights.isEmpty {
        // What was made in a folder has its entry yet, which the end of the lease takes away.
        if grant.attribute == .defaultACL {
          outcome.rights[id] = []
          continue
        }
        outcome.ended.append(id)
        outcome.notes.append(
          "somebody else removed the access of \(grant.holder) to \(grant.path), so that grant has ended"
        )
      } else if lease.rights != grant.permissions {
        outcome.rights[id] = lease.rights
        outcome.notes.append(
          "somebody else changed \(grant.path): the grant of \(grant.holder) gives \(lease.rights.letters) now"
        )
      }
    }
    return outcome
  }

  /// The changes that others made to the rights of a grant, for people.
  private func note(_ grant: InodeGrant, _ isAgain: Bool) -> String? {
    let item = grant.lease.item
    if merge.theirs.isEmpty || isAgain && merge.base?[item] == nil { return nil }
    if item == .owner, merge.owner != grant.uid {
      return "\(grant.path) has another owner now, so its mode was not changed back"
    }
    guard merge.theirs.contains(item) else {
      return "somebody else changed \(grant.path) meanwhile; only the granted access was removed"
    }
    if merge.seated.contains(grant.uid) {
      return "the login at the screen gives \(grant.path) to \(grant.holder) now"
    }
    return merge.base?[item] == nil
      ? "\(grant.path) no longer has the granted access"
      : "somebody else changed the access of \(grant.holder) to \(grant.path) meanwhile, so it was not changed back"
  }

  /// The identifiers of the grants whose leases no longer give anything.
  var ended: Set<String> {
    Set(zip(leases.grants, merge.leases).filter { $1.rights.isEmpty }.map(\.0.id))
  }

  // MARK: - Releasing

  /// Returns the state without some leases, in which nobody else has other rights than now.
  func released(_ ids: Set<String>) -> InodeGrant.State {
    if !isLong {
      let target = inode { !ids.contains($0) }
      if grant.attribute == .defaultACL || isNeutral(target) {
        return .init(target, grant.attribute)
      }
    }
    // What the entries of these leases gave, and nothing else.
    var list = now.list(grant.attribute)
    let kept = zip(leases.grants, merge.leases).filter {
      !ids.contains($0.0.id) && !$0.1.rights.isEmpty
    }
    for (id, grant) in leases.grants where ids.contains(id) {
      let item = grant.lease.item
      if merge.theirs.contains(item) { continue }
      let left = kept.map(\.1).filter { $0.item == item }.map(\.rights)
      let rights = left.reduce(merge.base?[item]) { ($0 ?? []).union($1) }
      let held = list?[item] ?? []
      list?[item] = rights?.intersection(held)
    }
    if !leases.record.hadMask { list = list?.withoutIdleMask }
    return now.setting(list, grant.attribute)
  }

  private func isNeutral(_ target: InodeFacts) -> Bool {
    if target == inode { return true }
    let classes = SubjectClasses(of: inode, and: target, without: users)
    return classes.gains.isEmpty && classes.losses.isEmpty
  }

  /// Whether the inode becomes what it was before the first lease.
  func isPutBack(_ target: InodeGrant.State) -> Bool {
    target.list(grant.attribute) == leases.record.base
  }
}

extension InodeFacts {
  /// Returns the inode with another mode and ACL, or another default ACL.
  fileprivate func setting(
    _ state: InodeGrant.State, _ attribute: InodeChange.Attribute
  ) -> InodeFacts {
    var copy = self
    if attribute == .defaultACL {
      copy.defaultACL = state.acl
    } else {
      (copy.mode, copy.acl) = (state.mode, state.acl)
    }
    return copy
  }
}

extension InodeGrant {
  /// The user who gets access, for people.
  var holder: String { user ?? "uid \(uid)" }

  /// Merges the record in the journal with the inode as it is now.
  ///
  /// - Returns: What is to be changed.
  /// - Throws: If the inode cannot be read.
  func look(
    at descriptor: Descriptor, _ leases: OpenLeases, _ system: any System
  ) throws(PermissionError) -> LeaseLook {
    let now = try state(descriptor, system)
    let status: StatusFields
    do throws(Errno) {
      status = try system.statx(descriptor)
    } catch {
      throw failure("\(path) cannot be read", "statx", error)
    }
    var inode = InodeFacts(
      kind: status.kind ?? .regular, mode: UInt16(status.mode & 0o7777), uid: status.uid,
      gid: status.gid, acl: attribute == .defaultACL ? nil : now.acl)
    if attribute == .defaultACL { inode.defaultACL = now.acl }
    return LeaseLook(
      self, inode, device: status.kind == .characterDevice ? status.device : nil, leases, system)
  }
}
