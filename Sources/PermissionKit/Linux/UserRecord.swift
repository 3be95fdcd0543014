internal import JSONSyntax

/// A line of the user data base, see passwd(5).
public struct UserRecord: Hashable, Sendable {
  /// The login name; two records are equal only if its bytes are the same.
  public var name: String {
    get { exactName.string }
    set { exactName = ExactString(newValue) }
  }
  private var exactName: ExactString
  /// The user id.
  public var uid: UInt32
  /// The id of the primary group.
  public var gid: UInt32
  /// The home directory, as the line contains it.
  public var home: PathBytes

  /// Creates a user record with these values.
  public init(name: String, uid: UInt32, gid: UInt32, home: PathBytes) {
    exactName = ExactString(name)
    self.uid = uid
    self.gid = gid
    self.home = home
  }
}

/// A line of group(5).
struct GroupRecord: Sendable {
  var name: String
  var gid: UInt32
  var members: [String]
}

extension String {
  /// Whether both have the same bytes, as names of users and groups must; `==` is canonical equivalence.
  package func isExactly(_ other: String) -> Bool { ExactString(self) == ExactString(other) }
}
