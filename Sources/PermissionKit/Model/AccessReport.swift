/// The result of a check of one accessor.
public struct AccessReport: Hashable, Sendable {
  /// The accessor's name.
  public var accessor: String
  /// The status of the accessor.
  ///
  /// Devices can replace one another; the resources of one device cannot.
  public var status: AuthorizationStatus
  /// Whether the status `limited` counts as access; the template sets it to that of the accessor.
  public var acceptsLimited = true
  /// Who can make the change that gives missing access, or why nobody can.
  public var requestability: Requestability
  /// The resources that were judged, then the resources that were not found.
  public var resources: [ResourceReport]
  /// Other ways to the same device, which do not affect `status`: a server that offers it.
  ///
  /// The first reason of each describes it. See `AccessContext.through`.
  public var alternatives: [ResourceReport] = []
  /// The subject whose access was judged; nil if the accessor does not name it.
  public var subject: Subject?
  /// The time of the check, in microseconds since 1970-01-01 UTC; nil if the accessor does not
  /// name it.
  public var time: Int64?
  /// The folder that was used as `/`; nil for the machine itself.
  public var root: PathBytes?
  /// The facts that the check wanted and could not look at: none of them counts as absent.
  public var notSeen: [Unseen] = []
  /// The outcome of the request before this check; nil if there was no request.
  public var requestOutcome: RequestOutcome?

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - accessor: The accessor's name.
  ///   - status: The status of the accessor.
  ///   - isRequestable: Whether a request of this process could turn the refusal into access, see
  ///     `requestability`.
  ///   - resources: A report on each resource.
  ///   - subject: The subject whose access was judged.
  ///   - time: The time of the check, in microseconds since 1970-01-01 UTC.
  public init(
    accessor: String, status: AuthorizationStatus, isRequestable: Bool = false,
    resources: [ResourceReport] = [], subject: Subject? = nil, time: Int64? = nil
  ) {
    self.accessor = accessor
    self.status = status
    requestability =
      isRequestable
      ? .now
      : status == .authorized ? .notNeeded : .never("\(accessor) has nothing that can be requested")
    self.resources = resources
    self.subject = subject
    self.time = time
  }

  /// Creates a report of an accessor that judges no files.
  ///
  /// - Parameters:
  ///   - accessor: The accessor's name.
  ///   - status: The status of the accessor.
  ///   - message: Why, in one line; it is not shown where there is access.
  ///   - isRequestable: Whether a request could turn the refusal into access.
  public init(
    accessor: String, status: AuthorizationStatus, message: String, isRequestable: Bool = false
  ) {
    let reason = Reason(.byAccessor, .proven, message)
    let resource = ResourceReport(
      path: "/", label: accessor, device: accessor, need: [], status: status,
      reasons: status == .authorized ? [] : [reason])
    self.init(
      accessor: accessor, status: status, isRequestable: isRequestable, resources: [resource])
  }

  /// Whether a request of this process could turn the refusal into access.
  public var isRequestable: Bool { requestability == .now }

  /// The first reason of the resources that have the report's status.
  ///
  /// If none of these resources has a reason, the first reason of any resource.
  public var mainReason: Reason? {
    let telling = resources.first { $0.status == status && !$0.reasons.isEmpty }
    return (telling ?? resources.first { !$0.reasons.isEmpty })?.reasons.first
  }

  /// Whether everything in a folder was checked, so that `limited` is not enough.
  package var includesContents: Bool { resources.contains { $0.contents != nil } }

  /// Whether a folder has more refusals than the report lists, so that the changes are not known.
  package var isCut: Bool { resources.contains { $0.contents?.isCut == true } }

  /// Whether a folder on the path refuses and hides what is below, so that the changes are not
  /// known.
  package var isHidden: Bool { resources.contains(where: \.isHidden) }

  /// Whether the report is about a missing device, and not about a missing path.
  package var isOfAbsentDevice: Bool {
    status == .unavailable && resources.allSatisfy(\.isOfAbsentDevice)
  }
}

