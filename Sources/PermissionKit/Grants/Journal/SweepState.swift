internal import Synchronization

/// The state that the threads of a sweep share.
final class SweepState: Sendable {
  private struct Shared {
    /// The inode and the size of the journal when it was last read.
    var file: InodeIdentity
    var size: UInt64
    /// The grants on folders that the walk has reached.
    var reached: Set<String> = []
    var changed = 0
    /// Whether others move files in the tree.
    var isBusy = false
    /// Whether new grants were made meanwhile, so that the records are out of date.
    var isStale = false
    var failures = 0
    var failed: String?
  }

  private struct Turn {
    var file: Descriptor?
    var threads = 0
    /// The time, by `monotonic()`, after which no other thread may join, so that other processes
    /// get the lock.
    var end: Int64 = 0
  }

  /// How long threads share the lock, in microseconds.
  private static let turn: Int64 = 20_000

  /// An inode that has inherited something, open with O_PATH or for reading.
  struct Item {
    let inode: Descriptor
    let status: StatusFields
    let path: PathBytes
    let attribute: InodeChange.Attribute
    let inheritance: Inheritance
  }

  let journal: GrantJournal
  let users: Set<UInt32>
  private let shared: Mutex<Shared>
  /// The lock of the journal while threads have it, see `lock()`.
  private let turn = Mutex(Turn())
  /// The grants on files and folders when the walk began.
  private let known: Set<String>
  /// The numbers of the inodes with leases.
  let leased: Set<UInt64>
  /// The records of folders with leases on their default ACLs, by the number of the inode.
  private let folders: [UInt64: [(ids: [String], grant: InodeGrant, record: LeasedACL)]]
  /// When the walk began, by the clock of inodes.
  private let start: Int64
  private let isLast: Bool
  private let own: Credentials?

  /// Reads the journal.
  ///
  /// - Parameters:
  ///   - journal: The journal.
  ///   - users: The users whose leases have ended.
  ///   - isLast: Whether the tree is not walked again, so that what is seen to move counts as left.
  /// - Throws: If the journal cannot be read.
  init(
    _ journal: GrantJournal, _ users: Set<UInt32>, isLast: Bool
  ) throws(PermissionError) {
    self.journal = journal
    self.users = users
    self.isLast = isLast
    own = try? journal.system.credentials()
    start = (journal.system.realtime() - 20_000) * 1_000
    let ledger = try journal.ledger()
    known = ledger.openings
    leased = ledger.leasedInodes
    folders = ledger.folders
    // No journal has this size: the first batch reads it under its lock.
    shared = Mutex(
      Shared(file: InodeIdentity(StatusFields(mode: 0, uid: 0, gid: 0, inode: 0)), size: 0))
  }

  // MARK: - What was seen

  /// Whether the walk must end, because its records are out of date.
  var isStopped: Bool { shared.withLock(\.isStale) }

  /// Whether the tree must be walked again.
  var mustGoAgain: Bool { shared.withLock { $0.isStale || $0.isBusy && $0.changed > 0 } }

  /// The grants on folders that the walk has reached.
  var reached: Set<String> { shared.withLock(\.reached) }

  func isBusy() { shared.withLock { $0.isBusy = true } }

  /// Notes when a folder got or lost a name since the walk began.
  func look(at folder: Descriptor) {
    guard let status = try? journal.system.statx(folder), status.modified >= start else { return }
    isBusy()
  }

  /// Counts a file that was not reached.
  func fail(_ finding: TreeFinding) {
    switch finding.answer {
    case .changed where !isLast: isBusy()
    case .changed: fail(finding.path, "others move it")
    case .remote: fail(finding.path, "another file system is mounted there")
    case .failed(let errno), .refused(let errno): fail(finding.path, "\(errno)")
    case .unknown(let rule): fail(finding.path, "\(rule)")
    }
  }

