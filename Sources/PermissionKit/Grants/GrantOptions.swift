/// How to request missing access, and who must agree.
public struct GrantOptions: Sendable {
  /// The kind of change to make.
  public var strategy: any GrantStrategy
  /// Whether to make changes that give access to others too.
  public var allowsOthers: Bool
  /// Whether a directory includes everything in it.
  ///
  /// A check looks at the directory alone; set `AccessContext.includeContents()` too, so that what is refused
  /// in it makes access missing.
  public var isRecursive: Bool
  /// When the grants end.
  package var lifetime = Grant.Lifetime()
  /// The open grants of this process's journal, if they are read already.
  package var journaled: GrantLedger?
  /// Returns whether to carry out a plan; by default asks the person at the terminal, and returns
  /// false if there is no terminal.
  public var consent: @Sendable (GrantPlan) throws(PermissionError) -> Bool
  /// The way to make changes that need root; nil if such changes fail.
  public var elevation: (any Elevation)?
  /// Why the program asks, shown with the question: `snapshot needs the camera to take a picture`.
  public var purpose: String?
  /// Whether to change only device nodes below /dev and the directories that lead to them.
  ///
  /// Nor a device that somebody uses as a terminal, see `Terminals`.
  package var isConfinedToDevices = false
  /// The devices that are not given then.
  package var withheld: [DeviceFamily.Numbers] = []

  /// Creates options; by default for the smallest change, if the person at the terminal agrees.
  ///
  /// - Parameters:
  ///   - strategy: The kind of change to make.
  ///   - allowsOthers: Whether to make changes that give access to others too.
  ///   - isRecursive: Whether a directory includes everything in it.
  ///   - elevation: The way to make changes that need root; nil if such changes fail.
  ///   - consent: Returns whether to carry out a plan.
  public init(
    strategy: any GrantStrategy = GrantStrategies.auto, allowsOthers: Bool = false,
    isRecursive: Bool = false, elevation: (any Elevation)? = nil,
    consent: @escaping @Sendable (GrantPlan) throws(PermissionError) -> Bool = {
      (plan: GrantPlan) throws(PermissionError) -> Bool in TerminalConsent().ask(plan)
    }
  ) {
    self.strategy = strategy
    self.allowsOthers = allowsOthers
    self.isRecursive = isRecursive
    self.elevation = elevation
    self.consent = consent
  }
}
