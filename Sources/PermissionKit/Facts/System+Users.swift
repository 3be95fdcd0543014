// Users and groups, each looked up once for a check: in the files, and by getent(1) where nsswitch.conf(5)
// names other sources.
extension System {
  /// Returns the user with this login name; nil if there is none.
  func user(named name: String) throws(Errno) -> UserRecord? {
    try remembered(
      { memory in memory.namedUsers.first { $0.name.isExactly(name) }.map { $0.record } },
      { if $0.namedUsers.count < most { $0.namedUsers.append((name, $1)) } }
    ) { () throws(Errno) in
      try user {
        $0.user(named: name)
      } elsewhere: {
        name
      }
    }
  }

  /// Returns the first user with this uid; nil if there is none.
  func user(_ uid: UInt32) throws(Errno) -> UserRecord? {
    try remembered(
      { memory in
        memory.users.first { $0.uid == uid }.map { $0.record } ?? memory.more?.users[uid]
      },
      {
        if $0.users.count < most { $0.users.append((uid, $1)) } else { $0.keepMore.users[uid] = $1 }
      }
    ) { () throws(Errno) in
      try user {
        $0.user(uid)
      } elsewhere: {
        String(uid)
      }
    }
  }

  private func user(
    _ find: (UserFile) -> UserRecord?, elsewhere key: () -> String
  ) throws(Errno) -> UserRecord? {
    let users = try userSources().users
    if filesAnswer(users) {
      if let user = find(try userFile()) { return user }
      if users.hasOnlyFiles { return nil }
    }
    let key = key()
    let user = find(try getent("passwd", [key]))
    if user == nil { try see(users, "/etc/passwd") }
    return user
  }

  /// Returns every group of the user, including the primary group.
  func groups(of user: UserRecord) throws(Errno) -> [UInt32] {
    try remembered(
      { memory in memory.groupLists.first { $0.user == user }.map { $0.groups } },
      { if $0.groupLists.count < most { $0.groupLists.append((user, $1)) } }
    ) { () throws(Errno) in
      let lists = try userSources().lists
      if filesAnswer(lists), hasOnlyFiles(lists) {
        return try groupFile().groups(of: user)
      }
      try see(lists, "/etc/group")
      return try listedGroups(of: user)
    }
  }

  /// Returns the group with this name, and its members; nil if there is none.
  func group(named name: String) throws(Errno) -> GroupRecord? {
    try group(withMembers: true) {
      $0.group(named: name)
    } elsewhere: {
      name
    }
  }

  /// Returns the members that groups with this gid list.
  func members(of gid: UInt32) throws(Errno) -> [String] {
    let found = try group(withMembers: true) {
      $0.group(gid)
    } elsewhere: {
      String(gid)
    }
    let isOfFiles = try filesAnswer(userSources().groups)
    return (found?.members ?? []) + (isOfFiles ? try groupFile().members(of: gid) : [])
  }

  /// Returns the name of the group; nil if there is no such group.
  func groupName(_ gid: UInt32) throws(Errno) -> String? {
    try remembered(
      { memory in
        memory.groups.first { $0.gid == gid }.map { $0.name } ?? memory.more?.groups[gid]
      },
      {
        if $0.groups.count < most {
          $0.groups.append((gid, $1))
        } else {
          $0.keepMore.groups[gid] = $1
        }
      }
    ) { () throws(Errno) in
      try group {
        $0.group(gid)
      } elsewhere: {
        String(gid)
      }?.name
    }
  }

  private func group(
    withMembers: Bool = false, _ find: (UserFile) -> GroupRecord?, elsewhere key: () -> String
  ) throws(Errno) -> GroupRecord? {
    let groups = try userSources().groups
    if filesAnswer(groups), !withMembers || !groups.merges || hasOnlyFiles(groups) {
      if let group = find(try groupFile()) { return group }
      if groups.hasOnlyFiles { return nil }
    }
    let key = key()
    let group = find(try getent("group", [key]))
    if group == nil { try see(groups, "/etc/group") }
    return group
  }

