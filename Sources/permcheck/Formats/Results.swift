import PermissionKit

/// What a check found out.
struct CheckResult {
  let reports: [AccessReport]
  let status: ExitStatus
  /// What to type to request what a report lacks, one for each report; empty where no request helps.
  var requests: [String?] = []
}

/// What an explanation found out.
struct ExplainResult {
  let explanation: Explainer.Explanation
  let status: ExitStatus
}

/// What a request came to.
struct RequestResult {
  var plans: [GrantPlan] = []
  /// Whether the plans were carried out.
  var isApplied = false
  /// Whether the plans are to be shown only.
  var isDryRun = false
  var reports: [AccessReport] = []
  var status = ExitStatus.authorized
}

/// A line of permcheck watch.
struct WatchLine {
  enum Content {
    /// An accessor as it is at the beginning.
    case first(AccessReport, time: Int64)
    case change(AccessWatcher.Change)
  }

  let content: Content
  /// The accessors of the whole watch, whose names stand in one column.
  let reports: [AccessReport]
  /// Tells the local time.
  let system: any System
}

/// The accessors that can be asked for.
struct AccessorListing {
  let entries: [AccessorRegistry.Entry]
}

/// What was granted and not taken back.
struct GrantListing {
  let grants: [Grant]
  let users: UserDatabase
  let journal: PathBytes
}

/// What the analytics log comes to.
struct LogSummary {
  /// One accessor's share.
  struct Line {
    let accessor: String
    var checks = 0
    var granted = 0
    var refused = 0
    var requests = 0
    /// The part of the checks that were granted, 0 to 1.
    var grantedShare: Double { checks == 0 ? 0 : Double(granted) / Double(checks) }
  }

  let lines: [Line]
  /// Lines of the log that are no events.
  let unreadable: Int
}
