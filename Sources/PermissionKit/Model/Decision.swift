/// The evaluator's verdict on facts, with the rule that decided and where.
public struct Decision: Hashable, Sendable {
  /// What the kernel would answer.
  public enum Verdict: Hashable, Sendable {
    /// The call would succeed.
    case granted
    /// The call would fail with this errno.
    case refused(Errno)
    /// The facts do not tell: something they would depend on could not be read.
    case undetermined

    /// The word for documents: `granted`, `refused`, `undetermined`.
    public var name: String {
      switch self {
      case .granted: "granted"
      case .refused: "refused"
      case .undetermined: "undetermined"
      }
    }

    /// The errno of a refusal.
    public var errno: Errno? { if case .refused(let errno) = self { errno } else { nil } }
  }

  /// What was being asked of the inode at which the decision fell.
  public enum Step: String, Hashable, Sendable {
    /// Search permission, or a lookup, on the way to the last component.
    case walk
    /// Write permission on the directory in which a file would be created.
    case create
    /// The last component itself.
    case target
  }

  /// What the kernel would answer to the whole question.
  package var verdict: Verdict
  /// The first rule that refused or could not be told, or else the one that granted.
  package var rule: Rule
  /// What was being asked when the decision fell.
  package var step: Step
  /// Index into `AccessFacts.inodes`; nil where no inode was reached.
  package var inode: Int?

  /// Makes one of its parts.
  package init(_ verdict: Verdict, _ rule: Rule, step: Step, inode: Int?) {
    self.verdict = verdict
    self.rule = rule
    self.step = step
    self.inode = inode
  }

  /// Whether it was granted; false also where the facts do not tell.
  package var isGranted: Bool { verdict == .granted }

  /// The bits grant it, and only the driver's own open tells whether it does too.
  var isForDriver: Bool { verdict == .undetermined && rule == .driver }

  /// The errno of a refusal.
  package var errno: Errno? { verdict.errno }
}
