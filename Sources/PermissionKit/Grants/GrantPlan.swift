/// The changes that together give a subject the access it lacks, and what they come to.
public struct GrantPlan: Hashable, Sendable {
  /// A change and where it is made.
  public struct Step: Hashable, Sendable {
    /// What is done.
    package var change: GrantChange
    /// The inode, group or file that is changed, for people.
    public var place: String
    /// Whether this process may not make it itself.
    public var needsRoot: Bool
    /// The kind of device that the node belongs to; nil for anything else.
    package var family: DeviceFamily?

    /// Creates a step.
    package init(
      _ change: GrantChange, place: String, needsRoot: Bool, family: DeviceFamily? = nil
    ) {
      self.change = change
      self.place = place
      self.needsRoot = needsRoot
      self.family = family
    }
  }

  /// The accessor's name that asked.
  public var accessor: String
  /// For whom.
  public var subject: Subject
  /// The name of the strategy that made it.
  public var strategy: String
  /// The changes, in the order in which they are made; undone in reverse.
  public var steps: [Step]
  /// What the evaluator says with them made, for the subject, or for a new login of theirs.
  public var outcome: Remedy.Outcome
  /// The access is there only for a login after the change.
  public var needsNewLogin: Bool
  /// Who else would gain, for people; empty when nobody would.
  public var othersAffected: [String]
  /// What else is to be known before it is done.
  public var warnings: [String]

  /// Creates a plan.
  package init(
    accessor: String, subject: Subject, strategy: String, steps: [Step] = [],
    outcome: Remedy.Outcome, needsNewLogin: Bool = false, othersAffected: [String] = [],
    warnings: [String] = []
  ) {
    self.accessor = accessor
    self.subject = subject
    self.strategy = strategy
    self.steps = steps
    self.outcome = outcome
    self.needsNewLogin = needsNewLogin
    self.othersAffected = othersAffected
    self.warnings = warnings
  }

  /// How long the access lasts: as long as the change that lasts least.
  public var persistence: Persistence {
    // A rule brings back what an event takes away.
    if steps.contains(where: { if case .udevRule = $0.change { true } else { false } }) {
      return .permanent
    }
    return .shortest(of: steps.map { $0.change.command.persistence })
  }

  /// Returns whether every step and every beneficiary of this plan is in `others`, whatever state the
  /// inodes are in by now.
  package func isCovered(by others: [GrantPlan]) -> Bool {
    struct Part: Hashable {
      let place: String
      let summary: String
      let identity: InodeIdentity?
    }
    func parts(_ plan: GrantPlan) -> [Part] {
      plan.steps.map { step in
        var identity: InodeIdentity?
        if case .inode(let grant) = step.change { identity = grant.identity }
        return Part(place: step.place, summary: step.change.command.summary, identity: identity)
      }
    }
    return Set(parts(self)).isSubset(of: others.flatMap(parts))
      && Set(othersAffected).isSubset(of: others.flatMap(\.othersAffected))
  }

  /// Whether one of the changes is not for this process to make.
  public var needsRoot: Bool { steps.contains(where: \.needsRoot) }
}

extension GrantPlan.Step {
  /// Returns whether it changes a node that the kernel lists as a device of its family, or a directory
  /// below /dev that leads to one; rules and groups are about such nodes as well.
  func isOfDevice(_ system: any System) -> Bool {
    guard case .inode(let grant) = change else { return true }
    guard grant.path.isBelow("/dev") else { return false }
    if grant.identity.type == 0o040000 { return grant.permissions == .execute }
    guard grant.identity.type == 0o020000, let family else { return false }
    return family.contains(grant.path, grant.identity.device, below: "/", system)
  }
}

extension GrantPlan: CustomStringConvertible {
  /// What changes, for how long, and who else gains: lines for people, safe to print.
  public var description: String {
    var lines = steps.map { "  \($0.place)   \($0.change.command.summary)" }
    lines.append("  lasts: \(persistence.words)\(needsNewLogin ? ", from the next login on" : "")")
    lines.append(
      "  others: \(othersAffected.isEmpty ? "nobody else gains" : othersAffected.joined(separator: "; "))"
    )
    lines += warnings.map { "  note: \($0)" }
    return lines.map { Sanitizer.clean($0) + "\n" }.joined()
  }
}
