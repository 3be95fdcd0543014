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

  /// The names, in the same order.
  public static var names: [String] { all.map(\.name) }

  /// The least change that works.
  public static var auto: any GrantStrategy { AutoStrategy() }

  /// The strategy of that name; nil when there is none.
  public static func named(_ name: String) -> (any GrantStrategy)? {
    all.first { $0.name == name }
  }
}

extension GrantStrategy {
  /// Plans are carried out, by default.
  public var isCarriedOut: Bool { true }
}

/// What a strategy plans on: who wants what, and everything that was read about it.
public struct GrantRequest: Sendable {
  /// The accessor's name.
  public let accessor: String
  /// On whose behalf, and all that was read.
  package let inspection: Inspection
  /// What is refused.
  package let asks: [Ask]
  /// Plans by which somebody else gains are wanted, too.
  package let allowsOthers: Bool
  /// A directory means all that is in it as well.
  package let isRecursive: Bool

  var system: any System { inspection.system }
  var subject: Subject { inspection.subject }
  var users: UserDatabase { inspection.users }
  var facts: AccessFacts { inspection.facts }
  var uid: UInt32 { subject.credentials.user.fileSystem }
}

/// Entries in the ACLs of the inodes that refuse, or bits of their modes where an entry would be
/// inert or cannot be kept.
package struct ACLStrategy: GrantStrategy {
  /// Always `acl`.
  package var name: String { "acl" }

  /// Makes the strategy, which holds no data.
  package init() {}

  /// Plans the least changes, one inode at a time.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).plan(strategy: name)
  }
}

/// Membership in the group that may use the resource already.
package struct GroupStrategy: GrantStrategy {
  /// Always `group`.
  package var name: String { "group" }

  /// Makes the strategy, which holds no data.
  package init() {}

  /// Plans the membership that gives access to all the resources that one group gives.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).groupPlan(strategy: name)
  }
}

/// A udev rule that gives the ACL entry each time the device is set up, and the entry itself now.
package struct UdevStrategy: GrantStrategy {
  /// Always `udev`.
  package var name: String { "udev" }

  /// Makes the strategy, which holds no data.
  package init() {}

  /// Plans the rule and the entries; nil for what is not set up by udev.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).udevPlan(strategy: name)
  }
}

/// The least that works: what `ACLStrategy` plans.
package struct AutoStrategy: GrantStrategy {
  /// Always `auto`.
  package var name: String { "auto" }

  /// Makes the strategy, which holds no data.
  package init() {}

  /// Plans entries and bits; a group or a rule gives more than was asked for, and is for a person to
  /// choose.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try ACLStrategy().plan(request)
  }
}

/// Nothing is changed: the plan is shown.
package struct NoStrategy: GrantStrategy {
  /// Always `none`.
  package var name: String { "none" }
  /// Never.
  package var isCarriedOut: Bool { false }

  /// Makes the strategy, which holds no data.
  package init() {}

  /// Plans what `AutoStrategy` does.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try AutoStrategy().plan(request)
  }
}
