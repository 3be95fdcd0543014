/// One layer of a Landlock domain: what it handles, and what it allows beneath which inodes.
public struct LandlockRuleset: Hashable, Sendable, Codable {
  /// The rights that this layer refuses wherever `allowed` does not have them.
  public var handled: LandlockRights
  /// Rights by the index of the inode in `AccessFacts.inodes` at or beneath which they hold.
  public var allowed: [Int: LandlockRights]

  /// Makes one of its parts.
  public init(handled: LandlockRights, allowed: [Int: LandlockRights]) {
    self.handled = handled
    self.allowed = allowed
  }
}
