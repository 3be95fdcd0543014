// Users and groups, each looked up once for a check, and without glibc where the files of this machine
// answer for every source.
extension System {
  /// Returns the user with this login name; nil if there is none.
  func user(named name: String) throws(Errno) -> UserRecord? {
    try remembered(
      { memory in memory.namedUsers.first { $0.name.isExactly(name) }.map { $0.record } },
      { if $0.namedUsers.count < most { $0.namedUsers.append((name, $1)) } }
    ) { () throws(Errno) in
      if let user = userFile?.user(named: name) { return user }
      let user = try getpwnam(name)
      if user == nil { try seeUsers() }
      return user
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
      if let user = userFile?.user(uid) { return user }
      let user = try getpwuid(uid)
      if user == nil { try seeUsers() }
      return user
    }
  }

  /// Returns every group of the user, including the primary group.
  func groups(of user: UserRecord) throws(Errno) -> [UInt32] {
    try remembered(
      { memory in memory.groupLists.first { $0.user == user }.map { $0.groups } },
      { if $0.groupLists.count < most { $0.groupLists.append((user, $1)) } }
    ) { () throws(Errno) in
      if cached != nil, groupFileIsWhole, let groups = groupFile?.groups(of: user) {
        return groups
      }
      try seeGroups()
      return try getgrouplist(user)
    }
  }

  /// Returns the group with this name; nil if there is none.
  func group(named name: String) throws(Errno) -> (gid: UInt32, members: [String])? {
    let group = try getgrnam(name)
    if group == nil { try seeGroups() }
    return group
  }

  /// Checks that glibc can read the users: it takes a file that cannot be read for an empty one.
  func seeUsers() throws(Errno) { try see("/etc/passwd") }

  /// Checks that glibc can read the groups.
  private func seeGroups() throws(Errno) { try see("/etc/group") }

  private func see(_ file: PathBytes) throws(Errno) {
    if let unseen = look(at: file).unseen { throw unseen.errno }
    guard try userSources().asksSystemd else { return }
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
      if let name = groupFile?.groupName(gid) { return name }
      return try getgrgid(gid)
    }
  }

  /// The most entries of each list of the cache.
  ///
  /// A command for every user asks for each of them only once.
  private var most: Int { 64 }

  // MARK: - Files

  /// The sources of users and groups.
  private func userSources() throws(Errno) -> UserSources {
    try remembered({ $0.sources }, { $0.sources = $1 }) { () throws(Errno) in
      let file = look(at: "/etc/nsswitch.conf", limit: 1 << 16)
      if let unseen = file.unseen { throw unseen.errno }
      return UserSources(file.value)
    }
  }

  /// The users in /etc/passwd; nil if glibc has to be asked.
  private var userFile: UserFile? {
    guard cached != nil else { return nil }
    return try? remembered({ $0.userFile }, { $0.userFile = $1 }) { () throws(Errno) in
      guard try userSources().usersAreInFiles, filesCount else { return nil }
      return (try? passwd()).map { UserFile($0, fields: 7) }
    }
  }

  /// The groups in /etc/group; nil if glibc has to be asked.
  private var groupFile: UserFile? {
    guard cached != nil else { return nil }
    return try? remembered({ $0.groupFile }, { $0.groupFile = $1 }) { () throws(Errno) in
      guard try userSources().groupsAreInFiles, filesCount else { return nil }
      return (try? contents(of: "/etc/group")).map { UserFile($0, fields: 4) }
    }
  }

  /// Whether /etc/group has every group of every user.
  private var groupFileIsWhole: Bool {
    // Without the sources nothing is known to be whole.
    guard let sources = try? userSources() else { return false }
    return sources.filesListGroups && (!sources.asksSystemd || userRecords.allSatisfy(isAbsent))
  }

  /// Whether the files agree with glibc, which may answer from the cache of nscd(8).
  private var filesCount: Bool { isAbsent("/var/run/nscd/socket") }

  private func passwd() throws(Errno) -> [UInt8] {
    try remembered({ $0.passwd }, { $0.passwd = $1 }) { () throws(Errno) in
      try contents(of: "/etc/passwd")
    }
  }

  /// The uids in /etc/passwd; no server is asked.
  var localUsers: [UInt32] {
    ((try? LinuxSystem.users(in: passwd())) ?? []).map(\.uid)
  }

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
