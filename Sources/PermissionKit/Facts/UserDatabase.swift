internal import JSONSyntax

/// The names and numbers of users and groups.
///
/// Asks NSS for the running system, or reads etc/passwd and etc/group below another root.
@_spi(SystemCalls) public struct UserDatabase: Sendable {
  package let system: any System
  /// The users and groups of the files below a root, or why they cannot be read; nil to ask NSS.
  private let read: Result<Files, Errno>?

  private typealias Files = (users: [UserRecord], groups: [GroupRecord])

  /// The most bytes of such a file.
  static let mostBytes = 1 << 24

  /// Creates the data base of a root.
  ///
  /// - Parameters:
  ///   - system: The system that reads the files or asks NSS.
  ///   - root: The root directory; without etc/passwd there, the running system is asked.
  public init(_ system: any System, root: PathBytes = "/") {
    self.system = system
    read = root == "/" ? nil : Self.read(system, root)
  }

  private init(_ system: any System, files: Files) {
    self.system = system
    read = .success(files)
  }

  /// Reads the files of a root by the door: what is there and cannot be read is no reason to ask for other people's users.
  private static func read(_ system: any System, _ root: PathBytes) -> Result<Files, Errno>? {
    let door = system.door(below: root, as: nil, within: 2 * PathAvailability.limit)
    func contents(_ name: String) throws(Errno) -> [UInt8]? {
      do throws(Errno) {
        return try door.contents(of: root.appending(name), limit: mostBytes)
      } catch .ENOENT {
        return nil
      } catch .ENOTDIR {
        return nil
      }
    }
    do throws(Errno) {
      guard let users = try contents("etc/passwd") else { return nil }
      let groups = try contents("etc/group") ?? []
      return .success((try LinuxSystem.users(in: users), try LinuxSystem.groups(in: groups)))
    } catch {
      return .failure(error)
    }
  }

  /// Returns what the files say; nil to ask NSS.
  private func files() throws(Errno) -> Files? { try read?.get() }

  /// Creates a data base of saved names, which looks up nothing else.
  package init(_ names: IDNames) {
    let none = UInt32.max
    self.init(
      LinuxSystem(),
      files: (
        names.users.map { UserRecord(name: $1, uid: $0, gid: none, home: "") },
        names.groups.map { GroupRecord(name: $1, gid: $0, members: []) }
      ))
  }

  /// Returns the user with this login name; nil if there is none.
  public func user(named name: String) throws(Errno) -> UserRecord? {
    guard let files = try files() else { return try system.user(named: name) }
    return files.users.first { $0.name.isExactly(name) }
  }

  /// Returns the first user with this uid; nil if there is none.
  public func user(_ uid: UInt32) throws(Errno) -> UserRecord? {
    guard let files = try files() else { return try system.user(uid) }
    return files.users.first { $0.uid == uid }
  }

  /// Returns every group of the user, including the primary group, as initgroups(3) sets them.
  public func groups(of user: UserRecord) throws(Errno) -> [UInt32] {
    guard let files = try files() else { return try system.groups(of: user) }
    let others = files.groups.filter { group in
      group.gid != user.gid && group.members.contains { $0.isExactly(user.name) }
    }
    return [user.gid] + others.map(\.gid)
  }

  /// Whether this reads only the files below another root.
  var isOfFiles: Bool { read != nil }

  /// Returns every user, each name once, in the order of the data base.
  ///
  /// A server (sss, ldap) need not list its users.
  package func everyUser() throws(Errno) -> [UserRecord] {
    var seen: Set<ExactString> = []
    let users: [UserRecord]
    if let files = try files() {
      users = files.users
    } else {
      try system.seeUsers()
      users = try system.getpwent()
    }
    return users.filter { seen.insert(ExactString($0.name)).inserted }
  }

  /// Returns the id of a group; nil if there is no such group.
  package func gid(of group: String) throws(Errno) -> UInt32? {
    if let files = try files() { return files.groups.first { $0.name.isExactly(group) }?.gid }
    return try system.group(named: group)?.gid
  }

  /// Returns the users whose primary group this is, and those whom the group lists; nil if there is no
  /// such group.
  package func members(of group: String) throws(Errno) -> [UserRecord]? {
    let found: (gid: UInt32, members: [String])?
    if let files = try files() {
      found = files.groups.first { $0.name.isExactly(group) }.map { ($0.gid, $0.members) }
    } else {
      found = try system.group(named: group)
    }
    guard let found else { return nil }
    let users = try everyUser()
    let listed = Set(found.members.map(ExactString.init))
    var members = users.filter { $0.gid == found.gid || listed.contains(ExactString($0.name)) }
    let known = Set(members.map { ExactString($0.name) })
    for name in found.members where !known.contains(ExactString(name)) {
      // A server may know members that it does not list.
      if let user = try user(named: name) { members.append(user) }
    }
    return members
  }

  /// Returns the names in the line of a group, whether there are such users or not; nil if there is no such group.
  package func names(listedIn group: String) throws(Errno) -> [String]? {
    if let files = try files() { return files.groups.first { $0.name.isExactly(group) }?.members }
    return try system.group(named: group)?.members
  }

  /// Returns the name of the group, or the number if the group has no name.
  public func groupName(_ gid: UInt32) -> String {
    let files = try? files()
    let name =
      read == nil
      ? try? system.groupName(gid) : files?.groups.first { $0.gid == gid }?.name
    return name ?? String(gid)
  }

  /// Returns the names of these ids, without those that have none.
  func names(users: Set<UInt32>, groups: Set<UInt32>) -> IDNames {
    var names = IDNames()
    for uid in users where userName(uid) != String(uid) { names.users[uid] = userName(uid) }
    for gid in groups where groupName(gid) != String(gid) { names.groups[gid] = groupName(gid) }
    return names
  }

  /// Returns the name of the user, or the number if the user has no name.
  public func userName(_ uid: UInt32) -> String {
    (try? user(uid))?.name ?? String(uid)
  }
}