  /// Returns every user whom the sources list, in their order.
  func listedUsers() throws(Errno) -> [UserRecord] {
    let users = try userSources().users
    try see(users, "/etc/passwd")
    if filesAnswer(users), users.hasOnlyFiles { return try userFile().users }
    return try getent("passwd", []).users
  }

  /// Checks that a source can be read: glibc takes what cannot be for an empty one.
  private func see(_ line: UserSources.Line, _ file: PathBytes) throws(Errno) {
    if let unseen = look(at: file).unseen { throw unseen.errno }
    guard line.others.contains("systemd") else { return }
    for folder in userRecords {
      let names = look(at: folder) { () throws(Errno) in try self.names(in: folder) }
      if let unseen = names.unseen { throw unseen.errno }
      for name in names.value ?? [] {
        let record = folder.appending(name)
        let look = look(at: record) { () throws(Errno) in
          if folder == userServices { try reach(record) } else { try faccessat2(record, .read) }
        }
        if let unseen = look.unseen { throw unseen.errno }
      }
    }
  }

  /// Connects to a service that knows users, as glibc does; nobody may listen there, and it may be no such socket.
  private func reach(_ socket: PathBytes) throws(Errno) {
    do throws(Errno) {
      close(try connect(socket))
    } catch {
      // EPROTOTYPE: a datagram socket.
      if ![.ECONNREFUSED, .ENAMETOOLONG, .ELOOP, Errno(rawValue: 91)].contains(error) {
        throw error
      }
    }
  }

  /// The most entries of each list of the cache.
  ///
  /// A command for every user asks for each of them only once.
  private var most: Int { 64 }

  // MARK: - Files

  /// The sources of users and groups.
  func userSources() throws(Errno) -> UserSources {
    try remembered({ $0.sources }, { $0.sources = $1 }) { () throws(Errno) in
      let file = look(at: "/etc/nsswitch.conf", limit: 1 << 16)
      if let unseen = file.unseen { throw unseen.errno }
      return UserSources(file.value)
    }
  }

  /// Whether an entry of the files is the answer; nscd(8) may answer from its cache.
  private func filesAnswer(_ line: UserSources.Line) -> Bool {
    line.beginsWithFiles && !line.isOdd && isAbsent("/var/run/nscd/socket")
  }

  /// Whether the files have every entry: systemd has none without its folders.
  private func hasOnlyFiles(_ line: UserSources.Line) -> Bool {
    line.hasOnlyFiles || line.hasOnlySystemd && userRecords.allSatisfy(isAbsent)
  }

  /// The users in /etc/passwd.
  func userFile() throws(Errno) -> UserFile {
    try remembered({ $0.userFile }, { $0.userFile = $1 }) { () throws(Errno) in
      try file("/etc/passwd")
    }
  }

  /// The groups in /etc/group.
  func groupFile() throws(Errno) -> UserFile {
    try remembered({ $0.groupFile }, { $0.groupFile = $1 }) { () throws(Errno) in
      try file("/etc/group")
    }
  }

  private func file(_ path: PathBytes) throws(Errno) -> UserFile {
    let file = look(at: path, limit: UserDatabase.mostBytes)
    if let unseen = file.unseen { throw unseen.errno }
    // Without the file, nobody is in it.
    return UserFile(file.value ?? [])
  }

  /// The uids in /etc/passwd; no server is asked.
  var localUsers: [UInt32] { ((try? userFile())?.users ?? []).map(\.uid) }

  /// Where systemd finds users and groups, see `userdb_by_name()` in src/shared/userdb.c and nss-systemd(8):
  /// services that answer, and the folders of USERDB_DROPIN_DIR_NULSTR.
  private var userRecords: [PathBytes] {
    [
      userServices, "/etc/userdb", "/run/userdb", "/run/host/userdb",
      "/usr/local/lib/userdb", "/usr/lib/userdb", "/lib/userdb",
    ]
  }

  private var userServices: PathBytes { "/run/systemd/userdb" }

  private func isAbsent(_ path: PathBytes) -> Bool {
    do throws(Errno) {
      _ = try status(of: path)
      return false
    } catch {
      return error == .ENOENT || error == .ENOTDIR
    }
  }
}
