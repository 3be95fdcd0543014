import PermissionKit

/// An output format.
///
/// A new format is one file and one line in `ReportFormats.all`. A format must print a check. By
/// default it prints explanations and requests as checks, and refuses results without reports.
protocol ReportFormat: SendableMetatype {
  /// The name that selects the format: `--format plain`.
  static var name: String { get }
  /// Whether the format prints audits.
  static var printsAudits: Bool { get }
  /// Whether the format prints refusals of programs.
  static var printsRefusals: Bool { get }

  /// Creates a format.
  init(_ style: Style, isVerbose: Bool)

  /// Returns the output of permcheck check.
  func text(_ result: CheckResult) throws -> String
  /// Returns the output of permcheck verify.
  func text(_ result: VerifyResult) throws -> String
  /// Returns a report of the mistakes in a file of expectations; nil if they are only printed on
  /// standard error.
  func text(_ mistakes: [FileMistake], in file: PathBytes, at time: Int64, host: String?) -> String?
  /// Returns the exit status of permcheck check, which is the usual one except for Nagios.
  static func exit(_ result: CheckResult) -> ExitStatus
  /// Returns the exit status of permcheck verify.
  static func exit(_ result: VerifyResult) -> ExitStatus
  /// Returns the text for the job summary of GitHub Actions; nil if there is none.
  func summary(_ findings: Findings) -> String?
  /// Returns the output of permcheck explain and permcheck evaluate.
  func text(_ result: ExplainResult) throws -> String
  /// Returns the output of permcheck request.
  func text(_ result: RequestResult) throws -> String
  /// Returns one line of permcheck watch.
  func text(_ line: WatchLine) throws -> String
  /// Returns the output of permcheck list.
  func text(_ listing: AccessorListing) throws -> String
  /// Returns the output of permcheck list --grants.
  func text(_ listing: GrantListing) throws -> String
  /// Returns the output of permcheck revoke.
  func text(_ result: RevokeResult) throws -> String
  /// Returns the output of permcheck log.
  func text(_ summary: LogSummary) throws -> String
  /// Returns the line of permcheck audit for one file or folder.
  func text(_ entry: AuditEntry) throws -> String
  /// Returns the totals of permcheck audit.
  func text(_ result: AuditResult) throws -> String
  /// Returns the output of permcheck audit --who.
  func text(_ result: CensusResult) throws -> String
  /// Returns one line of permcheck trace.
  func text(_ line: RefusalLine) throws -> String
  /// The output of permcheck trace if nothing was refused.
  var noRefusals: String { get }
}

extension ReportFormat {
  func text(_ mistakes: [FileMistake], in file: PathBytes, at time: Int64, host: String?) -> String?
  {
    nil
  }

  func text(_ result: ExplainResult) throws -> String {
    try text(
      CheckResult(
        subject: result.explanation.inspection.subject, reports: result.explanation.reports,
        status: result.status))
  }

  func text(_ result: RequestResult) throws -> String {
    try text(
      CheckResult(subject: result.subject, reports: result.reports, status: result.status))
  }

  static var printsAudits: Bool { false }
  static var printsRefusals: Bool { false }
  static func exit(_ result: CheckResult) -> ExitStatus { result.status }
  static func exit(_ result: VerifyResult) -> ExitStatus { result.status }
  func summary(_ findings: Findings) -> String? { nil }

  func text(_ line: WatchLine) throws -> String { throw Self.unsupported("watch") }
  func text(_ listing: AccessorListing) throws -> String { throw Self.unsupported("list") }
  func text(_ listing: GrantListing) throws -> String { throw Self.unsupported("list --grants") }
  func text(_ result: RevokeResult) throws -> String { throw Self.unsupported("revoke") }
  func text(_ summary: LogSummary) throws -> String { throw Self.unsupported("log") }
  func text(_ entry: AuditEntry) throws -> String { throw Self.unsupported("audit") }
  func text(_ result: AuditResult) throws -> String { throw Self.unsupported("audit") }
  func text(_ result: CensusResult) throws -> String { throw Self.unsupported("audit --who") }

  func text(_ line: RefusalLine) throws -> String { throw Self.unsupported("trace") }
  var noRefusals: String { "" }

  private static func unsupported(_ command: String) -> PermissionError {
    PermissionError(
      .invalidArgument, "permcheck \(command) has no format \(name)",
      advice: "use --format human")
  }
}

/// The formats of this tool.
enum ReportFormats {
  /// All formats in the order in which they are listed; the first is the default.
  static let all: [any ReportFormat.Type] = [
    HumanFormat.self, PlainFormat.self, JSONFormat.self, JUnitFormat.self, TAPFormat.self,
    GitHubFormat.self, GitLabFormat.self, NagiosFormat.self, OpenMetricsFormat.self,
  ]

  /// Returns the format with this name; nil if there is none.
  static func named(_ name: String) -> (any ReportFormat.Type)? { all.first { $0.name == name } }
}
