/// One layer of a Landlock domain: the rights it handles and the rights it allows below inodes.
package struct LandlockRuleset: Hashable, Sendable {
  /// The rights that this layer refuses unless `allowed` contains them.
  package var handled: LandlockRights
  /// The allowed rights, by index in `AccessFacts.inodes`; they hold at this inode and below.
  package var allowed: [Int: LandlockRights]

  /// Creates a layer with these values.
  package init(handled: LandlockRights, allowed: [Int: LandlockRights]) {
    self.handled = handled
    self.allowed = allowed
  }
}
