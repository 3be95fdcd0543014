/// What nsswitch.conf(5) says about who knows users and groups.
struct UserSources: Sendable {
  /// Whether a user that /etc/passwd has is the answer, whatever other sources say.
  private(set) var usersAreInFiles = false
  /// Whether a group that /etc/group has is the answer to who has a gid.
  private(set) var groupsAreInFiles = false
  /// Whether nobody but /etc/group, and perhaps systemd, knows the groups of a user.
  private(set) var filesListGroups = false
  /// Whether systemd is asked for groups.
  private(set) var asksSystemd = false
  private let configuration: [UInt8]

  /// Whether a lookup may wait for a server.
  var mayWait: Bool { LinuxSystem.namesServers(configuration) }

  /// Reads the bytes of the file; nil without such a file.
  init(_ configuration: [UInt8]?) {
    self.configuration = configuration ?? []
    var (users, groups) = ([ArraySlice<UInt8>](), [ArraySlice<UInt8>]())
    var end = -1
    while end < self.configuration.count {
      let start = end + 1
      end = start
      while end < self.configuration.count, self.configuration[end] != UInt8(ascii: "\n") {
        end += 1
      }
      guard start < end, self.configuration[start] != UInt8(ascii: "#") else { continue }
      let line = self.configuration[start..<end]
      if Self.begins(line, "passwd") {
        // A second line, or a comment behind the sources: glibc knows what counts.
        guard users.isEmpty, let words = Self.sources(line, "passwd:") else { return }
        users = words
      } else if Self.begins(line, "group") {
        guard groups.isEmpty, let words = Self.sources(line, "group:") else { return }
        groups = words
      } else if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
        || Self.begins(line, "initgroups")
      {
        return
      }
    }
    usersAreInFiles = Self.beginsWithFiles(users, merges: false)
    groupsAreInFiles = Self.beginsWithFiles(groups, merges: true)
    asksSystemd = groups.contains { Self.isSame($0, "systemd") }
    filesListGroups =
      groupsAreInFiles
      && groups.allSatisfy {
        Self.isSame($0, "files") || Self.isSame($0, "systemd") || Self.isSame($0, "[SUCCESS=merge]")
      }
  }

  /// Returns the words after the name of the database; nil if glibc could read the line otherwise.
  private static func sources(
    _ line: ArraySlice<UInt8>, _ database: StaticString
  ) -> [ArraySlice<UInt8>]? {
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard isSame(words[0], database), !line.contains(UInt8(ascii: "#")) else { return nil }
    return Array(words.dropFirst())
  }

  private static func begins(_ line: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { unsafe line.starts(with: $0) }
  }

  /// Whether what the files know is the answer: the default action after a success is to return.
  private static func beginsWithFiles(_ words: [ArraySlice<UInt8>], merges: Bool) -> Bool {
    guard let first = words.first, isSame(first, "files") else { return false }
    guard words.count > 1, words[1].first == UInt8(ascii: "[") else { return true }
    return isSame(words[1], "[NOTFOUND=return]") || merges && isSame(words[1], "[SUCCESS=merge]")
  }

  private static func isSame(_ word: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { unsafe word.elementsEqual($0) }
  }
}

// What /etc/passwd and /etc/group say is read once for a check, where they answer for every source.
extension LinuxSystem {
  /// The sources of users and groups, read once.
  func userSources() -> UserSources {
    let known = try? recalled({ $0.sources }, { $0.sources = $1 }) { () throws(Errno) in
      UserSources(Self.nameServiceSwitch())
    }
    return known ?? UserSources(nil)
  }

  /// The bytes of nsswitch.conf(5); nil if it cannot be read.
  static func nameServiceSwitch() -> [UInt8]? {
    try? LinuxSystem().contents(of: "/etc/nsswitch.conf", limit: 1 << 16)
  }

  /// The users in /etc/passwd; nil if glibc has to be asked.
  var userFile: UserFile? {
    guard memory != nil else { return nil }
    return try? recalled({ $0.userFile }, { $0.userFile = $1 }) { () throws(Errno) in
      userSources().usersAreInFiles ? plain("/etc/passwd", fields: 7) : nil
    }
  }

  /// The groups in /etc/group; nil if glibc has to be asked.
  var groupFile: UserFile? {
    guard memory != nil else { return nil }
    return try? recalled({ $0.groupFile }, { $0.groupFile = $1 }) { () throws(Errno) in
      userSources().groupsAreInFiles ? plain("/etc/group", fields: 4) : nil
    }
  }

  /// Whether /etc/group has every group of every user.
  var groupFileIsWhole: Bool {
    let sources = userSources()
    return sources.filesListGroups
      && (!sources.asksSystemd || Self.userRecords.allSatisfy(isAbsent))
  }

  /// Reads a file, unless nscd(8) would answer from what it remembers of an older one.
  private func plain(_ path: PathBytes, fields: Int) -> UserFile? {
    guard isAbsent("/var/run/nscd/socket"), let bytes = try? contents(of: path) else { return nil }
    return UserFile(bytes, fields: fields)
  }

  /// Where systemd finds users and groups, see `userdb_by_name()` in src/shared/userdb.c and nss-systemd(8):
  /// services that answer, and the folders of USERDB_DROPIN_DIR_NULSTR.
  private static var userRecords: [PathBytes] {
    [
      "/run/systemd/userdb", "/etc/userdb", "/run/userdb", "/run/host/userdb",
      "/usr/local/lib/userdb", "/usr/lib/userdb", "/lib/userdb",
    ]
  }

  private func isAbsent(_ path: PathBytes) -> Bool {
    do throws(Errno) {
      _ = try status(of: path)
      return false
    } catch {
      return error == .ENOENT || error == .ENOTDIR
    }
  }
}
