/// The walk of a path through the facts, as in fs/namei.c.
extension KernelCall {
  /// The value of `source` for the path of the question; any other value is the index of a link.
  static let questionPath = -1
  private static let maxLinks = 40  // MAXSYMLINKS, include/linux/namei.h
  private static let maxName = 255  // NAME_MAX, include/uapi/linux/limits.h
  private static let maxPath = 4096  // PATH_MAX, with the NUL

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  /// Mirrors path_lookupat() of fs/namei.c; afterwards `current` is the inode at the end of the
  /// path.
  mutating func lookup(followsLast: Bool, wantsDirectory: Bool) throws(Stop) {
    try start(followsLast: followsLast, wantsDirectory: wantsDirectory)
    while true {
      try walkToLast()
      if isRootOnly { break }
      if lastIsDots {
        stepIntoDots()
        break
      }
      if lastHasSlash {
        self.followsLast = true
        self.wantsDirectory = true
      }
      guard let found = try child() else { throw refuse(.ENOENT, .missing, current, .walk) }
      if try step(into: found, isLast: true) { break }
    }
    if self.wantsDirectory, inodes[current].kind != .directory {
      throw refuse(.ENOTDIR, .notADirectory, current, .walk)
    }
  }

  /// Mirrors getname_flags() and path_init() of fs/namei.c.
  mutating func start(followsLast: Bool, wantsDirectory: Bool) throws(Stop) {
    if path.isEmpty { throw refuse(.ENOENT, .emptyPath, nil, .walk) }
    if path.bytes.count >= Self.maxPath { throw refuse(.ENAMETOOLONG, .pathTooLong, nil, .walk) }
    if !path.isAbsolute, facts.unresponsiveStart != nil {
      throw undetermined(.notAnswering, nil, .walk)
    }
    if !path.isAbsolute, facts.startError != nil { throw undetermined(.unreadable, nil, .walk) }
    root = facts.root
    current = path.isAbsolute ? root : facts.start
    self.followsLast = followsLast
    self.wantsDirectory = wantsDirectory
    steps?.append(WalkStep(event: .start(current)))
    offset = skipSlashes(path.bytes, 0)
  }

  /// Mirrors link_path_walk() of fs/namei.c; describes the last component in `last…`.
  mutating func walkToLast() throws(Stop) {
    isRootOnly = false
    if offset == count(source) {
      // The path "/" has no component, so the kernel checks no search permission.
      isRootOnly = true
      return
    }
    while true {
      // What is above another machine's root decides for nobody there.
      if facts.base == nil || root == facts.base { _ = try permission(current, .execute, .walk) }
      let hasMore = parseComponent()
      if !hasMore {
        if let next = suspended.popLast() {
          source = next.source
          offset = next.offset
        } else {
          directoryOwner = mappedUser(inodes[current].uid, current)
          directoryMode = inodes[current].mode
          return
        }
      }
      if lastIsDots {
        stepIntoDots()
      } else {
        guard let found = try child() else { throw refuse(.ENOENT, .missing, current, .walk) }
        if !(try step(into: found, isLast: false)) { continue }
      }
      if inodes[current].kind != .directory {
        throw refuse(.ENOTDIR, .notADirectory, current, .walk)
      }
    }
  }

  /// Describes the component at `offset` in `last…` and moves `offset` past the slashes after it.
  ///
  /// - Returns: Whether more components follow in the same bytes.
  private mutating func parseComponent() -> Bool {
    func parse(_ bytes: [UInt8], _ start: Int) -> (end: Int, next: Int) {
      var end = start
      while end < bytes.count, bytes[end] != Self.slash { end += 1 }
      return (end, skipSlashes(bytes, end))
    }
    let (end, next) =
      source == Self.questionPath
      ? parse(path.bytes, offset) : parse(inodes[source].target?.bytes ?? [], offset)
    lastSource = source
    lastStart = offset
    lastEnd = end
    offset = next
    lastHasSlash = offset > lastEnd
    return offset < count(source)
  }

