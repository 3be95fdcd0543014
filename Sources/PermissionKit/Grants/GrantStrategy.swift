/// A way to give missing access, such as an ACL entry or a group.
///
/// A program may have its own, which decides what of the request is given, and by which strategy of
/// the library:
///
/// ```swift
/// struct ReadOnlyFolders: GrantStrategy {
///   let name = "read-only-folders"
///   func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
///     try request.smallestPlan(
///       for: request.resources.map { folder in
///         var folder = folder
///         folder.need.remove(.write)
///         return folder
///       })
///   }
/// }
/// ```
public protocol GrantStrategy: Sendable {
  /// The name that selects the strategy: `acl`.
  var name: String { get }
  /// Whether plans of this strategy are carried out; otherwise they are only shown.
  var isCarriedOut: Bool { get }
  /// Creates a plan.
  ///
  /// - Parameter request: The subject, the resources that are refused, and the facts.
  /// - Returns: The plan; nil if this strategy cannot help.
  /// - Throws: If there is an obstacle that a person must resolve.
  func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan?
}

/// The strategies of this library.
public enum GrantStrategies: Sendable {
  /// All strategies, in the order in which they are listed.
  public static let all: [any GrantStrategy] = [
    AutoStrategy(), ACLStrategy(), GroupStrategy(), UdevStrategy(), NoStrategy(),
  ]

  /// The names of all strategies, in the same order.
  public static var names: [String] { all.map(\.name) }

  /// The strategy that makes the smallest change.
  public static var auto: any GrantStrategy { AutoStrategy() }

  /// Returns the strategy with this name.
  ///
  /// - Parameter name: A name such as `acl`.
  /// - Returns: The strategy; nil if there is none.
  public static func named(_ name: String) -> (any GrantStrategy)? {
    all.first { $0.name == name }
  }
}

extension GrantStrategy {
  /// True: by default, plans are carried out.
  public var isCarriedOut: Bool { true }
}

/// The input of a grant strategy: the subject, the refused resources and the facts.
public struct GrantRequest: Sendable {
  /// The name of the accessor.
  public let accessor: String
  /// Who gets access.
  public var subject: Subject { inspection.subject }
  /// What access is asked for, each with the permissions that it needs.
  public var resources: [Resource] {
    asks.map { ask in
      var resource = ask.resource
      resource.need = ask.need
      return resource
    }
  }
  /// The subject and the facts.
  package let inspection: Inspection
  /// The resources, each with the permissions that it needs.
  package var asks: [Ask]
  /// Whether the plan may give access to others too.
  public let allowsOthers: Bool
  /// Whether a directory includes everything in it.
  package let isRecursive: Bool
  /// Whether to change only inodes of the subject: its own configuration names the resources.
  package var ownedOnly = false
  /// The open grants of this process's journal.
  package var journaled = GrantLedger()
  /// When the new grants end.
  package var lifetime = Grant.Lifetime()

  var system: any System { inspection.system }
  var users: UserDatabase { inspection.users }
  var facts: AccessFacts { inspection.facts }
  var uid: UInt32 { subject.credentials.user.fileSystem }

  /// Returns the smallest changes that give access.
  ///
  /// - Parameter resources: Some of `resources`, perhaps with less need.
  /// - Returns: The plan; nil if there is nothing to change, or no change helps.
  /// - Throws: If others gain and that is not allowed, or if a file cannot be changed safely.
  public func smallestPlan(
    for resources: [Resource]
  ) throws(PermissionError) -> GrantPlan? {
    var request = self
    request.asks = resources.map { inspection.ask($0, need: $0.need) }
    return try GrantStrategies.auto.plan(request)
  }
}

/// A strategy that adds an ACL entry to each inode that refuses.
///
/// It sets mode bits instead if the kernel would ignore the entry, or the file system has no ACLs.
package struct ACLStrategy: GrantStrategy {
  /// Always `acl`.
  package var name: String { "acl" }

  /// Creates the strategy, which has no settings.
  package init() {}

  /// Returns a plan of the smallest changes, inode by inode.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).plan(strategy: name)
  }
}

/// A strategy that adds the user to a group that already has access.
package struct GroupStrategy: GrantStrategy {
  /// Always `group`.
  package var name: String { "group" }

  /// Creates the strategy, which has no settings.
  package init() {}

  /// Returns a plan of the memberships that give access to all resources.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).groupPlan(strategy: name)
  }
}

/// A strategy that adds an ACL entry now, and a udev rule that repeats it when the device is set up.
package struct UdevStrategy: GrantStrategy {
  /// Always `udev`.
  package var name: String { "udev" }

  /// Creates the strategy, which has no settings.
  package init() {}

  /// Returns a plan of the entries and the rule.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try GrantPlanner(request).udevPlan(strategy: name)
  }
}

/// A strategy that makes the smallest change, as `ACLStrategy` does.
package struct AutoStrategy: GrantStrategy {
  /// Always `auto`.
  package var name: String { "auto" }

  /// Creates the strategy, which has no settings.
  package init() {}

  /// Returns a plan of ACL entries and mode bits.
  ///
  /// A group or a udev rule gives more than was asked for, so only a person may choose it.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try ACLStrategy().plan(request)
  }
}

/// A strategy that changes nothing and only shows the plan.
package struct NoStrategy: GrantStrategy {
  /// Always `none`.
  package var name: String { "none" }
  /// Always false.
  package var isCarriedOut: Bool { false }

  /// Creates the strategy, which has no settings.
  package init() {}

  /// Returns the plan of `AutoStrategy`.
  package func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try AutoStrategy().plan(request)
  }
}