  private func fail(_ path: PathBytes, _ why: String) {
    shared.withLock { shared in
      shared.failures += 1
      if shared.failed == nil { shared.failed = "\(path) (\(why))" }
    }
  }

  /// The files that were not reached, for people; nil if all were.
  func failure(below path: PathBytes) -> String? {
    shared.withLock { shared in
      guard let failed = shared.failed else { return nil }
      let more = shared.failures > 1 ? " and \(shared.failures - 1) more" : ""
      return "below \(path), \(failed)\(more) could not be read or changed"
    }
  }

  // MARK: - Folders with leases

  /// Returns the inheritance inside of a folder, if there are or were leases on its default ACL.
  func inside(
    _ folder: Descriptor, _ status: StatusFields, _ list: AccessControlList?, _ above: Inheritance
  ) -> Inheritance? {
    var inside: Inheritance?
    for (ids, grant, record) in folders[status.inode] ?? []
    where grant.isInode(folder, journal.system) {
      inside = (inside ?? above).inside(list, record, of: users, journal.system)
      shared.withLock { $0.reached.formUnion(ids) }
    }
    return inside
  }

  // MARK: - Changing

  /// Removes inherited entries from inodes while the journal is locked; closes none of them.
  func commit(_ items: [Item]) {
    do throws(PermissionError) {
      var leased: [Item] = []
      if let file = try lock() {
        defer { unlock() }
        guard try isKnown(file) else { return }
        for item in items {
          do throws(Errno) {
            if try !change(item) { leased.append(item) }
          } catch {
            fail(item.path, "\(error)")
          }
        }
      }
      if leased.isEmpty { return }
      guard let file = try journal.open(.changing) else { return }
      var writer = try GrantJournalWriter(file, journal, journal.system)
      defer { writer.close() }
      for item in leased {
        do throws(PermissionError) {
          if try writer.release(item) { shared.withLock { $0.changed += 1 } }
        } catch {
          fail(item.path, error.message)
        }
      }
    } catch {
      for item in items { fail(item.path, error.message) }
    }
  }

  /// Locks the journal for this thread and others of the sweep; they share the lock for a moment.
  private func lock() throws(PermissionError) -> Descriptor? {
    while true {
      let result = turn.withLock { turn -> Result<Descriptor?, PermissionError>? in
        if let file = turn.file {
          guard journal.system.monotonic() < turn.end else { return nil }
          turn.threads += 1
          return .success(file)
        }
        do throws(PermissionError) {
          turn.file = try journal.open(.changing)
          turn.end = journal.system.monotonic() + Self.turn
          turn.threads = 1
          return .success(turn.file)
        } catch {
          return .failure(error)
        }
      }
      if let result { return try result.get() }
      _ = try? journal.system.poll([], timeout: 1)
    }
  }

  private func unlock() {
    turn.withLock { turn in
      turn.threads -= 1
      guard turn.threads == 0, let file = turn.file else { return }
      journal.system.close(file)
      turn.file = nil
    }
  }

  /// Returns whether the locked journal has no new grants; if it has, the walk must begin again.
  private func isKnown(_ file: Descriptor) throws(PermissionError) -> Bool {
    guard let status = try? journal.system.statx(file) else { return false }
    let identity = InodeIdentity(status)
    let (isSame, isStale) = shared.withLock {
      ($0.file == identity && $0.size == status.size, $0.isStale)
    }
    if isStale || isSame { return !isStale }
    // By another descriptor: whoever writes the journal reads it from its beginning.
    let isOld = try !journal.ledger().openings.isSubset(of: known)
    shared.withLock { ($0.file, $0.size, $0.isStale) = (identity, status.size, isOld) }
    return !isOld
  }

