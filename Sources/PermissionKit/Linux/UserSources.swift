/// The sources of users and groups in nsswitch.conf(5).
struct UserSources: Sendable {
  /// Whether a user in /etc/passwd is found there, whatever the other sources have.
  private(set) var usersAreInFiles = false
  /// Whether a group in /etc/group is found there, whatever the other sources have.
  private(set) var groupsAreInFiles = false
  /// Whether only /etc/group, and perhaps systemd, has the groups of a user.
  private(set) var filesListGroups = false
  /// Whether systemd is asked for groups.
  private(set) var asksSystemd = false
  /// Whether users or groups come from sources other than files, so that a lookup may block.
  private(set) var mayWait = false

  /// Reads the bytes of the file; nil without such a file.
  init(_ bytes: [UInt8]?) {
    let bytes = bytes ?? []
    var (users, groups) = ([ArraySlice<UInt8>](), [ArraySlice<UInt8>]())
    // Where a line could be read otherwise, glibc knows what counts.
    var isPlain = true
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      let line = bytes[start..<end]
      start = end + 1
      // Most lines are comments, or about something else.
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      let code = line.prefix { $0 != UInt8(ascii: "#") }
      guard let colon = code.firstIndex(of: UInt8(ascii: ":")) else { continue }
      guard let name = code[..<colon].split(whereSeparator: Self.isBlank).first else { continue }
      let (isOfUsers, isOfGroups) = (Self.isOne(name, of: "passwd"), Self.isOne(name, of: "group"))
      let isOfLists = Self.isOne(name, of: "initgroups")
      if Self.isBlank(first) || isOfLists { isPlain = false }
      guard isOfUsers || isOfGroups || isOfLists else { continue }
      let words = code[(colon + 1)...].split(whereSeparator: Self.isBlank)
      if words.contains(where: Self.isServer) { mayWait = true }
      // A second line, a comment behind the sources, or blanks in the name.
      let isSecond = isOfUsers && !users.isEmpty || isOfGroups && !groups.isEmpty
      if isSecond || code.count < line.count || name.count < colon - line.startIndex {
        isPlain = false
      }
      if isOfUsers { users = words } else if isOfGroups { groups = words }
    }
    guard isPlain else { return }
    usersAreInFiles = Self.beginsWithFiles(users, merges: false)
    groupsAreInFiles = Self.beginsWithFiles(groups, merges: true)
    asksSystemd = groups.contains { Self.isOne($0, of: "systemd") }
    filesListGroups =
      groupsAreInFiles
      && groups.allSatisfy { Self.isOne($0, of: "files", "systemd", "[SUCCESS=merge]") }
  }

  /// Whether the files come first, and a result in them ends the lookup.
  private static func beginsWithFiles(_ words: [ArraySlice<UInt8>], merges: Bool) -> Bool {
    guard let first = words.first, isOne(first, of: "files") else { return false }
    guard words.count > 1, words[1].first == UInt8(ascii: "[") else { return true }
    return isOne(words[1], of: "[NOTFOUND=return]")
      || merges && isOne(words[1], of: "[SUCCESS=merge]")
  }

  private static func isServer(_ word: ArraySlice<UInt8>) -> Bool {
    !isOne(word, of: "files", "compat", "db", "systemd")
      && word.first != UInt8(ascii: "[") && word.last != UInt8(ascii: "]")
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  // Not generic, which would take as long as a whole check.
  private static func isOne(_ word: ArraySlice<UInt8>, of names: StaticString...) -> Bool {
    names.contains { name in name.withUTF8Buffer { unsafe word.elementsEqual($0) } }
  }
}
