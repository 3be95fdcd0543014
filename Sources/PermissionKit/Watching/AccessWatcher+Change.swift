extension AccessWatcher {
  /// A time in microseconds since 1970-01-01 UTC, in RFC 3339.
  public static func timestamp(_ microseconds: Int64) -> String {
    Timestamp.rfc3339(microseconds)
  }

  /// What became of one accessor.
  public struct Change: Hashable, Sendable {
    /// One resource that stands otherwise than before.
    public struct Resource: Hashable, Sendable {
      /// Its path.
      public let path: PathBytes
      /// How it stood; nil when it was not there to be judged.
      public let old: AuthorizationStatus?
      /// How it stands; nil when it is no longer there to be judged.
      public let new: AuthorizationStatus?
    }

    /// When it was found out, in microseconds since 1970-01-01 UTC.
    public let time: Int64
    /// The report before.
    public let old: AccessReport
    /// The report now.
    public let new: AccessReport
    /// What made the difference.
    public let cause: ChangeCause
    /// Where `cause` happened; nil where it is no place.
    public let path: PathBytes?
    /// The resources whose status or main reason changed.
    public let resources: [Resource]

    /// The time in RFC 3339, UTC, with microseconds.
    public var timestamp: String { AccessWatcher.timestamp(time) }

    /// The accessor's own status or main reason changed, not only that of some of its resources.
    public var isOfAccessor: Bool {
      old.status != new.status || old.mainReason?.code != new.mainReason?.code
    }

    /// The difference between two looks at the same accessor; nil when there is none that counts.
    init?(time: Int64, from old: AccessLook, to new: AccessLook) {
      let (before, after) = (Self.standings(old.report), Self.standings(new.report))
      let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
      self.time = time
      self.old = old.report
      self.new = new.report
      resources = changed.map {
        Resource(path: $0, old: before[$0]?.status, new: after[$0]?.status)
      }
      let others = after.keys.filter { before[$0] == after[$0] }
      // Where something was looked for in vain nothing was asked: it is not what changed.
      let asked = (old.report.resources + new.report.resources).filter { !$0.need.isEmpty }
      let isChange = !changed.isEmpty || old.report.status != new.report.status
      guard isChange else { return nil }
      (cause, path) = old.cause(
        of: new, changed: Set(asked.map(\.path)).intersection(changed), others: Array(others))
    }

    private struct Standing: Hashable {
      var status: AuthorizationStatus
      var reason: Reason.Code?
    }

    private static func standings(_ report: AccessReport) -> [PathBytes: Standing] {
      Dictionary(
        report.resources.map {
          ($0.path, Standing(status: $0.status, reason: $0.reasons.first?.code))
        }, uniquingKeysWith: { first, _ in first })
    }
  }
}
