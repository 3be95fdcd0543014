/// A rule by which a program refuses a file for its owner or its mode, whatever the kernel grants.
struct ProgramRule: Sendable {
  /// Who may own the file, and the folders that count.
  enum Owner {
    case anyone
    case user
    case userOrRoot
    case root
  }

  /// The folders that are judged like the file.
  enum Above {
    case none
    case folder
    case home
  }

  /// The program's name, as `--as-used-by` and `--despite` have it.
  let program: String
  /// Patterns of absolute paths, see `Glob`; `~` stands for any folder, and `=` begins the first line of the contents.
  let places: [String]
  /// The owners that the program accepts.
  let owner: Owner
  /// Whether the rule is about a folder itself, not about a file in one.
  var isOfFolder = false
  /// The bits of the mode that may not be set.
  let forbidden: UInt16
  /// The bits that may not be set where root is the owner; nil for `forbidden`.
  var forbiddenOfRoot: UInt16?
  /// The bits that may not be set on the folders above; nil for `forbidden`.
  var forbiddenAbove: UInt16?
  /// The only mode; nil if `forbidden` decides.
  var only: UInt16?
  /// Whether the bits of the group count only where the group is not root's.
  var trustsRootGroup = false
  /// Whether the bits of the group do not count on Debian and Ubuntu if nobody but the user is in the group.
  var trustsPrivateGroup = false
  /// Whether the program looks only at files of the user who runs it.
  var isOfOwnFiles = false
  /// Whether the program reads the file as root.
  var runsAsRoot = false
  /// Whether the name of the file is that of the user.
  var isNamedAfterUser = false
  /// Whether the rule is not for root.
  var exemptsRoot = false
  /// Whether the user is whoever starts the program, not the owner of the file.
  var isOfCaller = false
  /// The kind of file, for people: `a log`; nil if the rule is about its places alone.
  var noun: String?
  /// A line in the settings of the program that lifts the rule; nil if there is none.
  var exception: Exception?
  /// Whether the program only warns.
  var onlyWarns = false
  /// The folders that the rule is about as well.
  var above = Above.none
  /// The program's answer to a file that it refuses, for people: `does not use the key`.
  let effect: String
  /// Another way to give access, for people; nil if none is known.
  var instead: String?
  /// The manual page and the source.
  let source: String

  /// A word in a file of settings, which may lift a rule: whether it does is not worked out.
  struct Exception: Sendable {
    /// The files, and folders of files; `~` is the home of the user.
    let files: [PathBytes]
    /// The beginning of the line, in small letters.
    let line: String
  }

  /// The owner and the bits that a rule does not accept.
  struct Fault: Hashable {
    var isOwner = false
    /// Whether the bits of the group may not count, since its members cannot be looked up.
    var isUnsure = false
    /// The bits of the mode that differ from what the program accepts.
    var bits: UInt16 = 0
  }

  /// Returns what the program objects to; nil if nothing.
  ///
  /// - Parameters:
  ///   - inode: The file, or a folder above it.
  ///   - user: The user who runs the program, or whose file it is.
  ///   - isAbove: Whether it is a folder above the file.
  ///   - inspection: The users and groups.
  /// - Returns: The fault.
  func fault(
    of inode: InodeFacts, for user: UInt32, isAbove: Bool, _ inspection: Inspection
  ) -> Fault? {
    if isOfOwnFiles && inode.uid != user || exemptsRoot && user == 0 { return nil }
    var fault = Fault()
    fault.isOwner =
      switch owner {
      case .anyone: false
      case .user: inode.uid != user
      case .userOrRoot: inode.uid != user && inode.uid != 0
      case .root: inode.uid != 0
      }
    var bits = inode.uid == 0 ? forbiddenOfRoot ?? forbidden : forbidden
    if isAbove, let forbiddenAbove { bits = forbiddenAbove }
    if trustsRootGroup, inode.gid == 0 { bits &= ~0o070 }
    fault.bits = inode.mode & bits
    if let only, !isAbove { fault.bits = inode.mode & 0o7777 ^ only }
    if trustsPrivateGroup, fault.bits & 0o070 != 0 {
      switch inspection.isPrivateGroup(of: inode, for: user) {
      case true?: fault.bits &= ~0o070
      case false?: break
      case nil: fault.isUnsure = true
      }
    }
    return fault == Fault() ? nil : fault
  }

