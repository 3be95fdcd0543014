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
  public static let all: [any GrantStrategy] = [auto, acl, group, udev, none]

  /// The names of all strategies, in the same order.
  public static var names: [String] { all.map(\.name) }

  /// The strategy that makes the smallest change, as `acl` does.
  ///
  /// A group or a udev rule gives more than was asked for, so only a person may choose it.
  public static let auto: any GrantStrategy = PlannedStrategy(name: "auto", plan: byACL)

  /// The strategy that adds an ACL entry to each inode that refuses.
  ///
  /// It sets mode bits instead if the kernel would ignore the entry. Where the file system has no ACLs, it gives the inode
  /// to a group of the user if nobody loses anything by that.
  private static let acl: any GrantStrategy = PlannedStrategy(name: "acl", plan: byACL)

  /// The strategy that adds the user to a group that already has access.
  package static let group: any GrantStrategy = PlannedStrategy(name: "group") {
    (planner) throws(PermissionError) in try planner.groupPlan(strategy: "group")
  }

  /// The strategy that adds an ACL entry now, and a udev rule that repeats it when the device is set up.
  package static let udev: any GrantStrategy = PlannedStrategy(name: "udev") {
    (planner) throws(PermissionError) in try planner.udevPlan(strategy: "udev")
  }

  /// The strategy that changes nothing and only shows the plan.
  package static let none: any GrantStrategy = PlannedStrategy(
    name: "none", isCarriedOut: false, plan: byACL)

  @Sendable private static func byACL(
    _ planner: GrantPlanner
  ) throws(PermissionError) -> GrantPlan? {
    try planner.plan(strategy: "acl")
  }

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
  /// The resources that access is requested for, each with the permissions that it needs.
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
  package var asks: [ResourceQuery]
  /// Whether the plan may give access to others too.
  public let allowsOthers: Bool
  /// Whether a directory includes everything in it.
  package let isRecursive: Bool
  /// Whether to change only inodes of the subject, because the subject's own configuration names
  /// the resources.
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

private struct PlannedStrategy: GrantStrategy {
  let name: String
  var isCarriedOut = true
  let plan: @Sendable (GrantPlanner) throws(PermissionError) -> GrantPlan?

  func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try plan(GrantPlanner(request))
  }
}
