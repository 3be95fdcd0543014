/// What a check found out about one accessor.
public struct AccessReport: Hashable, Sendable {
  /// The accessor's name.
  public var accessor: String
  public var status: AuthorizationStatus
  /// A request could turn the refusal into access.
  public var isRequestable: Bool
  public var resources: [ResourceReport]

  public init(
    accessor: String, status: AuthorizationStatus, isRequestable: Bool = false,
    resources: [ResourceReport] = []
  ) {
    self.accessor = accessor
    self.status = status
    self.isRequestable = isRequestable
    self.resources = resources
  }

  /// The first reason given, of the resources that the status speaks of.
  public var mainReason: Reason? {
    let telling = resources.first { $0.status == status && !$0.reasons.isEmpty }
    return (telling ?? resources.first { !$0.reasons.isEmpty })?.reasons.first
  }
}

/// What a check found out about one node or directory.
public struct ResourceReport: Hashable, Sendable {
  public var path: PathBytes
  /// The name of the device, for people.
  public var label: String
  /// Resources of one device are needed together; devices can stand in for one another.
  public var device: String
  public var need: Permissions
  public var status: AuthorizationStatus
  /// What the facts say; nil where there was nothing to judge.
  public var decision: ResourceDecision?
  /// What the kernel itself answered; nil where it was not asked.
  public var probe: Probe?
  public var reasons: [Reason]
  public var remedies: [Remedy]
  /// Each component of the path, root first; empty unless an explanation was asked for.
  public var walk: [WalkedComponent] = []

  public init(
    path: PathBytes, label: String, device: String, need: Permissions,
    status: AuthorizationStatus, decision: ResourceDecision? = nil, probe: Probe? = nil,
    reasons: [Reason] = [], remedies: [Remedy] = []
  ) {
    self.path = path
    self.label = label
    self.device = device
    self.need = need
    self.status = status
    self.decision = decision
    self.probe = probe
    self.reasons = reasons
    self.remedies = remedies
  }
}

/// A decision in words that outlive the facts it was made on.
public struct ResourceDecision: Hashable, Sendable {
  public var verdict: Decision.Verdict
  public var rule: Rule
  public var step: Decision.Step
  /// The path of the component at which the decision fell; nil where none was reached.
  public var component: PathBytes?
  /// The deciding entry or bits for people: `owner rw-`, `ACL user:1000:rw-`.
  public var basis: String

  public init(
    verdict: Decision.Verdict, rule: Rule, step: Decision.Step, component: PathBytes?,
    basis: String
  ) {
    self.verdict = verdict
    self.rule = rule
    self.step = step
    self.component = component
    self.basis = basis
  }
}
