extension AccessWatcher {
  /// Returns a time in microseconds since 1970-01-01 UTC in the format of RFC 3339.
  package static func timestamp(_ microseconds: Int64) -> String {
    Timestamp.rfc3339(microseconds)
  }

  /// A change of the report on one accessor.
  public struct Change: Hashable, Sendable {
    /// One resource whose status changed.
    public struct Resource: Hashable, Sendable {
      /// The path of the resource.
      public let path: PathBytes
      /// The status before; nil if the resource was not in the report.
      public let old: AuthorizationStatus?
      /// The status now; nil if the resource is not in the report.
      public let new: AuthorizationStatus?
    }

    /// The time when the change was found, in microseconds since 1970-01-01 UTC.
    public let time: Int64
    /// The report before.
    public let old: AccessReport
    /// The report now.
    public let new: AccessReport
    /// The cause of the change.
    public let cause: ChangeCause
    /// The path where the cause happened; nil if the cause has no path.
    public let path: PathBytes?
    /// The resources whose status or main reason changed.
    public let resources: [Resource]

    /// The time in RFC 3339, UTC, with microseconds.
    public var timestamp: String { AccessWatcher.timestamp(time) }

    /// Whether the accessor's own status or main reason changed, and not only that of a resource.
    public var isOfAccessor: Bool {
      old.status != new.status || old.mainReason?.code != new.mainReason?.code
    }

    /// Creates the difference between two checks of one accessor; nil if nothing relevant changed.
    init?(time: Int64, from old: CheckSnapshot, to new: CheckSnapshot) {
      let (before, after) = (Self.states(old.report), Self.states(new.report))
      let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
      self.time = time
      self.old = old.report
      self.new = new.report
      resources = changed.map {
        Resource(path: $0, old: before[$0]?.status, new: after[$0]?.status)
      }
      let others = after.keys.filter { before[$0] == after[$0] }
      // A resource that was not found has no need, and cannot be the cause of the change.
      let asked = (old.report.resources + new.report.resources).filter { !$0.need.isEmpty }
      let isChange = !changed.isEmpty || old.report.status != new.report.status
      guard isChange else { return nil }
      (cause, path) = old.cause(
        of: new, changed: Set(asked.map(\.path)).intersection(changed), others: Array(others))
    }

    private struct ResourceState: Hashable {
      var status: AuthorizationStatus
      var reason: Reason.Code?
    }

    private static func states(_ report: AccessReport) -> [PathBytes: ResourceState] {
      Dictionary(
        report.resources.map {
          ($0.path, ResourceState(status: $0.status, reason: $0.reasons.first?.code))
        }, uniquingKeysWith: { first, _ in first })
    }
  }
}
