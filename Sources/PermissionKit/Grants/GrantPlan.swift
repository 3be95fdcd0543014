/// The changes that together give a subject the access that it lacks, with their effect.
public struct GrantPlan: Hashable, Sendable {
  /// A change and its place.
  public struct Step: Hashable, Sendable {
    /// The change.
    package var change: GrantChange
    /// The file or group that changes, for people.
    public var place: String
    /// Whether the change needs root, because this process may not make it.
    public var needsRoot: Bool
    /// The device family of the node; nil for other files.
    package var family: DeviceFamily?

    /// The way by which the person who reads it becomes root.
    package var rootWay = RootWay.sudo

    /// The line that a person types to make the change, as root where that is needed.
    package var typed: String {
      change.command.commands.map((needsRoot ? rootWay : .none).line).joined(separator: " && ")
    }

    /// Creates a step with these values.
    package init(
      _ change: GrantChange, place: String, needsRoot: Bool, family: DeviceFamily? = nil
    ) {
      self.change = change
      self.place = place
      self.needsRoot = needsRoot
      self.family = family
    }
  }

  /// The name of the accessor.
  public var accessor: String
  /// The path that was asked for; nil for everything that the accessor finds.
  package var path: PathBytes?
  /// The subject that gets access.
  public var subject: Subject
  /// The name of the strategy that created the plan.
  public var strategy: String
  /// The changes in their order; undo reverses this order.
  public var steps: [Step]
  /// The evaluator's result after the changes, for the subject or for a new login of its user.
  public var outcome: Remedy.Outcome
  /// Whether only logins after the change have access.
  public var needsNewLogin: Bool
  /// Who else gains access, for people; empty if nobody does.
  public var othersAffected: [String]
  /// The programs that accept a file now, and will refuse it after the changes.
  public var objections: [ProgramObjection] = []
  /// Notes to read before the changes are made, for people.
  public var warnings: [String]
  /// When the grant expires, in microseconds since 1970 (UTC); nil if no time ends it.
  package var expires: Int64?
  /// The time at which the grant ends, for people: `until 2026-11-25 14:30:05 CET`; nil if none
  /// does, or if the changes do not last as long.
  package var end: String?
  /// Why the program asks, for people; nil if it does not say.
  public var purpose: String?

  /// Creates a plan with these values.
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

  /// How long the access lasts: as long as the most short-lived change.
  public var persistence: Persistence {
    // The udev rule repeats what a udev event removes.
    if steps.contains(where: { if case .udevRule = $0.change { true } else { false } }) {
      return .permanent
    }
    return .shortest(of: steps.map { $0.change.command.persistence })
  }

  /// How long the access lasts, for people.
  package var lasts: String {
    guard let end else { return persistence.words }
    return persistence == .permanent ? end : "\(persistence.words), at most \(end)"
  }

  /// Returns whether every step and every beneficiary of this plan is in `others`.
  ///
  /// Compares places, changes and inodes, but not the present state of the inodes.
  package func isCovered(by others: [GrantPlan]) -> Bool {
    struct Part: Hashable {
      let place: String
      let summary: String
      let identity: InodeIdentity?
    }
    func parts(_ plan: GrantPlan) -> [Part] {
      plan.steps.map { step in
        Part(
          place: step.place, summary: step.change.command.summary,
          identity: step.change.file?.identity)
      }
    }
    return Set(parts(self)).isSubset(of: others.flatMap(parts))
      && Set(othersAffected).isSubset(of: others.flatMap(\.othersAffected))
      && Set(objections).isSubset(of: others.flatMap(\.objections))
  }

  /// The name of the accessor, or the path, for people, safe for a terminal.
  package var title: String {
    Sanitizer.clean(accessor == "path" ? path?.description ?? accessor : accessor)
  }

  /// Returns the grants to make, see `GrantJournal.carryOut`.
  package func grants(lasting lifetime: Grant.Lifetime = .init()) -> [Grant] {
    steps.map { step in
      Grant(
        id: "", request: "", time: "", accessor: accessor, path: path,
        uid: subject.credentials.user.fileSystem, lifetime: lifetime, change: step.change,
        stage: .active)
    }
  }

