/// A line of the user data base, see passwd(5).
public struct UserRecord: Hashable, Sendable {
  /// The login name.
  public var name: String
  /// The user id.
  public var uid: UInt32
  /// The id of the primary group.
  public var gid: UInt32
  /// The home directory, as the line contains it.
  public var home: PathBytes

  /// Creates a user record with these values.
  public init(name: String, uid: UInt32, gid: UInt32, home: PathBytes) {
    self.name = name
    self.uid = uid
    self.gid = gid
    self.home = home
  }
}