  private func skipSlashes(_ bytes: [UInt8], _ start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] == Self.slash { index += 1 }
    return index
  }

  private func count(_ source: Int) -> Int {
    source == Self.questionPath
      ? path.bytes.count : inodes[source].target?.bytes.count ?? 0
  }

  /// Whether the component is `.` or `..`: LAST_DOT or LAST_DOTDOT.
  var lastIsDots: Bool {
    let length = lastEnd - lastStart
    guard length == 1 || length == 2 else { return false }
    return byte(lastStart) == Self.dot && (length == 1 || byte(lastStart + 1) == Self.dot)
  }

  private func byte(_ index: Int) -> UInt8? {
    lastSource == Self.questionPath
      ? path.bytes[index] : inodes[lastSource].target?.bytes[index]
  }

  /// The name of the component.
  private var lastName: PathBytes {
    let bytes =
      lastSource == Self.questionPath ? path.bytes : inodes[lastSource].target?.bytes ?? []
    return PathBytes(Array(bytes[lastStart..<lastEnd]))
  }

  /// Mirrors handle_dots() of fs/namei.c.
  mutating func stepIntoDots() {
    if lastEnd - lastStart == 2, current != root { current = inodes[current].parent }
    if steps != nil {
      let step = WalkStep(
        event: .lookup(
          lastName, parent: current, inode: current, isOfLink: lastSource != Self.questionPath))
      steps?.append(step)
    }
  }

  /// Looks up the component in `current`.
  ///
  /// - Returns: The inode; nil if there is no such name.
  mutating func child() throws(Stop) -> Int? {
    if lastEnd - lastStart > Self.maxName {
      throw refuse(.ENAMETOOLONG, .nameTooLong, current, .walk)
    }
    if tracksMakers { findOtherMakers() }
    let found =
      lastSource == Self.questionPath
      ? entry(path.bytes) : entry(inodes[lastSource].target?.bytes ?? [])
    if steps != nil {
      var inode: Int?
      if case .inode(let index) = found { inode = index }
      let step = WalkStep(
        event: .lookup(
          lastName, parent: current, inode: inode, isOfLink: lastSource != Self.questionPath))
      steps?.append(step)
    }
    switch found {
    case .inode(let index): return index
    case .missing: return nil
    case .unresponsive: throw undetermined(.notAnswering, current, .walk)
    case .automount: throw undetermined(.automount, current, .walk)
    case .unreadable: throw undetermined(.unreadable, current, .walk)
    case nil:
      if inodes[current].kind != .directory {
        throw refuse(.ENOTDIR, .notADirectory, current, .walk)
      }
      if inodes[current].entriesAreComplete { return nil }
      throw undetermined(.unreadable, current, .walk)
    }
  }

  /// Notes if users other than root can create names in `current`, or if only a daemon says that
  /// they cannot.
  private mutating func findOtherMakers() {
    if inodes[current].uid != 0 || inodes[current].mode & 0o022 != 0
      || !traits[mount(current)].rules.isDecidedByKernel
    {
      hasOtherMakers = true
    }
  }

  private func entry(_ bytes: [UInt8]) -> InodeFacts.Entry.Found? {
    let length = lastEnd - lastStart
    search: for index in inodes[current].entries.indices {
      guard inodes[current].entries[index].name.bytes.count == length else { continue }
      for position in 0..<length
      where inodes[current].entries[index].name.bytes[position]
        != bytes[lastStart + position]
      {
        continue search
      }
      return inodes[current].entries[index].found
    }
    return nil
  }

  /// Mirrors step_into() and pick_link() of fs/namei.c.
  ///
  /// - Returns: Whether `current` is now the component; false if the target of a link comes next.
  mutating func step(into inode: Int, isLast: Bool) throws(Stop) -> Bool {
    guard inodes[inode].kind == .symbolicLink, !isLast || followsLast else {
      current = inode
      if inode == facts.base { root = inode }
      return true
    }
    if links >= Self.maxLinks { throw refuse(.ELOOP, .tooManyLinks, inode, .walk) }
    links += 1
    if isLast, facts.sysctls.protectedSymlinks != 0 { try mayFollow(inode) }
    if mountHas(.noSymbolicLinks, inode) { throw refuse(.ELOOP, .noSymlinkMount, inode, .walk) }
    steps?.append(WalkStep(event: .link(inode)))
    if let jump = inodes[inode].jump {
      hasOtherMakers = true
      // Such a link leads to a place of this machine, whatever root the path has.
      if facts.base != nil { throw undetermined(.fileSystemRules, inode, .walk) }
      // proc_pid_get_link() of fs/proc/base.c calls ptrace_may_access() for the subject, which a process passes for itself.
      let mayTrace = subject.effective.contains(.sysPtrace) && subject.userNamespace == nil
      if !facts.readerIsSubject, !mayTrace, !inodes[inode].isOwnLink {
        throw undetermined(.fileSystemRules, inode, .walk)
      }
      current = jump
      return true
    }
    guard let target = inodes[inode].target, !target.isEmpty else {
      throw undetermined(.unreadable, inode, .walk)
    }
    var start = 0
    if target.isAbsolute {
      current = root
      start = skipSlashes(target.bytes, 0)
      if start == target.bytes.count { return true }
    }
    if !isLast { suspended.append((source, offset)) }
    source = inode
    offset = start
    return false
  }

  /// Mirrors may_follow_link() of fs/namei.c.
  private mutating func mayFollow(_ link: Int) throws(Stop) {
    if grantsEverything { return }
    let owner = mappedUser(inodes[link].uid, link)
    guard directoryMode & 0o1002 == 0o1002 else { return }
    if let owner {
      if try isSubject(owner, link, .walk) { return }
      if owner == directoryOwner, owner != facts.overflow?.uid { return }
    }
    // Two ids that are not mapped look the same.
    if let owner, owner == directoryOwner { throw undetermined(.unmappedID, link, .walk) }
    if facts.sysctls.protectedSymlinks == nil { throw undetermined(.unreadable, link, .walk) }
    throw refuse(.EACCES, .protectedSymlink, link, .walk)
  }
}
