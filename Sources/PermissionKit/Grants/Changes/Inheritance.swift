/// The rights that files got from the default ACL of their folder while a user had leases on it.
struct GivenEntry: Hashable, Sendable {
  var uid: UInt32
  /// The start of the first lease, in nanoseconds since 1970.
  var since: Int64
  /// The same moment by the clock of the boot; nil in an old journal.
  var at: BootTime?
  /// The permissions that the user's entry in the default ACL has had since then.
  var rights: Set<Permissions> = []
}

/// The entries that files and folders inherited from leases that have ended.
///
/// An entry counts as inherited if the default ACL had the same one and the file is younger,
/// whatever the file's mask is, see posix_acl_create() of fs/posix_acl.c. An equal entry that
/// somebody else set on such a file cannot be distinguished from it.
struct Inheritance: Sendable {
  /// The rights of leases that have ended, by user.
  private(set) var given: [GivenEntry] = []
  /// The default ACL of the folder now; nil if it has none.
  private var now: AccessControlList?
  /// The default ACL that a lease created: the entries of owner, group and others.
  private var origin: AccessControlList?
  /// The users whose entry in `now` was set by somebody else.
  private var foreign: Set<UInt32> = []

  init() {}

  /// Creates the inheritance of a file that has a copy of an ACL with leases.
  init(_ given: GivenEntry, above base: AccessControlList?) { (self.given, now) = ([given], base) }

  /// Returns an ACL without what it inherited from leases that have ended.
  ///
  /// - Parameters:
  ///   - list: The access ACL of a file or folder, or the default ACL of a folder.
  ///   - birth: When the inode was made, in nanoseconds since 1970; nil if that is unknown.
  /// - Returns: The ACL; everybody but the users of `given` has the same by it.
  func released(_ list: AccessControlList, birth: Int64?) -> AccessControlList {
    var left = list
    for given in given {
      let item = ACLItem(.user, id: given.uid)
      guard let entry = list[item], given.rights.contains(entry), birth ?? .max >= given.since
      else { continue }
      if foreign.contains(given.uid) {
        if now?[item] != entry { left[item] = nil }
      } else {
        left[item] = now?.effective(item)?.intersection(entry)
      }
    }
    return left != list && now?.mask == nil ? left.withoutIdleMask : left
  }

  /// Returns the default ACL of a folder without what it inherited.
  func releasedDefault(_ list: AccessControlList, birth: Int64?) -> AccessControlList? {
    let left = released(list, birth: birth)
    // What a lease made of nothing becomes nothing again.
    return left != list && now == nil && left == origin ? nil : left
  }

  /// Returns the inheritance inside of a subfolder.
  ///
  /// - Parameters:
  ///   - list: Its default ACL, without what it inherited; nil if it has none.
  ///   - birth: When it was made; nil if that is unknown.
  /// - Returns: The same, where the folder has no default ACL of its own.
  func inside(_ list: AccessControlList?, birth: Int64?) -> Inheritance {
    guard let list, list != now else { return self }
    var inside = self
    inside.now = list
    inside.foreign = []
    for given in given {
      let item = ACLItem(.user, id: given.uid)
      guard let entry = list[item] else { continue }
      if birth ?? .max < given.since || !given.rights.contains(entry) && entry != now?[item] {
        inside.foreign.insert(given.uid)
      }
    }
    return inside
  }

  /// Returns the inheritance inside of a subfolder on whose default ACL there are or were leases.
  ///
  /// - Parameters:
  ///   - list: The default ACL, without the leases that have ended; nil if there is none.
  ///   - record: What the journal remembers of it.
  ///   - users: The users whose leases have ended.
  ///   - system: The system whose clocks show how the wall clock was set meanwhile.
  /// - Returns: What leases on this folder gave, and on those above.
  func inside(
    _ list: AccessControlList?, _ record: LeasedACL, of users: Set<UInt32>, _ system: any System
  ) -> Inheritance {
    var inside = self
    inside.now = list
    inside.foreign = []
    inside.origin = record.origin ?? origin
    for var entry in record.given where users.contains(entry.uid) {
      entry.since = entry.start(system)
      // A copy with its ACL; and a recursive request gives files x only where they have it.
      entry.rights.formUnion(entry.rights.map { $0.subtracting(.execute) }.filter { !$0.isEmpty })
      if let index = inside.given.firstIndex(where: { $0.uid == entry.uid }) {
        inside.given[index].since = min(inside.given[index].since, entry.since)
        inside.given[index].rights.formUnion(entry.rights)
      } else {
        inside.given.append(entry)
      }
    }
    return inside
  }
}

extension AccessControlList {
  /// The rights of an entry under the mask; nil for none, and where the kernel does not read it because the mask is empty.
  fileprivate func effective(_ item: ACLItem) -> Permissions? {
    mask?.isEmpty == true ? nil : self[item]?.intersection(mask ?? .all)
  }
}

extension GivenEntry {
  /// Creates an entry of nobody that begins now.
  init(now system: any System) {
    // The clock of inodes is a few ticks late.
    let late: Int64 = 20_000
    self.init(uid: .max, since: (system.realtime() - late) * 1_000, at: BootTime(system))
    at?.time -= late
  }
}

extension LeasedACL {
  /// Saves the permissions that the entries of users now give to new files in the folder.
  ///
  /// - Parameters:
  ///   - users: The users who have leases on it, also those that end now.
  ///   - system: The system whose clocks show the present.
  mutating func rememberGiven(to users: Set<UInt32>, _ system: any System) {
    given.removeAll { !users.contains($0.uid) }
    var new: GivenEntry?
    for uid in users.sorted() {
      var entry = given.first { $0.uid == uid } ?? new ?? GivenEntry(now: system)
      if entry.uid != uid {
        new = entry
        entry.uid = uid
      }
      for list in [base, written] {
        if let rights = list?[ACLItem(.user, id: uid)] { entry.rights.insert(rights) }
      }
      given.removeAll { $0.uid == uid }
      given.append(entry)
    }
    if base == nil, let written { origin = written.unnamed }
  }

  /// Returns the record of an ACL without what its inode inherited before there were leases on it.
  func released(_ inheritance: Inheritance, birth: Int64?, isDefault: Bool) -> LeasedACL {
    guard let base else { return self }
    var record = self
    record.base =
      isDefault
      ? inheritance.releasedDefault(base, birth: birth) : inheritance.released(base, birth: birth)
    guard isDefault, record.base != base else { return record }
    for entry in inheritance.given {
      guard let index = record.given.firstIndex(where: { $0.uid == entry.uid }) else { continue }
      record.given[index].since = min(record.given[index].since, entry.since)
      record.given[index].rights.formUnion(entry.rights)
    }
    return record
  }
}
