/// How to request missing access, and who must agree.
public struct GrantOptions: Sendable {
  /// The kind of change to make.
  public var strategy: any GrantStrategy
  /// Whether to make changes that give access to others too.
  public var allowsOthers: Bool
  /// Whether a directory includes everything in it.
  ///
  /// A check examines the directory alone. Call `AccessContext.includeContents()` too, so that a
  /// refusal in the directory makes access missing.
  public var isRecursive: Bool
  /// The programs whose refusal of a changed file is accepted, such as `sshd`; nil if `consent` decides about that, too.
  ///
  /// A request that makes another program refuse a file fails, see `GrantPlan.objections`.
  public var despite: Set<String>? = []
  /// When the grants end.
  package var lifetime = Grant.Lifetime()
  /// The open grants of this process's journal, if they are read already.
  package var journaled: GrantLedger?
  /// Who must agree to a plan; nil if nobody does yet, so that nothing is changed.
  ///
  /// A program that may ask the person at its terminal sets `askAtTerminal`.
  public var consent: Consent?
  /// The way to make changes that need root; nil if such changes fail.
  public var elevation: (any Elevation)?
  /// Why the program asks, shown with the question: `snapshot needs the camera to take a picture`.
  public var purpose: String?
  /// Whether to change only device nodes below /dev and the directories that lead to them.
  ///
  /// Devices that somebody uses as a terminal are left out, see `Terminals`.
  package var isConfinedToDevices = false
  /// The devices that are not given if `isConfinedToDevices` is set.
  package var withheld: [DeviceFamily.Numbers] = []

  /// Returns whether to carry out a plan.
  public typealias Consent = @Sendable (GrantPlan) throws(PermissionError) -> Bool

  /// Asks the person at the terminal; the answer is no if there is no terminal.
  public static let askAtTerminal: Consent = {
    (plan: GrantPlan) throws(PermissionError) -> Bool in TerminalConsent().ask(plan)
  }

  /// Creates options; by default for the smallest change, to which nobody has agreed yet.
  ///
  /// - Parameters:
  ///   - strategy: The kind of change to make.
  ///   - allowsOthers: Whether to make changes that give access to others too.
  ///   - isRecursive: Whether a directory includes everything in it.
  ///   - elevation: The way to make changes that need root; nil if such changes fail.
  ///   - consent: Who must agree to a plan; nil if nobody does yet.
  public init(
    strategy: any GrantStrategy = GrantStrategies.auto, allowsOthers: Bool = false,
    isRecursive: Bool = false, elevation: (any Elevation)? = nil,
    consent: Consent? = nil
  ) {
    self.strategy = strategy
    self.allowsOthers = allowsOthers
    self.isRecursive = isRecursive
    self.elevation = elevation
    self.consent = consent
  }
}
