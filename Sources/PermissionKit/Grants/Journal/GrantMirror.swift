/// Publishes the grants that root made for users: one file for each user.
///
/// The file is `/var/lib/permcheck-users/UID/now/grants.jsonl`. The folder UID belongs to root, and
/// an ACL entry allows its user, and nobody else, to search it. The folder never changes. The first
/// grant creates a folder for every user of the data base, so that other users learn nothing from
/// it; the folder of a user who is gone is removed, so that whoever gets the uid begins anew. These files decide nothing; only the journal does. A marker file in the journal's folder is
/// created before the journal's first line about a user and removed after the last one; an
/// operation that finds such a marker writes the file again.
package struct GrantMirror: Sendable {
  private let journal: GrantJournal
  private var system: any System { journal.system }

  /// Creates the mirror of a journal.
  package init(_ journal: GrantJournal) { self.journal = journal }

  /// Creates the mirror of root's journal.
  package init(_ system: any System) { self.init(.root(system)) }

  private static let folder: PathBytes = "/var/lib/permcheck-users"

  private func folder(of uid: UInt32) -> PathBytes { Self.folder.appending(PathBytes("\(uid)")) }

  private func path(of uid: UInt32) -> PathBytes {
    folder(of: uid).appending("now/grants.jsonl")
  }

  /// Returns the open grants of a user; empty if there are none or this process may not read them.
  ///
  /// - Parameter uid: The user.
  /// - Returns: The grants, oldest first.
  package func grants(of uid: UInt32) -> [Grant] { ledger(of: uid).grants(of: uid) }

  /// Returns the open grants of a user, with the records of their inodes, as if nobody held the
  /// leases of others.
  func ledger(of uid: UInt32) -> GrantLedger {
    guard
      let file = try? system.openat(
        .currentDirectory, path(of: uid),
        [.readOnly, .noFollow, .nonBlocking, .noControllingTerminal], mode: 0)
    else { return GrantLedger() }
    defer { system.close(file) }
    // Only root writes this file.
    guard let status = try? system.statx(file), status.kind == .regular, status.uid == 0 else {
      return GrantLedger()
    }
    return (try? journal.ledger(of: file).ledger) ?? GrantLedger()
  }

  private var isShown: Bool { journal.path == GrantJournal.root(system).path }

  private func mark(of uid: UInt32) -> PathBytes {
    journal.path.parent.appending(PathBytes("\(uid)\(Self.markEnd)"))
  }

  private static let markEnd = ".jsonl.new"
  /// The suffix of files that earlier versions kept in the journal's folder.
  private static let oldEnd = ".jsonl"

  /// Returns the users whose files are not up to date after a killed process, or from an earlier
  /// version.
  func unfinished() -> Set<UInt32> {
    guard isShown, let names = try? system.names(in: journal.path.parent) else { return [] }
    return Set(
      names.map(\.description).compactMap { name in
        [Self.markEnd, Self.oldEnd].lazy.compactMap { end in
          name.hasSuffix(end) ? UInt32(name.dropLast(end.utf8.count)) : nil
        }.first
      })
  }

  /// Announces that the journal will get a line about a user.
  func begin(_ uid: UInt32) {
    guard isShown, uid != 0, let file = try? create(mark(of: uid)) else { return }
    system.close(file)
  }

  /// Writes the files of these users, if this is root's journal.
  ///
  /// A failure changes only what the user can read.
  func update(_ ledger: GrantLedger, of users: Set<UInt32>) {
    guard !users.isEmpty, isShown else { return }
    closeFolder()
    makeFolders(for: users)
    for uid in users where uid != 0 {
      let lines = ledger.lines(at: Timestamp.rfc3339(system.realtime()), of: uid)
      let path = path(of: uid)
      do throws(Errno) {
        if lines.isEmpty {
          do throws(Errno) { try system.unlink(path) } catch .ENOENT {}
        } else {
          let new = PathBytes(path.bytes + Array(".new".utf8))
          let file = try create(new)
          defer { system.close(file) }
          try system.writeAll(file, lines)
          try system.chmod(file, 0o644)
          try system.rename(new, path)
        }
      } catch {
        // The next run writes it.
        try? system.unlink(path)
      }
      try? system.unlink(mark(of: uid))
      let old = journal.path.parent.appending(PathBytes("\(uid)\(Self.oldEnd)"))
      try? system.unlink(old)
    }
    removeFolders(but: ledger)
  }

  /// Removes the folders of users who are gone and have no grants.
  private func removeFolders(but ledger: GrantLedger) {
    let local = Set(system.localUsers)
    guard !local.isEmpty, let names = try? system.names(in: Self.folder) else { return }
    for uid in names.compactMap({ UInt32($0.description) })
    where !local.contains(uid) && ledger.grants(of: uid).isEmpty {
      let folder = folder(of: uid)
      for place in [folder.appending("now"), folder] { try? system.rmdir(place) }
    }
  }

  /// Closes the folder of the journal to everybody but root; earlier versions opened it.
  private func closeFolder() {
    guard
      let folder = try? system.openat(
        .currentDirectory, journal.path.parent, [.readOnly, .directory, .noFollow], mode: 0)
    else { return }
    defer { system.close(folder) }
    guard let status = try? system.statx(folder), status.uid == 0, status.mode & 0o777 == 0o711
    else { return }
    try? system.chmod(folder, 0o700)
  }

  /// Creates the folders of these users, and of all others with them, if one is missing.
  private func makeFolders(for users: Set<UInt32>) {
    func isMissing(_ uid: UInt32) -> Bool {
      (try? system.kind(of: folder(of: uid).appending("now"))) != .directory
    }
    guard users.contains(where: { $0 != 0 && isMissing($0) }) else { return }
    try? makeFolder(Self.folder, mode: 0o711)
    // No server is asked while the journal is locked.
    for uid in users.union(system.localUsers.prefix(1000)) where uid != 0 && isMissing(uid) {
      try? makeFolder(folder(of: uid), mode: 0o700, for: uid)
      try? makeFolder(folder(of: uid).appending("now"), mode: 0o755)
    }
  }

  private func makeFolder(
    _ folder: PathBytes, mode: UInt16, for uid: UInt32? = nil
  ) throws(Errno) {
    do throws(Errno) {
      try system.mkdirat(.currentDirectory, folder, mode: 0o700)
    } catch .EEXIST {
      // A run that was killed did not come to its end.
    }
    let file = try system.openat(
      .currentDirectory, folder, [.readOnly, .directory, .noFollow], mode: 0)
    defer { system.close(file) }
    // The umask has no say.
    try system.chmod(file, mode)
    guard let uid else { return }
    let acl = AccessControlList([
      .init(.owner, .all), .init(.user, id: uid, .execute), .init(.owningGroup, []),
      .init(.mask, .execute), .init(.other, []),
    ])
    try system.setxattr(.access, of: file, acl.xattr)
  }

  private func create(_ path: PathBytes) throws(Errno) -> Descriptor {
    try system.openat(
      .currentDirectory, path, [.writeOnly, .create, .truncate, .noFollow], mode: 0o600)
  }
}
