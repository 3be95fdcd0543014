internal import Synchronization

// Users and groups that are not in files: sssd, LDAP, systemd and others, as getent(1) tells them.
//
// glibc's own lookups load the modules of the sources into the process, and wait for their servers under a
// lock. A program of its own can be waited for, ended, and left out.
extension System {
  /// Asks getent(1) for entries of `passwd` or `group`.
  ///
  /// - Parameters:
  ///   - database: `passwd` or `group`.
  ///   - keys: Names or ids; every entry that is listed, if empty.
  /// - Returns: The entries that were found, one for each key. Those of an id have it; a name of digits
  ///   gets the entry of the id.
  /// - Throws: ENOENT without getent, ETIMEDOUT if it did not answer, EFBIG if it wrote too much, EINVAL
  ///   if an answer cannot be read, EIO if it failed.
  func getent(_ database: String, _ keys: [String]) throws(Errno) -> UserFile {
    // What no line can begin with is no name, and what begins with a sign would be an option.
    let askable = keys.filter(Self.canBeAsked)
    if askable.isEmpty, !keys.isEmpty { return UserFile([]) }
    let (answer, isWhole) = try runGetent(database, askable)
    let colons = database == "passwd" ? 6 : 3
    var lines = 0
    for line in answer.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    where !line.isEmpty {
      lines += 1
      guard line.count(where: { $0 == UInt8(ascii: ":") }) == colons else { throw .EINVAL }
    }
    guard answer.last ?? 10 == 10,
      keys.isEmpty || lines <= askable.count && (!isWhole || lines == askable.count)
    else {
      throw .EINVAL
    }
    return UserFile(answer)
  }

  /// Returns every group of a user whom the sources know, with the primary group first.
  ///
  /// - Throws: As `getent`.
  func listedGroups(of user: UserRecord) throws(Errno) -> [UInt32] {
    var groups = [user.gid]
    guard Self.canBeAsked(user.name) else { return groups }
    let answer = try runGetent("initgroups", [user.name]).output
    let name = Array(user.name.utf8)
    guard answer.starts(with: name), answer.last == 10 else { throw .EINVAL }
    // The name, then blanks up to a column, then the ids.
    let rest = answer.dropFirst(name.count).dropLast()
    guard rest.isEmpty || rest.first == UInt8(ascii: " ") else { throw .EINVAL }
    for word in rest.split(separator: UInt8(ascii: " ")) {
      guard let gid = UInt32(String(decoding: word, as: UTF8.self)) else { throw .EINVAL }
      if !groups.contains(gid) { groups.append(gid) }
    }
    return groups
  }

  /// Looks up many ids by one call of getent(1) each for users and groups, where files lack them; without a
  /// memory, each is looked up when it is asked for.
  func learn(users: Set<UInt32>, groups: Set<UInt32>) {
    guard let cached, let sources = try? userSources() else { return }
    if !sources.users.hasOnlyFiles, let file = try? userFile() {
      let keys = users.filter { file.user($0) == nil }.sorted()
      if keys.count > 1, let found = try? getent("passwd", keys.map { String($0) }) {
        cached.contents.withLock { for uid in keys { $0.keepMore.users[uid] = found.user(uid) } }
      }
    }
    if !sources.groups.hasOnlyFiles, let file = try? groupFile() {
      let keys = groups.filter { file.group($0) == nil }.sorted()
      if keys.count > 1, let found = try? getent("group", keys.map { String($0) }) {
        cached.contents.withLock {
          for gid in keys { $0.keepMore.groups[gid] = found.group(gid)?.name }
        }
      }
    }
  }

  private static func canBeAsked(_ key: String) -> Bool {
    guard let first = key.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else {
      return false
    }
    return !key.utf8.contains { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "\n") || $0 == 0 }
  }

  /// Where distributions have getent(1).
  private static var programs: [PathBytes] {
    ["/usr/bin/getent", "/bin/getent", "/run/current-system/sw/bin/getent"]
  }

  /// Returns what getent(1) wrote, and whether it found every key.
  private func runGetent(
    _ database: String, _ keys: [String]
  ) throws(Errno) -> (output: [UInt8], isWhole: Bool) {
    guard let program = Self.programs.first(where: isThere) else { throw .ENOENT }
    if LinuxSystem.isUnresponsive("getent", monotonic()) { throw .ETIMEDOUT }
    let isList = keys.isEmpty
    let output = try runProgram(
      [program, PathBytes(database)] + keys.map { PathBytes($0) }, environment: ["LC_ALL=C"],
      input: [],
      timeout: isList ? 10_000 : 1_000, size: isList ? UserDatabase.mostBytes : keys.count << 20,
      mayGainPrivileges: false)
    switch output.end {
    case .ended(.exited(0)): return (output.output, true)
    // A key was not found, or a source did not answer: getent does not tell which.
    case .ended(.exited(2)) where !isList: return (output.output, false)
    case .ended: throw .EIO
    case .long: throw .EFBIG
    case .late:
      LinuxSystem.remember("getent", -1, until: monotonic() + 10_000_000)
      throw .ETIMEDOUT
    }
  }
}
