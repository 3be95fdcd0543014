/// The lines of a passwd(5) or group(5) file, as glibc reads them.
///
/// A line that glibc cannot read is skipped, and hides nothing after it. Lines that ask for entries of
/// NIS (`+`, `-`) are no users or groups.
///
/// - SeeAlso: nss/nss_files/files-parse.c, files-initgroups.c and nss_readline.c of glibc
struct UserFile: Sendable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: - Users

  /// Returns the first user with this name.
  func user(named name: String) -> UserRecord? {
    firstUser { bytes[$0.name].elementsEqual(name.utf8) }
  }

  /// Returns the first user with this uid.
  func user(_ uid: UInt32) -> UserRecord? { firstUser { $0.uid == uid } }

  /// The users, in order.
  var users: [UserRecord] {
    var users: [UserRecord] = []
    _ = firstUser { user in
      users.append(record(user))
      return false
    }
    return users
  }

  private struct User {
    var name: Range<Int>
    var uid: UInt32
    var gid: UInt32
    var home: Range<Int>
  }

  private func firstUser(where matches: (User) -> Bool) -> UserRecord? {
    var line = LineReader(bytes)
    while line.next() {
      guard !line.isComment, !line.isOfNIS else { continue }
      let name = line.field()
      _ = line.field()
      guard let uid = line.number(), let gid = line.number() else { continue }
      _ = line.field()
      let user = User(name: name, uid: uid, gid: gid, home: line.field())
      if matches(user) { return record(user) }
    }
    return nil
  }

  private func record(_ user: User) -> UserRecord {
    UserRecord(
      name: text(user.name), uid: user.uid, gid: user.gid,
      home: PathBytes(Array(bytes[user.home])))
  }

  // MARK: - Groups

  /// Returns the first group with this name.
  func group(named name: String) -> GroupRecord? {
    firstGroup { bytes[$0.name].elementsEqual(name.utf8) }
  }

  /// Returns the first group with this gid.
  func group(_ gid: UInt32) -> GroupRecord? { firstGroup { $0.gid == gid } }

  /// Returns the members that any group with this gid lists.
  func members(of gid: UInt32) -> [String] {
    var members: [String] = []
    _ = firstGroup { group in
      if group.gid == gid { members += words(of: group.members) }
      return false
    }
    return members
  }

  private struct Group {
    var name: Range<Int>
    var gid: UInt32
    var members: Range<Int>
  }

  private func firstGroup(where matches: (Group) -> Bool) -> GroupRecord? {
    var line = LineReader(bytes)
    while line.next() {
      guard !line.isComment, !line.isOfNIS else { continue }
      let name = line.field()
      _ = line.field()
      guard let gid = line.number() else { continue }
      let group = Group(name: name, gid: gid, members: line.rest())
      guard matches(group) else { continue }
      return GroupRecord(name: text(name), gid: gid, members: words(of: group.members))
    }
    return nil
  }

  private func words(of list: Range<Int>) -> [String] {
    var names: [String] = []
    LineReader(bytes).forEachMember(in: list) { names.append(text($0)) }
    return names
  }

  /// Returns the groups of a user as getgrouplist(3) does: the primary group first, each once.
  ///
  /// Here glibc skips no blanks, and no line that is a comment or for NIS.
  func groups(of user: UserRecord) -> [UInt32] {
    var groups = [user.gid]
    let name = user.name
    var line = LineReader(bytes)
    while line.next(skipsBlanks: false) {
      let isOfNIS = line.isOfNIS
      _ = line.field()
      // "+" alone; it has gid 0 for glibc, and no members.
      if isOfNIS, line.isAtEnd { continue }
      _ = line.field()
      guard let gid = isOfNIS ? line.numberOrNone() : line.number() else { continue }
      let members = line.rest()
      if members.isEmpty || groups.contains(gid) { continue }
      line.forEachMember(in: members) { member in
        if bytes[member].elementsEqual(name.utf8), !groups.contains(gid) { groups.append(gid) }
      }
    }
    return groups
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

/// Reads the fields of one line after the other.
private struct LineReader {
  private let bytes: [UInt8]
  /// Where the next byte of the line is read.
  private var index = 0
  /// Whether a line was begun, whose rest is to be skipped.
  private var isInLine = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Goes to the next line that is not empty, past its leading blanks if they do not count; false at
  /// the end of the file.
  mutating func next(skipsBlanks: Bool = true) -> Bool {
    while true {
      if isInLine {
        while index < bytes.count, bytes[index] != Self.newline { index += 1 }
        index += 1
      }
      guard index < bytes.count else { return false }
      isInLine = true
      while skipsBlanks, !isAtEnd, Self.isSpace(bytes[index]) { index += 1 }
      if !isAtEnd { return true }
    }
  }

  var isComment: Bool { bytes[index] == UInt8(ascii: "#") }

  var isOfNIS: Bool { bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") }

  /// Whether the line is over: at its newline, at a NUL, or at the end of the file.
  var isAtEnd: Bool {
    index >= bytes.count || bytes[index] == Self.newline || bytes[index] == 0
  }

  /// STRING_FIELD of files-parse.c: the bytes up to a colon, which is skipped, or to the end.
  mutating func field() -> Range<Int> {
    let start = index
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: ":") {
        index += 1
        return start..<(index - 1)
      }
      if byte == Self.newline || byte == 0 { break }
      index += 1
    }
    return start..<index
  }

  /// The bytes up to the end of the line.
  mutating func rest() -> Range<Int> {
    let start = index
    while !isAtEnd { index += 1 }
    return start..<index
  }

  /// INT_FIELD of files-parse.c; nil if the line cannot be read.
  mutating func number() -> UInt32? {
    guard let number = digits(), endsField() else { return nil }
    return UInt32(exactly: number)
  }

  /// INT_FIELD_MAYBE_NULL of files-parse.c: 0 for no number.
  mutating func numberOrNone() -> UInt32? {
    if isAtEnd { return nil }
    let number = digits() ?? 0
    return endsField() ? UInt32(exactly: number) : nil
  }

  private mutating func endsField() -> Bool {
    if isAtEnd { return true }
    guard bytes[index] == UInt8(ascii: ":") else { return false }
    index += 1
    return true
  }

  /// strtoul(3); nil, and no byte read, without a digit.
  private mutating func digits() -> UInt64? {
    let start = index
    while !isAtEnd, Self.isSpace(bytes[index]) { index += 1 }
    var isNegative = false
    if !isAtEnd, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
      isNegative = bytes[index] == UInt8(ascii: "-")
      index += 1
    }
    let first = index
    var (value, isTooLarge): (UInt64, Bool) = (0, false)
    while index < bytes.count, bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9")
    {
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(UInt64(bytes[index] - UInt8(ascii: "0")))
      value = sum
      isTooLarge = isTooLarge || overflow || carry
      index += 1
    }
    guard index > first else {
      index = start
      return nil
    }
    if isTooLarge { return .max }
    return isNegative ? 0 &- value : value
  }

  /// Calls `body` with each member of a list: between commas, without leading blanks, not empty.
  func forEachMember(in list: Range<Int>, _ body: (Range<Int>) -> Void) {
    var start = list.lowerBound
    while start < list.upperBound {
      while start < list.upperBound, Self.isSpace(bytes[start]) { start += 1 }
      var end = start
      while end < list.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
      if end > start { body(start..<end) }
      start = end + 1
    }
  }

  private static let newline = UInt8(ascii: "\n")

  /// isspace(3) in the locale C.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte >= 9 && byte <= 13
  }
}