  /// Changes an inode that has no leases; returns false if it may have leases.
  private func change(_ item: Item) throws(Errno) -> Bool {
    let (system, status) = (journal.system, item.status)
    if leased.contains(status.inode) { return false }
    let isDefault = item.attribute == .defaultACL
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try system.getxattr(isDefault ? .default : .access, of: item.inode)
    } catch .ENODATA {
      return true
    }
    guard let list = AccessControlList(xattr: bytes) else { throw .EINVAL }
    let inheritance = item.inheritance
    let left =
      isDefault
      ? inheritance.releasedDefault(list, birth: status.birth)
      : inheritance.released(list, birth: status.birth)
    if left == list { return true }
    if !isDefault, status.mode & 0o2000 != 0, let own, !own.isMember(of: status.gid),
      !own.effective.contains(.fsetid)
    {
      // It would lose its set-group-ID bit.
      throw .EPERM
    }
    if let left {
      try system.setxattr(isDefault ? .default : .access, of: item.inode, left.xattr)
    } else {
      try system.removexattr(.default, of: item.inode)
    }
    shared.withLock { $0.changed += 1 }
    return true
  }
}

/// One thread of a sweep.
final class SweepVisitor {
  /// The state inside of a folder, which its subfolders share.
  private final class Inside: Sendable {
    let inheritance: Inheritance
    init(_ inheritance: Inheritance) { self.inheritance = inheritance }
  }

  /// The most inodes that are changed under one lock.
  private static let width = 128

  private let state: SweepState
  private var batch: [SweepState.Item] = []
  private var last: (acl: [UInt8], inside: Inside, isWanted: Bool)?

  init(_ state: SweepState) { self.state = state }

  var visitor: TreeVisitor {
    TreeVisitor(
      enter: enter, wantsNumbers: !state.leased.isEmpty, wants: wants, take: take,
      didRead: state.look, didMiss: state.isBusy, finish: flush)
  }

  private func enter(
    _ folder: Descriptor, _ path: PathBytes, _ above: TreeVisitor.Inside
  ) -> TreeVisitor.Inside {
    let known = above as? Inside
    let inheritance = known?.inheritance ?? Inheritance()
    let system = state.journal.system
    do throws(Errno) {
      let status = try system.statx(folder)
      var list = try InodeGrant.state(.defaultACL, of: folder, system).acl
      if let old = list,
        state.leased.contains(status.inode)
          || inheritance.releasedDefault(old, birth: status.birth) != old
      {
        state.commit([
          .init(
            inode: folder, status: status, path: path, attribute: .defaultACL,
            inheritance: inheritance)
        ])
        list = try InodeGrant.state(.defaultACL, of: folder, system).acl
      }
      if let inside = state.inside(folder, status, list, inheritance) { return Inside(inside) }
      guard list != nil || known == nil else { return known }
      return Inside(inheritance.inside(list, birth: status.birth))
    } catch {
      state.fail(
        TreeFinding(
          path: path, folderLength: path.bytes.count, folder: folder, answer: .failed(error)))
      return known
    }
  }

  private func wants(_ acl: [UInt8], _ inode: UInt64, _ folder: TreeVisitor.Inside) -> Bool {
    guard let inside = folder as? Inside else { return false }
    // What a lease hides is in the journal alone.
    if state.leased.contains(inode) { return true }
    if let last, last.inside === inside, last.acl == acl { return last.isWanted }
    let list = AccessControlList(xattr: acl)
    let isWanted = list.map { inside.inheritance.released($0, birth: nil) != $0 } ?? false
    last = (acl, inside, isWanted)
    return isWanted
  }

  private func take(
    _ inode: Descriptor, _ path: () -> PathBytes, _ folder: TreeVisitor.Inside
  ) {
    guard let inside = folder as? Inside, let status = try? state.journal.system.statx(inode) else {
      return state.journal.system.close(inode)
    }
    batch.append(
      .init(
        inode: inode, status: status, path: path(), attribute: .accessACL,
        inheritance: inside.inheritance))
    if batch.count >= Self.width { flush() }
  }

  private func flush() {
    if batch.isEmpty { return }
    state.commit(batch)
    for item in batch { state.journal.system.close(item.inode) }
    batch.removeAll(keepingCapacity: true)
  }
}
