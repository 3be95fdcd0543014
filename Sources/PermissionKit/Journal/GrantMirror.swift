/// Shows users the grants that root made for them: one file for each user beside root's journal.
///
/// The file belongs to root, and an ACL entry lets its user read it. Nothing is decided by these
/// files; the journal alone counts.
package struct GrantMirror: Sendable {
  private let journal: GrantJournal
  private var system: any System { journal.system }

  /// Creates the mirror of a journal.
  package init(_ journal: GrantJournal) { self.journal = journal }

  /// Creates the mirror of root's journal.
  package init(_ system: any System) { self.init(.root(system)) }

  private func path(of uid: UInt32) -> PathBytes {
    journal.path.parent.appending(PathBytes("\(uid).jsonl"))
  }

  /// Returns the open grants of a user; empty if there are none or this process may not read them.
  ///
  /// - Parameter uid: The user.
  /// - Returns: The grants, oldest first.
  package func grants(of uid: UInt32) -> [Grant] {
    guard
      let file = try? system.openat(
        .currentDirectory, path(of: uid),
        [.readOnly, .noFollow, .nonBlocking, .noControllingTerminal], mode: 0)
    else { return [] }
    defer { system.close(file) }
    // Only root writes this file.
    guard let status = try? system.statx(file), status.kind == .regular, status.uid == 0 else {
      return []
    }
    return (try? journal.ledger(of: file).ledger.grants) ?? []
  }

  /// Writes the files of these users, if this is root's journal.
  ///
  /// A failure changes nothing but what the user sees.
  func update(_ grants: [Grant], of users: Set<UInt32>) {
    guard !users.isEmpty, journal.path == GrantJournal.root(system).path else { return }
    openFolder()
    for uid in users where uid != 0 {
      let own = grants.filter { $0.uid == uid }
      let path = path(of: uid)
      if own.isEmpty {
        try? system.unlink(path)
        continue
      }
      let new = PathBytes(path.bytes + Array(".new".utf8))
      do throws(Errno) {
        try? system.unlink(new)
        try write(own, to: new, for: uid)
        try system.rename(new, path)
      } catch {
        try? system.unlink(new)
        try? system.unlink(path)
      }
    }
  }

  /// Lets everybody search the folder of the journal, so that users reach their files.
  private func openFolder() {
    guard
      let folder = try? system.openat(
        .currentDirectory, journal.path.parent, [.readOnly, .directory, .noFollow], mode: 0)
    else { return }
    defer { system.close(folder) }
    guard let status = try? system.statx(folder), status.uid == 0, status.mode & 0o777 == 0o700
    else { return }
    try? system.chmod(folder, 0o711)
  }

  private func write(_ grants: [Grant], to path: PathBytes, for uid: UInt32) throws(Errno) {
    let file = try system.openat(
      .currentDirectory, path, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600)
    defer { system.close(file) }
    var bytes: [UInt8] = []
    for grant in grants {
      var record = GrantRecord(grant, by: nil, pid: nil)
      record.stage = grant.stage
      bytes += record.line
    }
    try system.writeAll(file, bytes)
    let acl = AccessControlList([
      .init(.owner, [.read, .write]), .init(.user, id: uid, .read), .init(.owningGroup, []),
      .init(.mask, .read), .init(.other, []),
    ])
    try system.setxattr(.access, of: file, acl.xattr)
  }
}
