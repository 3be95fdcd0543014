import PermissionDocuments
@_spi(SystemCalls) import PermissionKit

/// The result of a check.
struct CheckResult {
  /// The user or process whose access was judged.
  let subject: Subject
  let reports: [AccessReport]
  let status: ExitStatus
  /// The command that requests missing access, one for each report; empty if there is none.
  var requests: [String?] = []
  /// The grants that have ended, and on which access still rests.
  var expired: [Grant] = []
  /// The names of the accessors, of which there is a report for each of several users; nil for one
  /// subject.
  var columns: [String]?
  /// Whether `limited` counts as refused.
  var wantsAll = false
  /// Whether devices that are not there do not count.
  var skipsUnavailable = false
  /// The input of the check; nil if only its facts are known.
  var context: AccessContext?
}

/// The result of an explanation.
struct ExplainResult {
  let explanation: Explanation
  /// The input of the explanation; nil if only its facts are known.
  var context: AccessContext? {
    explanation.inspection.isSaved ? nil : explanation.inspection.context
  }
  let status: ExitStatus
}

/// The result of a request.
struct RequestResult {
  /// The user or process whose access was judged.
  let subject: Subject
  /// The system that knows the local time.
  let system: any System
  var plans: [GrantPlan] = []
  /// Whether the plans were carried out.
  var isApplied = false
  /// Whether the plans are only shown.
  var isDryRun = false
  var reports: [AccessReport] = []
  var status = ExitStatus.authorized
  /// When the grants expire, in microseconds since 1970; nil if they do not.
  var expires: Int64?
  /// Whether a timer of systemd ends them then.
  var endsByItself = false
  /// What ends them then, for people.
  var howItEnds: String {
    endsByItself
      ? "it then ends by itself" : "the next request or permcheck revoke --expired then ends it"
  }
  /// What permcheck-helper answered.
  var helper: [CheckDocument.HelperAnswered] = []
  /// The commands that undo what was given.
  var undo: [String] = []
  /// The input of the request.
  var context: AccessContext?
}

/// One line of permcheck watch.
struct WatchLine {
  enum Content {
    /// The report on an accessor when the watch starts.
    case first(AccessReport, time: Int64)
    case change(AccessWatcher.Change)
  }

  let content: Content
  /// When it was seen, in microseconds since 1970.
  var time: Int64 {
    switch content {
    case .first(_, let time): time
    case .change(let change): change.time
    }
  }
  /// The local date, in days since 1970.
  var day: Int64 { (time / 1_000_000 + Int64(system.localtime(time).offset)) / 86_400 }
  /// The reports on all accessors of the watch, which give the width of the name column.
  let reports: [AccessReport]
  /// The system that knows the local time.
  let system: any System
  /// Whether the line before has another date, or there is none.
  var isNewDay = false
}

/// The accessors of the registry.
struct AccessorListing {
  let entries: [AccessorRegistry.Entry]
}

/// The grants that are not revoked.
struct GrantListing {
  let grants: [Grant]
  let users: UserDatabase
  let journal: PathBytes
  /// The present, in microseconds since 1970.
  let time: Int64
}

/// The grants that permcheck revoke took back, or would take back.
struct RevokeResult {
  let users: UserDatabase
  let journal: PathBytes
  /// The present, in microseconds since 1970.
  let time: Int64
  /// Whether nothing was changed.
  let isDryRun: Bool
  var revoked: [Grant] = []
  /// The grants that are still in place, or may be: selected ones, and those whose file is missing.
  var open: [Grant] = []
  var status = ExitStatus.authorized
}

/// The summary of an analytics log.
struct LogSummary {
  /// The counts of one accessor.
  struct Line {
    let accessor: String
    var checks = 0
    var granted = 0
    var refused = 0
    var unavailable = 0
    var requests = 0
    /// The share of checks that were granted, from 0 to 1, without those of nothing.
    var grantedShare: Double {
      checks == unavailable ? 0 : Double(granted) / Double(checks - unavailable)
    }
  }

  let lines: [Line]
  /// The number of lines in the log that are not events.
  let unreadable: Int
}

/// Whether an expectation holds for a subject.
struct Verdict {
  enum Outcome: String {
    case holds
    case fails
    case undetermined
    case skipped
  }

  /// The name of the expectation.
  let name: String
  /// Its line in the file.
  let line: Int
  /// The user or process, for people.
  let who: String
  /// What is expected, as the file has it.
  let words: [String]
  /// What is expected, for people.
  let wanted: String
  /// The code that one of the reasons must have; nil if any will do.
  let reason: Reason.Code?
  /// Whether access is expected.
  let wantsAccess: Bool
  let report: AccessReport
  let outcome: Outcome
}

/// The result of a verification.
struct VerifyResult {
  /// The file of the expectations; `-` for standard input.
  let file: PathBytes
  let verdicts: [Verdict]
  let status: ExitStatus
  /// When it was verified, in microseconds since 1970.
  let time: Int64
  /// The name of the machine; nil if it is not known.
  let host: String?
}

/// The totals of an audit.
struct AuditResult {
  let subject: Subject
  let need: Permissions
  let roots: [PathBytes]
  let counts: TreeCounts
  /// What refused, and how many files and folders; what refused most comes first.
  let causes: [(cause: AuditCause, count: Int)]
  /// What may refuse a process in addition, and cannot be seen from outside.
  var doubts: [Reason] = []
  /// Whether the audit was stopped before its end.
  let isStopped: Bool
  let status: ExitStatus
}

/// What an audit counts for each of many users.
struct CensusResult {
  let users: [CensusUser]
  let need: Permissions
  let roots: [PathBytes]
  let counts: TreeCounts
  /// What kept the audit from looking.
  let causes: [(cause: AuditCause, count: Int)]
  /// Whether the audit was stopped before its end.
  let isStopped: Bool
  let status: ExitStatus
}

/// A mistake in a file of expectations, where it is written.
struct FileMistake {
  /// The line, from 1.
  let line: Int
  /// The column in characters, from 1.
  let column: Int
  let message: String
}