  /// Sets the way by which the person who reads the plan becomes root.
  package mutating func setWay(_ way: RootWay) {
    for index in steps.indices { steps[index].rootWay = way }
  }

  /// Returns the programs that will refuse a file, and that nobody has accepted; those that only warn are no obstacle.
  package func obstacles(despite accepted: Set<String>) -> [ProgramObjection] {
    objections.filter { !$0.onlyWarns && !accepted.contains($0.program) }
  }

  /// Whether one of the changes needs root.
  public var needsRoot: Bool { steps.contains(where: \.needsRoot) }
}

extension GrantPlan.Step {
  /// Returns whether the step changes the ACL of a device of its family, see `DeviceFamily.contains`.
  ///
  /// Directories, rules and groups are no devices.
  func isOfDevice(_ system: any System) -> Bool {
    guard case .inode(let grant) = change, grant.isOfDevice, grant.path.isBelow("/dev"), let family
    else { return false }
    return family.contains(grant.path, grant.identity.device, below: "/", system)
  }
}

extension GrantPlan: CustomStringConvertible {
  /// The changes, their duration and who else gains: lines for people, safe for a terminal.
  public var description: String { (changes + effects).map { "  \($0)\n" }.joined() }

  /// A line for each change, safe for a terminal.
  package var changes: [String] {
    steps.map { Sanitizer.clean("\($0.place)   \($0.change.command.summary)") }
  }

  /// Lines with the duration, the others who gain, and the warnings, safe for a terminal.
  package var effects: [String] {
    let login = needsNewLogin ? ", from the next login on" : ""
    let others =
      othersAffected.isEmpty ? "nobody else gets access" : othersAffected.joined(separator: "; ")
    return
      (["lasts: \(lasts)\(login)", "others: \(others)"]
      + objections.map { "but: \($0.words)" } + warnings.map { "note: \($0)" })
      .map(Sanitizer.clean)
  }
}

extension PermissionError {
  /// The error for a plan that differs from the one that was agreed to.
  package static var planChanged: PermissionError {
    PermissionError(
      .changeFailed, "the plan has changed since it was agreed to",
      advice: "try again")
  }
}

// What is on an overlay, and comes from a lower layer.
extension GrantPlan {
  /// Copies the files on overlays that the plan changes into their upper layers, and returns the
  /// plan for the copies.
  ///
  /// The first change of an inode of a lower layer copies it up, see ovl_copy_up() of
  /// fs/overlayfs/copy_up.c. The copy is another inode: with another time of birth, and perhaps
  /// another number. A chmod(2) to the same mode copies the inode and changes nothing else.
  ///
  /// - Parameter system: The system that makes the copies.
  /// - Returns: The same plan about the copies; nil if nothing in it is on an overlay.
  /// - Throws: If a copy cannot be made.
  func copiedUp(_ system: any System) throws(PermissionError) -> GrantPlan? {
    var plan = self
    var copies: [InodeIdentity: InodeIdentity] = [:]
    for index in steps.indices {
      guard case .inode(var grant) = steps[index].change, grant.anchor?.isOnOverlay == true else {
        continue
      }
      if copies[grant.identity] == nil {
        copies[grant.identity] = try grant.copyUp(system)
      }
      grant.identity = copies[grant.identity] ?? grant.identity
      plan.steps[index].change = .inode(grant)
    }
    return copies.isEmpty ? nil : plan
  }
}

extension InodeGrant {
  /// Copies the inode up, and returns the identity of the copy.
  fileprivate func copyUp(_ system: any System) throws(PermissionError) -> InodeIdentity {
    guard let descriptor = try open(system) else { throw .planChanged }
    defer { system.close(descriptor) }
    do throws(Errno) {
      let mode = UInt16(try system.statx(descriptor).mode & 0o7777)
      try system.chmod(descriptor, mode)
      // The descriptor stays that of the file, which is the copy now.
      return InodeIdentity(try system.statx(descriptor))
    } catch {
      throw failure("\(path) cannot be copied into the upper layer of its overlay", "chmod", error)
    }
  }
}

extension InodeAnchor {
  /// OVERLAYFS_SUPER_MAGIC of linux/magic.h.
  fileprivate var isOnOverlay: Bool { type == 0x794c_7630 }
}
