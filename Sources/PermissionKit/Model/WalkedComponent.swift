/// One component of an explained path.
public struct WalkedComponent: Hashable, Sendable {
  /// The name in its directory; `/` or `.` for the first component.
  public var name: PathBytes
  /// The file type, mode, ids and ACL; nil if the component was not reached or is missing.
  public var inode: InodeSummary?
  /// The owner's name, or the uid if there is no name.
  public var owner: String
  /// The owning group's name, or the gid if there is no name.
  public var group: String
  /// The permissions that the kernel asks of this component; nil if it asks nothing.
  public var need: Permissions?
  /// The verdict on this component; nil if the kernel asks nothing of it.
  public var verdict: Decision.Verdict?
  /// The rule behind the verdict on this component.
  public var rule: Rule?
  /// The bits or the ACL entry that decided here, for people: `group r-x`.
  public var basis: String
  /// The rule that granted the permissions, where another rule then refuses; nil if there is no
  /// other.
  package var grant: String?
  /// The target of a symbolic link that was followed; nil for every other component.
  public var target: PathBytes?
  /// Whether there is no such name, as far as the walk came.
  package var isMissing = false
  /// Whether the component belongs to the target of a link and not to the path itself.
  public var isOfLink: Bool
  /// Whether the verdict on the whole path was made at this component.
  public var decides: Bool

  init(_ name: PathBytes, isOfLink: Bool) {
    self.name = name
    owner = ""
    group = ""
    basis = ""
    self.isOfLink = isOfLink
    decides = false
  }

  /// Whether the walk reached this component; the walk ends at the deciding component.
  public var isReached: Bool { inode != nil || decides }
}
