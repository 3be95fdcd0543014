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

  /// Reads the bytes of the file; nil without such a file.
  init(_ bytes: [UInt8]?) {
    let configuration = bytes ?? []
    var (users, groups) = ([ArraySlice<UInt8>](), [ArraySlice<UInt8>]())
    var end = -1
    while end < configuration.count {
      let start = end + 1
      end = start
      while end < configuration.count, configuration[end] != UInt8(ascii: "\n") {
        end += 1
      }
      guard start < end, configuration[start] != UInt8(ascii: "#") else { continue }
      let line = configuration[start..<end]
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
