internal import JSONSyntax

/// The names and numbers of users and groups.
///
/// Asks NSS for the running system, or reads etc/passwd and etc/group below another root.
@_spi(SystemCalls) public struct UserDatabase: Sendable {
  package let system: any System
  /// The lines of the files below a root; nil to ask NSS.
  private let files: (users: [UserRecord], groups: [GroupRecord])?

  private struct GroupRecord: Sendable {
    var name: String
    var gid: UInt32
    var members: [String]

    func has(_ user: String) -> Bool { members.contains { $0.isExactly(user) } }
  }

  /// Creates the data base of a root.
  ///
  /// - Parameters:
  ///   - system: The system that reads the files or asks NSS.
  ///   - root: The root directory; without etc/passwd there, the running system is asked.
  public init(_ system: any System, root: PathBytes = "/") {
    self.system = system
    guard root != "/", let users = try? system.contents(of: root.appending("etc/passwd")) else {
      files = nil
      return
    }
    let groups = (try? system.contents(of: root.appending("etc/group"))) ?? []
    files = (Self.lines(users).compactMap(Self.user), Self.lines(groups).compactMap(Self.group))
  }

  private init(_ system: any System, files: ([UserRecord], [GroupRecord])?) {
    self.system = system
    self.files = files
  }

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

  static func lines(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
    bytes.split(separator: UInt8(ascii: "\n")).map {
      $0.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  /// Parses a line of passwd(5).
  private static func user(_ fields: [ArraySlice<UInt8>]) -> UserRecord? {
    guard fields.count >= 7, !fields[0].isEmpty, let uid = UInt32(text(fields[2])),
      let gid = UInt32(text(fields[3]))
    else { return nil }
    return UserRecord(
      name: text(fields[0]), uid: uid, gid: gid, home: PathBytes(Array(fields[5])))
  }

  /// Parses a line of group(5).
  private static func group(_ fields: [ArraySlice<UInt8>]) -> GroupRecord? {
    guard fields.count >= 4, !fields[0].isEmpty, let gid = UInt32(text(fields[2])) else {
      return nil
    }
    return GroupRecord(
      name: text(fields[0]), gid: gid,
      members: fields[3].split(separator: UInt8(ascii: ",")).map(text))
  }

  /// Returns the user with this login name; nil if there is none.
  public func user(named name: String) throws(Errno) -> UserRecord? {
    guard let files else { return try system.user(named: name) }
    return files.users.first { $0.name.isExactly(name) }
  }

  /// Returns the first user with this uid; nil if there is none.
  public func user(_ uid: UInt32) throws(Errno) -> UserRecord? {
    guard let files else { return try system.user(uid) }
    return files.users.first { $0.uid == uid }
  }

  /// Returns every group of the user, including the primary group, as initgroups(3) sets them.
  public func groups(of user: UserRecord) throws(Errno) -> [UInt32] {
    guard let files else { return try system.groups(of: user) }
    return [user.gid]
      + files.groups.filter { $0.gid != user.gid && $0.has(user.name) }.map(\.gid)
  }

  /// Whether this reads only the files below another root.
  var isOfFiles: Bool { files != nil }

  /// Returns every user, each name once, in the order of the data base.
  ///
  /// A server (sss, ldap) need not list its users.
  package func everyUser() throws(Errno) -> [UserRecord] {
    var seen: Set<ExactString> = []
    let users: [UserRecord]
    if let files { users = files.users } else { users = try system.getpwent() }
    return users.filter { seen.insert(ExactString($0.name)).inserted }
  }

  /// Returns the id of a group; nil if there is no such group.
  package func gid(of group: String) throws(Errno) -> UInt32? {
    if let files { return files.groups.first { $0.name.isExactly(group) }?.gid }
    return try system.getgrnam(group)?.gid
  }

  /// Returns the users whose primary group this is, and those whom the group lists; nil if there is no
  /// such group.
  package func members(of group: String) throws(Errno) -> [UserRecord]? {
    var found = files.map {
      $0.groups.first { $0.name.isExactly(group) }.map { ($0.gid, $0.members) }
    }
    if files == nil { found = try system.getgrnam(group) }
    guard case let (gid, names)?? = found else { return nil }
    let users = try everyUser()
    let listed = Set(names.map(ExactString.init))
    var members = users.filter { $0.gid == gid || listed.contains(ExactString($0.name)) }
    let known = Set(members.map { ExactString($0.name) })
    for name in names where !known.contains(ExactString(name)) {
      // A server may know members that it does not list.
      if let user = try user(named: name) { members.append(user) }
    }
    return members
  }

  /// Returns the name of the group, or the number if the group has no name.
  public func groupName(_ gid: UInt32) -> String {
    let name = files.map { $0.groups.first { $0.gid == gid }?.name } ?? (try? system.groupName(gid))
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
