/// The record of one ACL, which the journal keeps while there are leases on the ACL.
///
/// An ACL without named entries and mask stands for a mode; nil is a folder without a default ACL.
package struct LeasedACL: Hashable, Sendable {
  /// The ACL without leases.
  var base: AccessControlList?
  /// The ACL that permcheck last wrote, or was about to write.
  var written: AccessControlList?
  /// The ACL before `written`, until it is known whether `written` was set.
  var seen: AccessControlList??
  /// The uid of the owner when it was last written; nil for a default ACL, and in an old journal.
  var owner: UInt32?
  /// Whether the ACL had a mask before the first lease.
  var hadMask: Bool
  /// When the inode was last written, by `StatusFields.changed`; nil if unknown.
  var changed: Int64?
  /// When the first lease began, in nanoseconds since 1970; nil in an old journal.
  var since: Int64?
  /// The rights that new files inherited from leases on a default ACL, by user.
  var given: [GivenEntry] = []
  /// The default ACL that a lease created; nil if there was one.
  var origin: AccessControlList?

  /// Creates the record of an ACL on which there was no lease.
  init(_ now: AccessControlList?, owner: UInt32?) {
    (base, written, self.owner) = (now, now, owner)
    hadMask = now?.mask != nil
  }

  /// The ACLs that permcheck wrote: an item in one of them was not changed by anybody else.
  var own: [AccessControlList?] { [written] + (seen.map { [$0] } ?? []) }
}

/// The rights of a lease: by a user's entry, or by the mode bits of one class.
struct Lease: Hashable, Sendable {
  let uid: UInt32
  /// `user` for the entry of the user; `owner`, `owningGroup` or `other` for mode bits.
  let tag: AccessControlList.Tag
  var rights: Permissions

  var item: ACLItem { ACLItem(tag, id: uid) }
}

/// The three-way merge that decides what an ACL with leases becomes.
///
/// `written` is the ancestor, the ACL as it is now is theirs, the plan from `base` is ours. An item that
/// differs from `written` was changed by somebody else, and goes into `base` as it is now, or out of it.
/// Documentation/decisions/leases.md says it in full.
struct LeaseMerge: Sendable {
  /// The ACL without leases, with the changes of others.
  private(set) var base: AccessControlList?
  /// The leases, without the permissions that others removed.
  private(set) var leases: [Lease]
  /// The items that somebody else changed.
  private(set) var theirs: Set<ACLItem> = []
  let owner: UInt32?
  private let record: LeasedACL
  private let now: [ACLItem: Permissions]
  /// The largest permissions that `base` gave to its entries.
  private let top: Permissions
  private let isMaskless: Bool
  /// The users to whom the seat gives the device: their entries belong to the seat.
  let seated: Set<UInt32>

  /// Merges.
  ///
  /// - Parameters:
  ///   - record: What the journal remembers.
  ///   - now: The ACL as it is now.
  ///   - owner: The uid of the owner now; nil for a default ACL, and if it is unknown.
  ///   - leases: The open leases on the ACL.
  ///   - seated: The users to whom the seat gives the device now.
  init(
    _ record: LeasedACL, now: AccessControlList?, owner: UInt32?, leases: [Lease],
    seated: Set<UInt32> = []
  ) {
    self.record = record
    self.leases = leases
    self.owner = owner
    self.seated = seated
    self.now = now.items
    base = record.base
    top = (record.base ?? record.written?.unnamed)?.top ?? []
    isMaskless = record.base?.mask == nil
    if !seated.isEmpty || !isSameOwner || record.own.contains(where: { $0 != now }) {
      merge()
    }
  }

  private mutating func merge() {
    findTheirs(record.own.map(\.items))
    if theirs.isEmpty { return }
    guard !now.isEmpty else { return endAll() }
    adoptTheirs()
    if !theirs.contains(.mask) { growMask() }
    limitOthers()
    settleMask()
    narrowLeases()
  }

  private var mask: Permissions { now[.mask] ?? .all }
  private var isSameOwner: Bool { owner == nil || record.owner == nil || owner == record.owner }

  private mutating func findTheirs(_ own: [[ACLItem: Permissions]]) {
    let items = own.reduce(into: Set(now.keys)) { $0.formUnion($1.keys) }
    theirs = items.filter { item in own.allSatisfy { $0[item] != now[item] } }
    if !isSameOwner { theirs.insert(.owner) }
    theirs.formUnion(seated.map { ACLItem(.user, id: $0) }.filter { now[$0] != nil })
  }

  /// Ends all leases, because somebody else removed the default ACL.
  private mutating func endAll() {
    base = nil
    for index in leases.indices { leases[index].rights = [] }
  }

