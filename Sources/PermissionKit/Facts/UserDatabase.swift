internal import JSONSyntax

/// The names and numbers of users and groups.
///
/// Reads etc/passwd and etc/group; for the running system, other sources that nsswitch.conf(5) names are asked
/// by getent(1).
@_spi(SystemCalls) public struct UserDatabase: Sendable {
  package let system: any System
  /// The users and groups of the files below a root, or why they cannot be read; nil for the running system.
  private let read: Result<Files, Errno>?

  private enum Files: Sendable {
    case lines(users: UserFile, groups: UserFile)
    /// Names that were saved, see `IDNames`.
    case names(IDNames)
  }

  /// The most bytes of such a file.
  static let mostBytes = 1 << 24

  /// Creates the data base of a root.
  ///
  /// - Parameters:
  ///   - system: The system that reads the files.
  ///   - root: The root directory; without etc/passwd there, the running system is asked.
  public init(_ system: any System, root: PathBytes = "/") {
    self.system = system
    read = root == "/" ? nil : Self.read(system, root)
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
      return .success(.lines(users: UserFile(users), groups: UserFile(groups)))
    } catch {
      return .failure(error)
    }
  }

  /// Returns what the files say; nil for the running system.
  private func files() throws(Errno) -> Files? { try read?.get() }

  /// Creates a data base of saved names, which looks up nothing else.
  package init(_ names: IDNames) {
    system = LinuxSystem()
    read = .success(.names(names))
  }

  /// Creates a data base of /etc/passwd and /etc/group alone, which waits for no other source.
  init(filesOf system: any System) throws(Errno) {
    self.system = system
    read = .success(.lines(users: try system.userFile(), groups: try system.groupFile()))
  }

  /// Returns the user with this login name; nil if there is none.
  public func user(named name: String) throws(Errno) -> UserRecord? {
    switch try files() {
    case .lines(let users, _): return users.user(named: name)
    case .names(let names):
      return names.users.first { $1.isExactly(name) }.map { Self.saved($1, $0) }
    case nil: return try system.user(named: name)
    }
  }

  /// Returns the first user with this uid; nil if there is none.
  public func user(_ uid: UInt32) throws(Errno) -> UserRecord? {
    switch try files() {
    case .lines(let users, _): return users.user(uid)
    case .names(let names): return names.users[uid].map { Self.saved($0, uid) }
    case nil: return try system.user(uid)
    }
  }

  private static func saved(_ name: String, _ uid: UInt32) -> UserRecord {
    UserRecord(name: name, uid: uid, gid: .max, home: "")
  }

  /// Returns every group of the user, including the primary group, as initgroups(3) sets them.
  public func groups(of user: UserRecord) throws(Errno) -> [UInt32] {
    switch try files() {
    case .lines(_, let groups): return groups.groups(of: user)
    case .names: return [user.gid]
    case nil: return try system.groups(of: user)
    }
  }

  /// Whether this reads only the files below another root.
  var isOfFiles: Bool { read != nil }

  /// Returns every user, each name once, in the order of the data base.
  ///
  /// A server (sss, ldap) need not list its users.
  package func everyUser() throws(Errno) -> [UserRecord] {
    var seen: Set<ExactString> = []
    let users: [UserRecord]
    switch try files() {
    case .lines(let file, _): users = file.users
    case .names(let names): users = names.users.map { Self.saved($1, $0) }
    case nil: users = try system.listedUsers()
    }
    return users.filter { seen.insert(ExactString($0.name)).inserted }
  }

  /// Returns the group with this name; nil if there is none.
  func group(named name: String) throws(Errno) -> GroupRecord? {
    switch try files() {
    case .lines(_, let groups): return groups.group(named: name)
    case .names(let names):
      return names.groups.first { $1.isExactly(name) }
        .map { GroupRecord(name: $1, gid: $0, members: []) }
    case nil: return try system.group(named: name)
    }
  }

  /// Returns the id of a group; nil if there is no such group.
  package func gid(of group: String) throws(Errno) -> UInt32? { try self.group(named: group)?.gid }

  /// Returns the users whose primary group this is, and those whom the group lists; nil if there is no
  /// such group.
  package func members(of group: String) throws(Errno) -> [UserRecord]? {
    guard let found = try self.group(named: group) else { return nil }
    return try holders(of: found.gid, found.members)?.users
  }

  /// Returns who has a group by its number, which is what the kernel knows: two names may have one.
  ///
  /// - Parameters:
  ///   - gid: The group.
  ///   - members: More members.
  /// - Returns: The users whose primary group it is, and those whom a line with this number lists; the listed names
  ///   that are no users; nil if no group and no user has the number.
  /// - Throws: The errno of a source that cannot be read.
  func holders(
    of gid: UInt32, _ members: [String] = []
  ) throws(Errno) -> (users: [UserRecord], others: [String])? {
    var members = members
    switch try files() {
    case .lines(_, let groups): members += groups.members(of: gid)
    case .names: break
    case nil: members += try system.members(of: gid)
    }
    let listed = Set(members.map(ExactString.init))
    var users = try everyUser().filter {
      $0.gid == gid || listed.contains(ExactString($0.name))
    }
    // Who may have a number that is neither in a group file nor a primary group is not known.
    if users.isEmpty, try name(ofGroup: gid) == nil { return nil }
    let known = Set(users.map { ExactString($0.name) })
    var others: [String] = []
    for name in listed.subtracting(known).map(\.string).sorted() {
      // A server may know members that it does not list.
      if let user = try user(named: name) { users.append(user) } else { others.append(name) }
    }
    return (users, others)
  }

  /// Returns a group as chgrp(1) takes it: by its name if that is its own, else by its number.
  func operand(ofGroup gid: UInt32) -> String {
    let isNumber = { (name: String) in name.utf8.allSatisfy { (48...57).contains($0) } }
    if let name = try? name(ofGroup: gid), !isNumber(name), name.utf8.first != UInt8(ascii: "-"),
      name.utf8.first != UInt8(ascii: "+"), (try? self.gid(of: name)) == gid
    {
      return name
    }
    // A group may be named as the number.
    return (try? self.gid(of: String(gid))).map { $0 == gid } == false ? "+\(gid)" : String(gid)
  }

  /// Returns the names in the line of a group, whether there are such users or not; nil if there is no such group.
  package func names(listedIn group: String) throws(Errno) -> [String]? {
    try self.group(named: group)?.members
  }

  /// Returns the name of a group; nil if it has none.
  func name(ofGroup gid: UInt32) throws(Errno) -> String? {
    switch try files() {
    case .lines(_, let groups): return groups.group(gid)?.name
    case .names(let names): return names.groups[gid]
    case nil: return try system.groupName(gid)
    }
  }

  /// Returns the name of the group, or the number if the group has no name.
  public func groupName(_ gid: UInt32) -> String {
    (try? name(ofGroup: gid)) ?? String(gid)
  }

  /// Returns the names of these ids, without those that have none.
  func names(users: Set<UInt32>, groups: Set<UInt32>) -> IDNames {
    if read == nil { system.learn(users: users, groups: groups) }
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
