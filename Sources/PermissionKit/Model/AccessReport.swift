/// What a check found out about one accessor.
public struct AccessReport: Hashable, Sendable {
  /// The accessor's name.
  public var accessor: String
  /// How the permission stands: devices stand in for one another, resources of one do not.
  public var status: AuthorizationStatus
  /// A request could turn the refusal into access.
  public var isRequestable: Bool
  /// What was judged, then what was looked for in vain.
  public var resources: [ResourceReport]
  /// On whose behalf access was judged; nil if the accessor does not tell.
  public var subject: Subject?
  /// When the check was made, in microseconds since 1970-01-01 UTC; nil if the accessor does not tell.
  public var time: Int64?
  /// What the request before this check came to; nil if there was none.
  public var requestOutcome: RequestOutcome?

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - accessor: The accessor's name.
  ///   - status: How the permission stands.
  ///   - isRequestable: Whether a request could turn the refusal into access.
  ///   - resources: A report on each resource.
  ///   - subject: On whose behalf access was judged.
  ///   - time: When, in microseconds since 1970-01-01 UTC.
  public init(
    accessor: String, status: AuthorizationStatus, isRequestable: Bool = false,
    resources: [ResourceReport] = [], subject: Subject? = nil, time: Int64? = nil
  ) {
    self.accessor = accessor
    self.status = status
    self.isRequestable = isRequestable
    self.resources = resources
    self.subject = subject
    self.time = time
  }

  /// The first reason given, of the resources that the status speaks of.
  public var mainReason: Reason? {
    let telling = resources.first { $0.status == status && !$0.reasons.isEmpty }
    return (telling ?? resources.first { !$0.reasons.isEmpty })?.reasons.first
  }
}

/// What a check found out about one node or directory.
public struct ResourceReport: Hashable, Sendable {
  /// The path that was judged, as it was asked for.
  public var path: PathBytes
  /// The name of the device, for people.
  public var label: String
  /// Resources of one device are needed together; devices can stand in for one another.
  public var device: String
  /// What was asked of it; empty where there was nothing to ask.
  public var need: Permissions
  /// How this resource alone stands.
  public var status: AuthorizationStatus
  /// What the facts say; nil where there was nothing to judge.
  public var decision: ResourceDecision?
  /// What the kernel itself answered; nil where it was not asked.
  public var probe: Probe?
  /// Why it is not simply authorized, the main reason first; empty when it is.
  public var reasons: [Reason]
  /// What would give access: changes of ACLs and modes together, in order, and any other change as
  /// a way of its own; empty where none is known.
  public var remedies: [Remedy]
  /// Each component of the path, root first; empty unless an explanation was asked for.
  public var walk: [WalkedComponent] = []
  /// The kind of device that was looked for in vain; nil for anything else.
  package var family: DeviceFamily?

  /// Makes one of its parts.
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
  /// Granted, refused with an errno, or undetermined.
  public var verdict: Decision.Verdict
  /// The rule of the kernel that decided.
  public var rule: Rule
  /// What was being asked when the decision fell.
  public var step: Decision.Step
  /// The path of the component at which the decision fell; nil where none was reached.
  public var component: PathBytes?
  /// The deciding entry or bits for people: `owner rw-`, `ACL user:1000:rw-`.
  public var basis: String
  /// What that basis means over ssh, as a service and after switching users; nil where that was not
  /// asked for or nothing was granted.
  public var meaning: String?

  /// Makes one of its parts.
  package init(
    verdict: Decision.Verdict, rule: Rule, step: Decision.Step, component: PathBytes?,
    basis: String, meaning: String? = nil
  ) {
    self.verdict = verdict
    self.rule = rule
    self.step = step
    self.component = component
    self.basis = basis
    self.meaning = meaning
  }
}
