/// The reason for a status, with a code that is stable across versions.
public struct Reason: Hashable, Sendable {
  /// How sure the reason is.
  public enum Certainty: String, Hashable, Sendable {
    /// The facts or the kernel's own answer prove the reason.
    case proven
    /// The most likely reason that the facts allow.
    case suspected
  }

  /// The code, for programs.
  public var code: Code
  /// Whether the reason is certain or only the most likely one.
  public var certainty: Certainty
  /// The reason for people: a sentence without a period.
  public var message: String
  /// The facts that support the reason, as they were read.
  public var evidence: [String]
  /// The advice for this case; nil for the advice of the code.
  package var ownAdvice: String?
  /// The one whose refusal this is; nil for what the code says.
  var ownWhose: Refuser?

  /// Creates a reason with these values.
  ///
  /// - Parameters:
  ///   - code: The code, for programs.
  ///   - certainty: Whether the reason is certain or only the most likely one.
  ///   - message: The reason for people: a sentence without a period.
  ///   - evidence: The facts that support the reason, as they were read.
  public init(_ code: Code, _ certainty: Certainty, _ message: String, evidence: [String] = []) {
    self.code = code
    self.certainty = certainty
    self.message = message
    self.evidence = evidence
  }
}
