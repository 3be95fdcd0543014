/// The evaluator's verdict on facts, with the rule that decided and where.
public struct Decision: Hashable, Sendable {
  public enum Verdict: Hashable, Sendable {
    case granted
    case refused(Errno)
    /// The facts do not tell: something they would depend on could not be read.
    case undetermined
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

  public var verdict: Verdict
  public var rule: Rule
  public var step: Step
  /// Index into `AccessFacts.inodes`; nil where no inode was reached.
  public var inode: Int?

  public init(_ verdict: Verdict, _ rule: Rule, step: Step, inode: Int?) {
    self.verdict = verdict
    self.rule = rule
    self.step = step
    self.inode = inode
  }

  public var isGranted: Bool { verdict == .granted }

  /// The errno of a refusal.
  public var errno: Errno? {
    if case .refused(let errno) = verdict { errno } else { nil }
  }
}
