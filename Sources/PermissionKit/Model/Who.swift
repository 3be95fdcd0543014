internal import JSONSyntax

/// A subject or several, as a caller names them; `UserDatabase.subject(_:)` looks them up.
public enum Who: Hashable, Sendable {
  /// The calling process.
  case current
  /// A user, by name or number, as after a new login.
  case user(String)
  /// Numeric ids; the user need not exist.
  case ids(uid: UInt32, gid: UInt32, groups: [UInt32])
  /// A running process.
  case process(Int32)
  /// Each user whose primary group this is, and each whom the group lists.
  case group(String)
  /// Each user of the user data base.
  case everybody

  /// The identity: names by their bytes, and not by canonical equivalence.
  private enum Key: Hashable {
    case current, everybody
    case named(ExactString, isGroup: Bool)
    case ids(UInt32, UInt32, [UInt32])
    case process(Int32)
  }

  private var key: Key {
    switch self {
    case .current: .current
    case .user(let name): .named(ExactString(name), isGroup: false)
    case .ids(let uid, let gid, let groups): .ids(uid, gid, groups)
    case .process(let pid): .process(pid)
    case .group(let name): .named(ExactString(name), isGroup: true)
    case .everybody: .everybody
    }
  }

  /// Returns whether both name the same subject, names by their bytes.
  public static func == (left: Who, right: Who) -> Bool { left.key == right.key }

  /// Feeds what `==` compares to the hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(key) }

  /// Whether this may name several subjects, each of which must be judged.
  package var isOfMany: Bool {
    switch self {
    case .current, .user, .ids, .process: false
    case .group, .everybody: true
    }
  }

  /// The name for people: `this process`, `pid 7`, `uid 5 gid 60 groups 44,60`.
  package var words: String {
    switch self {
    case .current: "this process"
    case .process(let pid): "pid \(pid)"
    case .user(let name): name
    case .ids(let uid, let gid, let groups):
      "uid \(uid) gid \(gid)"
        + (groups.isEmpty ? "" : " groups \(groups.map(String.init).joined(separator: ","))")
    case .group(let name): "group \(name)"
    case .everybody: "everybody"
    }
  }
}
