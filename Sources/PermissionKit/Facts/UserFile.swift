/// The lines of /etc/passwd or /etc/group up to the first one that is not in plain form.
///
/// glibc has rules of its own for comments, blanks, signs and short lines, so glibc is asked for
/// everything after such a line.
///
/// - SeeAlso: passwd(5), group(5), nss/nss_files in glibc
struct UserFile: Sendable {
  private struct Line {
    var name = 0..<0
    var id: UInt32 = 0
    /// The rest of the line: group, comment, home and shell of a user, or the members of a group.
    var rest = 0..<0
  }

  private let bytes: [UInt8]
  private let fields: Int

  /// Creates the lines of a file.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file.
  ///   - fields: How many fields a line has: 7 in passwd(5), 4 in group(5).
  init(_ bytes: [UInt8], fields: Int) {
    self.bytes = bytes
    self.fields = fields
  }

  /// Returns the line that begins at `start`; nil if it is not plain.
  private func line(_ start: Int) -> Line? {
    guard Self.isLetter(bytes[start]) else { return nil }
    var line = Line()
    var (field, start, index) = (0, start, start)
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      // What most bytes are.
      if byte > UInt8(ascii: ":"), byte != 0x7f { continue }
      if byte == UInt8(ascii: "\n") {
        guard field == fields - 1 else { return nil }
        line.rest = line.rest.lowerBound..<(index - 1)
        return line
      } else if byte == UInt8(ascii: ":") {
        switch field {
        case 0: line.name = start..<(index - 1)
        case 2:
          guard let id = Self.number(bytes[start..<(index - 1)]) else { return nil }
          line.id = id
          line.rest = index..<index
        case 3 where fields == 7:
          guard Self.number(bytes[start..<(index - 1)]) != nil else { return nil }
        default: break
        }
        (field, start) = (field + 1, index)
      } else if byte <= UInt8(ascii: " ") || byte == 0x7f {
        // A comment and a home directory may have blanks.
        guard byte == UInt8(ascii: " "), field > 3 else { return nil }
      }
    }
    return nil
  }

  /// Calls `body` with each line until it returns true, and returns whether no line was for NIS
  /// (`+`, `-`).
  private func read(_ body: (Line) -> Bool) -> Bool {
    var start = 0
    while start < bytes.count {
      guard let line = line(start) else { return false }
      if body(line) { return true }
      start = line.rest.upperBound + 1
    }
    return true
  }

  private func first(where matches: (Line) -> Bool) -> Line? {
    var found: Line?
    _ = read { line in
      if matches(line) { found = line }
      return found != nil
    }
    return found
  }

  /// Whether a plain name can begin with the byte.
  private static func isLetter(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
      || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: "_")
  }

  /// Returns the decimal number; nil for a sign, a blank, or a number that is too large.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt32? {
    guard !digits.isEmpty, digits.count <= 10 else { return nil }
    var number: UInt64 = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
    }
    return UInt32(exactly: number)
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Returns the first user with this name; nil if glibc has to be asked.
  func user(named name: String) -> UserRecord? {
    first { bytes[$0.name].elementsEqual(name.utf8) }.flatMap(record)
  }

  /// Returns the first user with this uid; nil if glibc has to be asked.
  func user(_ uid: UInt32) -> UserRecord? { first { $0.id == uid }.flatMap(record) }

  private func record(_ line: Line) -> UserRecord? {
    let fields = bytes[line.rest].split(
      separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard fields.count == 4, let gid = Self.number(fields[0]) else { return nil }
    return UserRecord(
      name: text(line.name), uid: line.id, gid: gid, home: PathBytes(Array(fields[2])))
  }

  /// Returns the name of the first group with this gid; nil if glibc has to be asked.
  func groupName(_ gid: UInt32) -> String? { first { $0.id == gid }.map { text($0.name) } }

  /// Returns the groups of a user as getgrouplist(3) does: the primary group first, each once; nil if
  /// glibc has to be asked.
  func groups(of user: UserRecord) -> [UInt32]? {
    var groups = [user.gid]
    let isPlain = read { line in
      if !line.rest.isEmpty, !groups.contains(line.id) {
        let members = bytes[line.rest].split(separator: UInt8(ascii: ","))
        if members.contains(where: { $0.elementsEqual(user.name.utf8) }) { groups.append(line.id) }
      }
      return false
    }
    return isPlain ? groups : nil
  }
}
