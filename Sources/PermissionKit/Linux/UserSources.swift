/// The sources of users and groups in nsswitch.conf(5).
struct UserSources: Sendable {
  /// The sources of one line.
  struct Line: Sendable {
    /// The sources, without the actions in brackets.
    var names: [ArraySlice<UInt8>] = [Array("files".utf8)[...]]
    /// Whether an entry of the file is the answer, whatever the other sources have.
    var beginsWithFiles = true
    /// Whether other sources add members to a group of the file.
    var merges = false
    /// Whether the line could be read otherwise, so that glibc knows what counts.
    var isOdd = false

    /// The sources that are no files, for messages.
    var others: [String] {
      names.filter { !UserSources.isOne($0, of: "files") }.map {
        String(decoding: $0, as: UTF8.self)
      }
    }

    /// Whether the files are the only source.
    var hasOnlyFiles: Bool {
      !isOdd && beginsWithFiles && names.allSatisfy { UserSources.isOne($0, of: "files") }
    }

    /// Whether systemd is the only source that is no file.
    var hasOnlySystemd: Bool {
      !isOdd && beginsWithFiles
        && names.allSatisfy { UserSources.isOne($0, of: "files", "systemd") }
    }
  }

  /// Where users are.
  private(set) var users = Line()
  /// Where groups are.
  private(set) var groups = Line()
  /// Where the groups of a user are: the line `initgroups`, else all sources of groups.
  private(set) var lists = Line()

  /// The sources that are no files, for people.
  var others: String {
    var names: [String] = []
    for name in users.others + lists.others where !names.contains(name) { names.append(name) }
    return (names.isEmpty ? "what else is" : names.joined(separator: " and "))
      + " in /etc/nsswitch.conf"
  }

  /// Reads the bytes of the file; nil without such a file.
  init(_ bytes: [UInt8]?) {
    let bytes = bytes ?? []
    var known = (users: false, groups: false, lists: false)
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
      let isOfUsers = Self.isOne(name, of: "passwd")
      let (isOfGroups, isOfLists) = (
        Self.isOne(name, of: "group"), Self.isOne(name, of: "initgroups")
      )
      guard isOfUsers || isOfGroups || isOfLists else { continue }
      var found = Line()
      let words = code[(colon + 1)...].split(whereSeparator: Self.isBlank)
      found.names = Self.sources(words)
      (found.beginsWithFiles, found.merges) = Self.filesAnswer(words, canMerge: isOfGroups)
      // A comment behind the sources, or blanks before or in the name.
      found.isOdd = code.count < line.count || name.count < colon - line.startIndex
      if isOfUsers {
        found.isOdd = found.isOdd || known.users
        (users, known.users) = (found, true)
      } else if isOfGroups {
        found.isOdd = found.isOdd || known.groups
        (groups, known.groups) = (found, true)
      } else {
        found.isOdd = found.isOdd || known.lists
        (lists, known.lists) = (found, true)
      }
    }
    if !known.lists { lists = groups }
  }

  /// Returns the words that are no actions, which are in brackets.
  private static func sources(_ words: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
    var isAction = false
    return words.filter { word in
      if word.first == UInt8(ascii: "[") { isAction = true }
      defer { if word.last == UInt8(ascii: "]") { isAction = false } }
      return !isAction
    }
  }

  /// Whether the files come first, and a result in them ends the lookup or is merged with others.
  private static func filesAnswer(
    _ words: [ArraySlice<UInt8>], canMerge: Bool
  ) -> (answer: Bool, merges: Bool) {
    guard let first = words.first, isOne(first, of: "files") else { return (false, false) }
    guard words.count > 1, words[1].first == UInt8(ascii: "[") else { return (true, false) }
    if isOne(words[1], of: "[NOTFOUND=return]", "[UNAVAIL=return]", "[SUCCESS=return]") {
      return (true, false)
    }
    let merges = canMerge && isOne(words[1], of: "[SUCCESS=merge]")
    return (merges, merges)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  // Not generic, which would take as long as a whole check.
  fileprivate static func isOne(_ word: ArraySlice<UInt8>, of names: StaticString...) -> Bool {
    names.contains { name in name.withUTF8Buffer { unsafe word.elementsEqual($0) } }
  }
}