  /// Returns whether the program may object to bits of a mode.
  func concerns(_ bits: UInt16, isAbove: Bool) -> Bool {
    bits & (isAbove ? forbiddenAbove ?? forbidden : only == nil ? forbidden : 0o7777) != 0
  }

  /// Returns the number of components of a home folder, or of nothing, before what matches a place; nil if none matches.
  func home(of path: PathBytes) -> Int? {
    let names = path.components
    for place in places where !place.hasPrefix("=") {
      let pattern = PathBytes(place).components
      if place.hasPrefix("~") {
        let rest = pattern.dropFirst()
        let start = names.count - rest.count
        if start >= 0, Self.matches(names[start...], rest) { return start }
      } else if names.count == pattern.count, Self.matches(names[...], pattern[...]) {
        return 0
      }
    }
    return nil
  }

  /// Returns whether a folder counts for a file of this rule; `exists` reports whether a file is there.
  func counts(folder path: PathBytes, _ exists: (PathBytes) -> Bool) -> Bool {
    let names = path.components
    return places.contains { place in
      let pattern = PathBytes(place).components
      switch above {
      case .none: return false
      case .folder:
        let parents = pattern.dropLast()
        return !place.hasPrefix("~") && names.count == parents.count
          && Self.matches(names[...], parents)
      case .home:
        let rest = Array(pattern.dropFirst())
        guard place.hasPrefix("~") else { return false }
        return rest.indices.contains { count in
          names.count >= count && names.suffix(count).elementsEqual(rest.prefix(count))
            && exists(rest[count...].reduce(path) { $0.appending($1) })
        }
      }
    }
  }

  private static func matches(
    _ names: ArraySlice<PathBytes>, _ pattern: ArraySlice<PathBytes>
  ) -> Bool {
    zip(names, pattern).allSatisfy { Glob.matches($0.bytes[...], $1.bytes[...]) }
      && names.last?.bytes.suffix(4).elementsEqual(".pub".utf8) != true
  }

  /// The beginning of the first line of files that the rule is about, wherever they are; nil if there is none.
  var firstLine: String? {
    places.first { $0.hasPrefix("=") }.map { String($0.dropFirst()) }
  }
}

extension Inspection {
  /// Returns whether a group has one user alone, as the OpenSSH of Debian and its descendants asks.
  ///
  /// See user-group-modes.patch there; elsewhere no group is private.
  ///
  /// - Returns: Nil if that cannot be looked up.
  fileprivate func isPrivateGroup(of inode: InodeFacts, for user: UInt32) -> Bool? {
    let place = context.root.appending("etc/debian_version")
    guard !isSaved, (try? system.machine(below: context.root).kind(of: place)) != nil
    else { return false }
    do throws(Errno) {
      let name = users.groupName(inode.gid)
      guard let members = try users.members(of: name), !members.isEmpty,
        let listed = try users.names(listedIn: name)
      else { return false }
      // A listed name counts only if it is that of the file's owner.
      let owner = users.userName(inode.uid)
      return members.allSatisfy { $0.uid == user }
        && (listed.isEmpty || listed.count == 1 && listed[0].isExactly(owner))
    } catch {
      return nil
    }
  }
}

extension ProgramRule.Fault {
  /// Returns what is wrong, for people: `its group may read, mode 0640`.
  func words(of inode: InodeFacts, owner: String, expected: String) -> String {
    var clauses: [String] = []
    if isOwner { clauses.append("it belongs to \(owner), not to \(expected)") }
    for (who, shift) in [("its owner", 6), ("its group", 3), ("everybody", 0)] {
      let verbs = [(4, "read"), (2, "write"), (1, inode.kind == .directory ? "enter" : "execute")]
        .filter { bits & inode.mode & UInt16($0.0 << shift) != 0 }.map(\.1)
      if !verbs.isEmpty {
        clauses.append("\(who) may \(verbs.joined(separator: " and "))")
      }
    }
    if clauses.isEmpty { clauses.append("the mode is another one") }
    let mode = String(inode.mode & 0o7777, radix: 8)
    let shown = String(repeating: "0", count: max(0, 4 - mode.count)) + mode
    let isMask = inode.acl?.mask != nil && bits & 0o070 != 0
    if bits != 0 { clauses.append("mode \(shown)") }
    return clauses.joined(separator: ", ")
      + (isMask ? ", where ACL entries count as the group" : "")
  }
}
