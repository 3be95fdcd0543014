/// Adds a user to a group in the group data base; the membership takes effect at the next login.
package struct GroupGrant: UndoableCommand {
  /// The login name.
  package var user: String
  /// The name of the group.
  package var group: String
  /// The uid; nil in an old journal.
  var uid: UInt32?
  /// The gid; nil in an old journal.
  var gid: UInt32?
  /// When this was planned, in nanoseconds since 1970; nil in an old journal.
  var since: Int64?

  /// The change in one line.
  package var summary: String {
    "\(user) becomes a member of group \(group), from the next login on"
  }
  /// The shell command that makes the same change.
  package var arguments: [PathBytes] { ["gpasswd", "-a", PathBytes(user), PathBytes(group)] }
  /// Permanent: the membership lasts until somebody removes it.
  package var persistence: Persistence { .permanent }

  /// Asks the files that gpasswd(1) changes, read anew: the journal is locked, and waits for no other source.
  private func inFiles<Answer>(
    _ system: any System, _ ask: (UserDatabase) throws(Errno) -> Answer
  ) throws(PermissionError) -> Answer {
    do throws(Errno) {
      return try ask(try UserDatabase(filesOf: system.uncached()))
    } catch {
      throw PermissionError(
        .system, "the members of group \(group) cannot be read", call: "open", errno: error)
    }
  }

  /// Returns the grant by the names that its ids have now; nil if the group is gone.
  ///
  /// The uid of a user who was deleted may be somebody else's, whose home was made later.
  private func renamed(_ system: any System) throws(PermissionError) -> GroupGrant? {
    try inFiles(system) { (users) throws(Errno) in
      var grant = self
      if let gid {
        guard let group = try users.name(ofGroup: gid) else { return nil }
        grant.group = group
      }
      guard let uid, try users.user(named: user)?.uid != uid else { return grant }
      // The members of a group can lack a line in the user data base.
      guard let now = try users.user(uid), !isLater(now.home, system) else { return grant }
      grant.user = now.name
      return grant
    }
  }

  /// Fails if the uid is somebody's who is in the group and whose home is younger than the grant: either was renamed, or
  /// somebody else made another user a member.
  private func checkSuccessor(_ system: any System) throws(PermissionError) {
    guard let uid else { return }
    let found = try inFiles(system) { (users) throws(Errno) -> GroupGrant? in
      guard let now = try users.user(uid), !now.name.isExactly(user) else { return nil }
      var other = self
      other.user = now.name
      if let gid, let group = try users.name(ofGroup: gid) { other.group = group }
      return other
    }
    guard let other = found, try other.isMember(system) else { return }
    throw PermissionError(
      .changeFailed,
      "uid \(uid) was \(user) and is \(other.user) now, who is in group \(other.group)",
      advice:
        "end that with gpasswd -d \(other.user) \(other.group) unless it is meant, and forget the grant with --forget"
    )
  }

  /// Whether a home was made after the grant.
  private func isLater(_ home: PathBytes, _ system: any System) -> Bool {
    guard let since,
      let folder = try? system.open(home, [.path], through: [], within: PathAvailability.limit)
    else { return false }
    defer { system.close(folder) }
    return (try? system.statx(folder))?.birth ?? 0 > since
  }

  private func isMember(_ system: any System) throws(PermissionError) -> Bool {
    try inFiles(system) { (users) throws(Errno) in
      // The group data base can list a user who is missing from the user data base; then no group is
      // the primary one.
      let record =
        try users.user(named: user) ?? UserRecord(name: user, uid: .max, gid: .max, home: "/")
      for gid in try users.groups(of: record) where gid != .max {
        if try users.name(ofGroup: gid)?.isExactly(group) == true { return true }
      }
      return false
    }
  }

  /// Returns whether the user is a member.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    try renamed(system)?.isMember(system) == true ? .after : .before
  }

  /// Adds the user with gpasswd(1), option -a.
  package func execute(_ system: any System) throws(PermissionError) {
    if try isMember(system) {
      throw PermissionError(
        .changeFailed, "\(user) is already in group \(group)",
        advice: "log out and in again to get the group")
    }
    try system.complete(arguments)
  }

  /// Removes the user with gpasswd(1), option -d.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    guard let now = try renamed(system), try now.isMember(system) else {
      try checkSuccessor(system)
      return "\(user) is no longer in group \(group)"
    }
    try system.complete(["gpasswd", "-d", PathBytes(now.user), PathBytes(now.group)])
    if try now.isMember(system) {
      throw PermissionError(
        .changeFailed, "\(now.user) is still in group \(now.group) after gpasswd -d",
        advice: "end the membership where the group is kept")
    }
    let isSame = now.user.isExactly(user) && now.group.isExactly(group)
    return isSame ? nil : "\(user) in group \(group) is \(now.user) in group \(now.group) now"
  }
}
