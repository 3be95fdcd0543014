/// One layer of a Landlock domain: what it handles, and what it allows beneath which inodes.
package struct LandlockRuleset: Hashable, Sendable {
  /// The rights that this layer refuses wherever `allowed` does not have them.
  package var handled: LandlockRights
  /// Rights by the index of the inode in `AccessFacts.inodes` at or beneath which they hold.
  package var allowed: [Int: LandlockRights]

  /// Makes one of its parts.
  package init(handled: LandlockRights, allowed: [Int: LandlockRights]) {
    self.handled = handled
    self.allowed = allowed
  }
}