  private mutating func adoptTheirs() {
    // A default ACL that somebody else changes stays.
    var list = base ?? record.written?.unnamed ?? AccessControlList([])
    let values = theirs.map { ($0, value($0)) }
    let gone = Set(values.filter { $1 == nil }.map(\.0))
    list.entries.removeAll { gone.contains(ACLItem($0)) }
    list.set(values.reduce(into: [:]) { $0[$1.0] = $1.1 })
    base = list
  }

  /// The value of an item that somebody else has set.
  private func value(_ item: ACLItem) -> Permissions? {
    guard item.tag == .user, seated.contains(item.id),
      record.own.contains(where: { $0?[item] == now[item] })
    else { return now[item] }
    // See devnode_acl() in systemd's src/shared/devnode-acl.c: the seat gives rw.
    return now[item]?.intersection([.read, .write]).union(record.base?[item] ?? [])
  }

  /// Raises the mask to the permissions that the entries of others have in effect now.
  private mutating func growMask() {
    guard var list = base else { return }
    let given = theirs.filter(\.isMasked).compactMap(value).reduce(Permissions()) {
      $0.union($1.intersection(mask))
    }
    if !isMaskless || list.hasNamed {
      list[.mask] = top.union(given)
    } else if theirs.contains(.owningGroup) {
      list[.owningGroup] = now[.owningGroup]?.intersection(mask)
    }
    // The kernel ignores an ACL with an empty mask.
    if list.mask?.isEmpty == true, list.named.contains(where: theirs.contains), !mask.isEmpty {
      list[.mask] = mask
    }
    base = list
  }

  /// Limits entries to their present effect where the mask grows or goes, except those that others
  /// wrote.
  private mutating func limitOthers() {
    guard var list = base else { return }
    let isUnlimited = !isMaskless || theirs.contains(.mask)
    guard !top.isSuperset(of: list.mask ?? (isUnlimited ? .all : top)) else { return }
    let leased = Set(leases.filter { !$0.rights.isEmpty }.map(\.item))
    list.entries = list.entries.compactMap { entry in
      let item = ACLItem(entry)
      guard item.isMasked, !theirs.contains(item) else { return entry }
      var limit = now[item]?.intersection(mask)
      if item.isNamed, leased.contains(item) { limit = isMaskless || !top.isEmpty ? top : nil }
      var entry = entry
      guard let limit else { return nil }
      entry.permissions.formIntersection(limit)
      return entry
    }
    base = list
  }

  private mutating func settleMask() {
    guard let list = base, list.hasNamed, list.mask == nil else { return }
    base?[.mask] = list[.owningGroup]
  }

  private mutating func narrowLeases() {
    for index in leases.indices {
      let lease = leases[index]
      let given = now[lease.item] ?? []
      if lease.tag == .user {
        guard theirs.contains(lease.item) || theirs.contains(.mask) else { continue }
        leases[index].rights.formIntersection(given.intersection(mask))
      } else {
        let isServed = lease.tag != .owner || owner == nil || lease.uid == owner
        leases[index].rights.formIntersection(isServed ? given : [])
      }
    }
  }

  // MARK: - The target

  /// Returns the ACL for a base and leases.
  ///
  /// - Parameters:
  ///   - leases: The leases.
  ///   - origin: What a folder's new default ACL gives to the owner, the group and others.
  /// - Returns: `base` with one entry for each user of leases; `base` without leases.
  func target(_ leases: [Lease], origin: AccessControlList? = nil) -> AccessControlList? {
    let leases = leases.filter { !$0.rights.isEmpty }
    guard !leases.isEmpty, var list = base ?? record.written?.unnamed ?? origin else {
      return record.hadMask ? base : base?.withoutIdleMask
    }
    for lease in leases where lease.tag != .user {
      if lease.tag != .owner || owner == nil || lease.uid == owner {
        list[lease.item]?.formUnion(lease.rights)
      }
    }
    let limit = list.top
    let isUnread = list.mask?.isEmpty == true
    var entries: [ACLItem: Permissions] = [:]
    for lease in leases where lease.tag == .user {
      let held = isUnread ? [] : list[lease.item]?.intersection(limit) ?? []
      entries[lease.item, default: held].formUnion(lease.rights)
    }
    if entries.isEmpty { return list }
    if isUnread {
      list.entries.removeAll { $0.tag == .user || $0.tag == .group }
      list[.owningGroup] = []
    }
    // An entry that gives it all already stays as it is.
    entries = entries.filter { list[$0.key]?.intersection(limit) != $0.value }
    let mask = entries.values.reduce(limit) { $0.union($1) }
    if mask != limit { list.limit(to: limit) }
    list.set(entries)
    list[.mask] = mask
    // As setfacl(1) writes it, whatever the order was.
    list.sort()
    return list
  }
}
