/// One component of an explained path.
public struct WalkedComponent: Hashable, Sendable {
  /// Its name in its directory; `/` or `.` for the first.
  public var name: PathBytes
  /// The file type, mode, ids and ACL; nil when it was not reached or is not there.
  public var inode: InodeSummary?
  /// The owner's name, or its number.
  public var owner: String
  /// The owning group's name, or its number.
  public var group: String
  /// What was asked of it; nil when nothing was.
  public var need: Permissions?
  /// What this component answered; nil when nothing was asked.
  public var verdict: Decision.Verdict?
  /// The rule by which it did.
  public var rule: Rule?
  /// The bits or entry that decided here, for people: `group r-x`.
  public var basis: String
  /// Where the link that this is leads; nil for anything but a link that was followed.
  public var target: PathBytes?
  /// It was reached through a link's target, and is no part of the path itself.
  public var isOfLink: Bool
  /// The verdict on the whole path fell here.
  public var decides: Bool

  init(_ name: PathBytes, isOfLink: Bool) {
    self.name = name
    owner = ""
    group = ""
    basis = ""
    self.isOfLink = isOfLink
    decides = false
  }

  /// It was looked at; what comes after the deciding component is not.
  public var isReached: Bool { inode != nil || decides }
}
