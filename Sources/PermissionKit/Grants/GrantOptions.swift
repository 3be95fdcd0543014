/// How missing access is asked for, and who has to agree.
public struct GrantOptions: Sendable {
  /// What kind of change is made.
  public var strategy: any GrantStrategy
  /// Changes by which somebody else gains are made, too.
  public var allowsOthers: Bool
  /// A directory means all that is in it as well.
  public var isRecursive: Bool
  /// How long the access is wanted.
  package var lifetime = Grant.Lifetime()
  /// Asked before anything is changed; by default a person at the terminal, and nobody where there is
  /// none.
  public var consent: @Sendable (GrantPlan) throws(PermissionError) -> Bool
  /// What does as root that which this process may not; nil when that is not wanted.
  public var elevation: (any Elevation)?
  /// Only devices are changed: nodes of V4L2 and ALSA below /dev, and what leads to them.
  public var isConfinedToDevices: Bool

  /// Makes one of its parts; by default the least change, to which a person at the terminal agrees.
  public init(
    strategy: any GrantStrategy = GrantStrategies.auto, allowsOthers: Bool = false,
    isRecursive: Bool = false,
    elevation: (any Elevation)? = nil, isConfinedToDevices: Bool = false,
    consent: @escaping @Sendable (GrantPlan) throws(PermissionError) -> Bool = {
      (plan: GrantPlan) throws(PermissionError) -> Bool in TerminalConsent().ask(plan)
    }
  ) {
    self.strategy = strategy
    self.allowsOthers = allowsOthers
    self.isRecursive = isRecursive
    self.elevation = elevation
    self.isConfinedToDevices = isConfinedToDevices
    self.consent = consent
  }
}
