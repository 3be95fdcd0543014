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

  private func failure(_ errno: Errno, _ call: String) -> PermissionError {
    PermissionError(
      .system, "the members of group \(group) cannot be read", call: call, errno: errno)
  }

  /// Returns the grant by the names that its ids have now; nil if the group is gone.
  ///
  /// The uid of a user who was deleted may be somebody else's, whose home was made later.
  private func renamed(_ system: any System) throws(PermissionError) -> GroupGrant? {
    var grant = self
    do throws(Errno) {
      if let gid {
        guard let group = try system.getgrgid(gid) else { return nil }
        grant.group = group
      }
      guard let uid, try system.getpwnam(user)?.uid != uid else { return grant }
      // The members of a group can lack a line in the user data base.
      guard let now = try system.getpwuid(uid), !isLater(now.home, system) else { return grant }
      grant.user = now.name
      return grant
    } catch {
      throw failure(error, "getpwuid")
    }
  }

  /// Fails if the uid is somebody's who is in the group and whose home is younger than the grant: either was renamed, or
  /// somebody else made another user a member.
  private func checkSuccessor(_ system: any System) throws(PermissionError) {
    guard let uid else { return }
    var other = self
    let now: UserRecord
    do throws(Errno) {
      guard let found = try system.getpwuid(uid), !found.name.isExactly(user) else { return }
      now = found
      other.user = now.name
      if let gid, let group = try system.getgrgid(gid) { other.group = group }
    } catch {
      throw failure(error, "getpwuid")
    }
    guard try other.isMember(system) else { return }
    throw PermissionError(
      .changeFailed,
      "uid \(uid) was \(user) and is \(now.name) now, who is in group \(other.group)",
      advice:
        "end that with gpasswd -d \(now.name) \(other.group) unless it is meant, and forget the grant with --forget"
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
    do throws(Errno) {
      // The group data base can list a user who is missing from the user data base; then no group is
      // the primary one.
      let record =
        try system.getpwnam(user) ?? UserRecord(name: user, uid: .max, gid: .max, home: "/")
      for gid in try system.getgrouplist(record) where gid != .max {
        if try system.getgrgid(gid)?.isExactly(group) == true { return true }
      }
      return false
    } catch {
      throw failure(error, "getgrouplist")
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
