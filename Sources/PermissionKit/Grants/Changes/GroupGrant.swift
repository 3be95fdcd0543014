/// Adds a user to a group in the group data base; the membership takes effect at the next login.
package struct GroupGrant: UndoableCommand {
  /// The login name.
  package var user: String
  /// The name of the group.
  package var group: String

  /// The change in one line.
  package var summary: String {
    "\(user) becomes a member of group \(group), from the next login on"
  }
  /// The shell command that makes the same change.
  package var arguments: [PathBytes] { ["gpasswd", "-a", PathBytes(user), PathBytes(group)] }
  /// Permanent: the membership lasts until somebody removes it.
  package var persistence: Persistence { .permanent }

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
      throw PermissionError(
        .system, "the groups of \(user) cannot be read", call: "getgrouplist", errno: error)
    }
  }

  /// Returns whether the user is a member.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    try isMember(system) ? .after : .before
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
    guard try isMember(system) else { return "\(user) is no longer in group \(group)" }
    try system.complete(["gpasswd", "-d", PathBytes(user), PathBytes(group)])
    return nil
  }
}
