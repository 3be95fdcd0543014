import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionTrace

/// The result of a check.
struct CheckResult {
  /// The user or process whose access was judged.
  let subject: Subject
  let reports: [AccessReport]
  let status: ExitStatus
  /// The command that requests missing access, one for each report; empty if there is none.
  var requests: [String?] = []
  /// The grants that have ended, but whose ACL entries still give access.
  var expired: [Grant] = []
  /// The names of the accessors, if there is a report for each of several users; nil for one
  /// subject.
  var columns: [String]?
  /// Whether the list of users is complete; nil if no users were listed.
  var usersComplete: Bool?
  /// Whether missing devices are ignored.
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
  /// The event that ends them then, for people.
  var howItEnds: String {
    endsByItself
      ? "it then ends by itself" : "the next request or permcheck revoke --expired then ends it"
  }
  /// The answer of permcheck-helper.
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

/// One line of permcheck trace.
struct RefusalLine {
  /// The first of some equal refusals.
  let refusal: Refusal
  let count: Int
  /// The times of the first and the last, in microseconds since 1970.
  let first: Int64
  let last: Int64
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

/// The grants that permcheck revoke undid, or would undo.
struct RevokeResult {
  let users: UserDatabase
  let journal: PathBytes
  /// The present, in microseconds since 1970.
  let time: Int64
  /// Whether nothing was changed.
  let isDryRun: Bool
  var revoked: [Grant] = []
  /// The grants that were forgotten (`--forget`): what they gave may still be there.
  var forgotten: [Grant] = []
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
    /// The share of checks that were granted, from 0 to 1, without missing resources.
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
  /// The expected answer, as the file has it.
  let words: [String]
  /// The expected answer, for people.
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
  /// The causes with the number of files and folders that each refused, the largest first.
  let causes: [(cause: AuditCause, count: Int)]
  /// The layers that may refuse a process in addition, and cannot be inspected from outside.
  var possibleRefusals: [Reason] = []
  /// Whether the audit was stopped before its end.
  let isStopped: Bool
  let status: ExitStatus
}

/// The counts of an audit for each of many users.
struct CensusResult {
  let users: [CensusUser]
  let need: Permissions
  let roots: [PathBytes]
  let counts: TreeCounts
  /// The errors that prevented reading, with the number of files and folders of each.
  let causes: [(cause: AuditCause, count: Int)]
  /// Whether the audit was stopped before its end.
  let isStopped: Bool
  /// Whether the list of users is complete; nil if no users were listed.
  let usersComplete: Bool?
  let status: ExitStatus
}

/// A mistake in a file of expectations, with its place.
struct FileMistake {
  /// The line, from 1.
  let line: Int
  /// The column in characters, from 1.
  let column: Int
  let message: String
}
