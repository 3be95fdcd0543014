/// Membership of a user in a group, in the group data base; it counts from the next login on.
public struct GroupGrant: GrantCommand {
  /// The login name.
  public var user: String
  /// The name of the group.
  public var group: String

  /// The change in one line.
  public var summary: String {
    "\(user) becomes a member of group \(group), from the next login on"
  }
  /// As an administrator would type it.
  public var arguments: [PathBytes] { ["gpasswd", "-a", PathBytes(user), PathBytes(group)] }
  /// Until somebody takes the user out of the group.
  public var persistence: Persistence { .permanent }

  private func isMember(_ system: any System) throws(PermissionError) -> Bool {
    do throws(Errno) {
      guard let record = try system.getpwnam(user) else { return false }
      for gid in try system.getgrouplist(record) where try system.getgrgid(gid) == group {
        return true
      }
      return false
    } catch {
      throw PermissionError(
        .system, "the groups of \(user) cannot be read", call: "getgrouplist", errno: error)
    }
  }

  /// Whether the user is a member.
  public func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    try isMember(system) ? .after : .before
  }

  /// Calls gpasswd(1) with -a.
  public func execute(_ system: any System) throws(PermissionError) {
    if try isMember(system) {
      throw PermissionError(
        .changeFailed, "\(user) is in group \(group) already",
        advice: "a new login will have the group")
    }
    try system.complete(arguments)
  }

  /// Calls gpasswd(1) with -d.
  public func undo(_ system: any System) throws(PermissionError) -> String? {
    guard try isMember(system) else { return "\(user) is no longer in group \(group)" }
    try system.complete(["gpasswd", "-d", PathBytes(user), PathBytes(group)])
    return nil
  }
}

extension System {
  /// Runs a program that must succeed.
  ///
  /// - Throws: Where it cannot be started, or ends with another status than 0.
  func complete(_ arguments: [PathBytes]) throws(PermissionError) {
    let end: ProcessEnd
    do throws(Errno) {
      end = try run([program(arguments[0])] + arguments.dropFirst())
    } catch {
      throw PermissionError(
        .changeFailed, "\(arguments[0]) cannot be run", path: arguments[0], call: "posix_spawn",
        errno: error)
    }
    if end == .exited(0) { return }
    let how =
      switch end {
      case .exited(let status): "failed with status \(status)"
      case .signalled(let signal): "was ended by signal \(signal)"
      }
    throw PermissionError(
      .changeFailed, "\(arguments.map(\.description).joined(separator: " ")) \(how)")
  }

  /// Where a tool of the system is; its name alone when it is in none of the usual places.
  ///
  /// As root PATH may be that of whoever asked, and is not to say what is run.
  func program(_ name: PathBytes) -> PathBytes {
    let folders: [PathBytes] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    return folders.map { $0.appending(name) }.first { (try? kind(of: $0)) == .regular } ?? name
  }
}
