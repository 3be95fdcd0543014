/// The evaluator's verdict on facts, the rule that decided and the place where it decided.
public struct Decision: Hashable, Sendable {
  /// The answer of the kernel.
  public enum Verdict: Hashable, Sendable {
    /// The call would succeed.
    case granted
    /// The call would fail with this errno.
    case refused(Errno)
    /// Access is unknown, because a fact that decides could not be read.
    case undetermined

    /// The word for the verdict in documents: `granted`, `refused`, `undetermined`.
    public var name: String {
      switch self {
      case .granted: "granted"
      case .refused: "refused"
      case .undetermined: "undetermined"
      }
    }

    /// The errno of a refusal; nil for other verdicts.
    public var errno: Errno? { if case .refused(let errno) = self { errno } else { nil } }
  }

  /// The permissions that were needed on the inode that decided.
  public enum Step: String, Hashable, Sendable {
    /// Search permission, or a lookup, on the way to the last component.
    case walk
    /// Write permission on the directory that would hold the new file.
    case create
    /// Write permission on the directory that holds a name that is to be removed.
    case remove
    /// The last component itself.
    case target
  }

  /// The kernel's answer to the whole question.
  package var verdict: Verdict
  /// The first rule that refused or was undetermined; if there is none, the rule that granted.
  package var rule: Rule
  /// The permissions that were needed on the inode that decided.
  package var step: Step
  /// The index of that inode in `AccessFacts.inodes`; nil if no inode was reached.
  package var inode: Int?
  /// The permissions that were asked for there; empty if the rule is not about permissions.
  package var asked: Permissions = []

  /// Creates a decision with these values.
  ///
  /// - Parameters:
  ///   - verdict: The kernel's answer to the whole question.
  ///   - rule: The rule that decided.
  ///   - step: What was asked of the inode at which the decision was made.
  ///   - inode: The index of that inode in `AccessFacts.inodes`.
  package init(_ verdict: Verdict, _ rule: Rule, step: Step, inode: Int?) {
    self.verdict = verdict
    self.rule = rule
    self.step = step
    self.inode = inode
  }

  /// Whether access is granted; false also if access is unknown.
  package var isGranted: Bool { verdict == .granted }

  /// Whether the same rule decides the same about the same inode, whatever permissions were asked for.
  func decidesAs(_ other: Decision) -> Bool {
    verdict == other.verdict && rule == other.rule && step == other.step && inode == other.inode
  }

  /// Whether mode and ACL grant access, so that only an open of the device shows the rest.
  var isForDriver: Bool { verdict == .undetermined && rule == .driver }

  /// The errno of a refusal; nil for other verdicts.
  package var errno: Errno? { verdict.errno }
}