/// The result of a check of one node or directory.
public struct ResourceReport: Hashable, Sendable {
  /// The path that was judged, as the caller gave it.
  public var path: PathBytes
  /// The name of the device, for people.
  public var label: String
  /// The device that the resource belongs to.
  ///
  /// All resources of one device are needed together. One device can replace another.
  public var device: String
  /// The permissions that were asked for; empty if there was nothing to ask.
  public var need: Permissions
  /// The status of this resource alone.
  public var status: AuthorizationStatus
  /// The decision on the facts; nil if there was nothing to judge.
  public var decision: ResourceDecision?
  /// The kernel's own answer; nil if the kernel was not asked.
  public var probe: Probe?
  /// Why the resource is not authorized, the main reason first; empty if it is.
  public var reasons: [Reason]
  /// The changes that would give access; empty if none is known.
  ///
  /// The changes of ACLs and modes belong together and are made in this order. Each other remedy is
  /// an alternative.
  public var remedies: [Remedy]
  /// Whether a change of the refusing mode and ACL is possible and would take effect.
  package var isChangeable = true
  /// The components of the path, root first; empty unless the caller asked for an explanation.
  public var walk: [WalkedComponent] = []
  /// The new file or folder that the report is about; nil for a report on an existing one.
  public var future: FutureFile?
  /// The operation that the report is about; nil if it is about permissions.
  package var operation: NamedOperation?
  /// The program whose own rule the report is about; nil for the kernel's rules.
  package var usedBy: ProgramUse?
  /// Of an operation with two paths, the second one, and its components; of a refused `exec`, the interpreter or loader.
  package var targetPath: PathBytes?
  package var targetWalk: [WalkedComponent] = []
  /// The part of a granted permission that is refused, for people: a shell's `>` on another user's file in a sticky
  /// folder; nil if there is none.
  package var caveat: String?
  /// A note for `-v` about a layer that could not be inspected and that nothing suggests; nil if
  /// there is none.
  package var aside: String?
  /// Whether the resource is a folder that was judged.
  package var isFolder = false
  /// The result for the contents of the folder; nil if only the folder was checked.
  package var contents: ContentsReport?
  /// The kind of the missing device; nil for every other report.
  package var family: DeviceFamily?
  /// Whether a device is missing; the program of an accessor may report that, too.
  var isOfAbsentDevice: Bool {
    status == .unavailable && (family != nil || reasons.contains { $0.code == .byAccessor })
  }

  /// Whether a folder on the path refuses and hides what is below.
  package var isHidden: Bool {
    status == .denied && isChangeable && remedies.isEmpty && decision?.step == .walk
  }

  /// Creates a report on one resource.
  ///
  /// - Parameters:
  ///   - path: The path that was judged.
  ///   - label: The name of the device, for people.
  ///   - device: The device that the resource belongs to.
  ///   - need: The permissions that were asked for.
  ///   - status: The status of this resource alone.
  ///   - decision: The decision on the facts.
  ///   - probe: The kernel's own answer.
  ///   - reasons: Why the resource is not simply authorized, the main reason first.
  ///   - remedies: The changes that would give access.
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

/// A decision that can be read without the facts that it was made on.
public struct ResourceDecision: Hashable, Sendable {
  /// Granted, refused with an errno, or undetermined.
  public var verdict: Decision.Verdict
  /// The rule of the kernel that decided.
  public var rule: Rule
  /// The permissions that were needed on the component that decided.
  public var step: Decision.Step
  /// The path of the component at which the decision was made; nil if no component was reached.
  public var component: PathBytes?
  /// The ACL entry or the bits that decided, for people: `owner rw-`, `ACL user:1000:rw-`.
  public var basis: String
  /// The meaning of the basis over ssh, in a service and after switching users.
  ///
  /// Nil if the caller did not ask for the meaning or if access was not granted.
  public var meaning: String?

  /// Creates a decision with these values.
  ///
  /// - Parameters:
  ///   - verdict: Granted, refused with an errno, or undetermined.
  ///   - rule: The rule of the kernel that decided.
  ///   - step: What was asked of the component at which the decision was made.
  ///   - component: The path of the component at which the decision was made.
  ///   - basis: The ACL entry or the bits that decided, for people.
  ///   - meaning: What the basis means over ssh, in a service and after switching users.
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
