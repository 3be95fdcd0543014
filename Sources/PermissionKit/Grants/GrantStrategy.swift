/// How missing access is asked for.
public protocol GrantStrategy: Sendable {
  /// The name by which it is chosen: `acl`.
  var name: String { get }
  /// Whether its plans are carried out, or shown only.
  var isCarriedOut: Bool { get }
  /// Works out what to change.
  ///
  /// - Returns: The plan; nil when there is nothing that this strategy could do.
  /// - Throws: Where something stands in the way that a person should know of.
  func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan?
}

/// The strategies that can be chosen by name.
public enum GrantStrategies: Sendable {
  /// In the order in which they are told.
  public static let all: [any GrantStrategy] = [
    AutoStrategy(), ACLStrategy(), GroupStrategy(), UdevStrategy(), NoStrategy(),
  ]

  /// The strategy of that name; nil when there is none.
  public static func named(_ name: String) -> (any GrantStrategy)? {
    all.first { $0.name == name }
  }
}

extension GrantStrategy {
  /// Plans are carried out, by default.
  public var isCarriedOut: Bool { true }
}

/// What a strategy plans on: who wants what, and all that was read about it.
public struct GrantRequest: Sendable {
  /// The accessor's name.
  public var accessor: String
  /// For whom.
  public var subject: Subject
  /// The resources that are refused.
  public var resources: [Resource]
  /// What was read about them.
  public var facts: AccessFacts
  /// What is changed.
  public var system: any System
  /// Plans by which somebody else gains are wanted, too.
  public var allowsOthers: Bool
  /// A directory means all that is in it as well.
  public var isRecursive: Bool
  let users: UserDatabase
  /// Which inodes the facts are of, one for one; empty when only the facts are known.
  var identities: [InodeIdentity] = []

  var uid: UInt32 { subject.credentials.user.fileSystem }
}

/// Entries in the ACLs of the inodes that refuse, or bits of their modes where an entry would be
/// inert or cannot be kept.
public struct ACLStrategy: GrantStrategy {
  /// Always `acl`.
  public var name: String { "acl" }

  /// Makes the strategy, which holds no data.
  public init() {}

  /// Plans the least changes, one inode at a time.
  public func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).plan(strategy: name)
  }
}

/// Membership in the group that may use the resource already.
public struct GroupStrategy: GrantStrategy {
  /// Always `group`.
  public var name: String { "group" }

  /// Makes the strategy, which holds no data.
  public init() {}

  /// Plans the membership that gives access to all the resources that one group gives.
  public func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).groupPlan(strategy: name)
  }
}

/// A udev rule that gives the ACL entry each time the device is set up, and the entry itself now.
public struct UdevStrategy: GrantStrategy {
  /// Always `udev`.
  public var name: String { "udev" }

  /// Makes the strategy, which holds no data.
  public init() {}

  /// Plans the rule and the entries; nil for what is not set up by udev.
  public func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).udevPlan(strategy: name)
  }
}

/// The least that works: what `ACLStrategy` plans.
public struct AutoStrategy: GrantStrategy {
  /// Always `auto`.
  public var name: String { "auto" }

  /// Makes the strategy, which holds no data.
  public init() {}

  /// Plans entries and bits; a group or a rule gives more than was asked for, and is for a person to
  /// choose.
  public func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try ACLStrategy().plan(request)
  }
}

/// Nothing is changed: the plan is shown.
public struct NoStrategy: GrantStrategy {
  /// Always `none`.
  public var name: String { "none" }
  /// Never.
  public var isCarriedOut: Bool { false }

  /// Makes the strategy, which holds no data.
  public init() {}

  /// Plans what `AutoStrategy` does.
  public func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try AutoStrategy().plan(request)
  }
}
