import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionTrace

/// A format for programs: JSON documents, which `permcheck schema` describes.
struct JSONFormat: ReportFormat {
  static let name = "json"
  static let printsAudits = true
  static let printsRefusals = true

  private let isVerbose: Bool

  init(_ style: Style, isVerbose: Bool) { self.isVerbose = isVerbose }

  func text(_ result: CheckResult) -> String {
    var document = CheckDocument(
      toolVersion: Tool.version, subject: result.subject, reports: result.reports,
      exitStatus: result.status.rawValue)
    document.setting = result.context.map { Setting($0, result.reports) }
    document.usersComplete = result.usersComplete
    return document.text
  }

  func text(_ result: VerifyResult) -> String {
    let results = result.verdicts.map {
      VerificationDocument.Result(
        name: $0.name, line: $0.line, who: $0.who, expected: $0.words, reason: $0.reason,
        outcome: $0.outcome.rawValue, report: $0.report)
    }
    return VerificationDocument(
      toolVersion: Tool.version, host: result.host, time: result.time,
      file: result.file.description, results: results, exitStatus: result.status.rawValue
    ).text
  }

  func text(_ result: ExplainResult) -> String {
    var document = CheckDocument(
      toolVersion: Tool.version, subject: result.explanation.inspection.subject,
      reports: result.explanation.reports, exitStatus: result.status.rawValue)
    document.setting = result.context.map { Setting($0, result.explanation.reports) }
    // Facts tell nothing of what is not there yet.
    if result.explanation.isOfPermissions { document.basis = FactsDocument(result.explanation) }
    return document.text
  }

  func text(_ result: RequestResult) -> String {
    var document = CheckDocument(
      toolVersion: Tool.version, subject: result.subject, reports: result.reports,
      exitStatus: result.status.rawValue)
    document.setting = result.context.map { Setting($0, result.reports) }
    document.plans = result.plans
    document.isApplied = result.isApplied
    document.helper = result.helper
    document.undo = result.undo
    return document.text
  }

  func text(_ line: WatchLine) -> String {
    switch line.content {
    case .first(let report, let time): ChangeDocument(report, time: time).text
    case .change(let change): ChangeDocument(change, isVerbose: isVerbose).text
    }
  }

  func text(_ line: RefusalLine) -> String {
    let refusal = line.refusal
    var document = RefusalDocument()
    document.time = Timestamp.rfc3339(line.first)
    document.last = Timestamp.rfc3339(line.last)
    document.count = line.count
    document.operation = refusal.operation
    document.number = refusal.number
    document.interface = refusal.interface.rawValue
    document.arguments = refusal.arguments
    document.path = refusal.path
    document.secondPath = refusal.secondPath
    document.errno = "\(refusal.errno)"
    document.process = refusal.process
    document.thread = refusal.thread
    document.program = refusal.name
    document.credentials = refusal.credentials
    document.groupsAreComplete = refusal.groupsAreComplete
    document.rootDevice = "\(refusal.root.device >> 20):\(refusal.root.device & 0xfffff)"
    document.rootInode = refusal.root.inode
    document.mountNamespace = refusal.mountNamespace
    document.userNamespace = refusal.userNamespace
    return document.text
  }

  func text(_ listing: AccessorListing) -> String { AccessorsDocument(listing.entries).text }

  func text(_ listing: GrantListing) -> String {
    GrantsDocument(items(listing.grants, listing.users, listing.time)).text
  }

  func text(_ result: RevokeResult) -> String {
    RevocationDocument(
      revoked: items(result.revoked + result.forgotten, result.users, result.time),
      open: items(result.open, result.users, result.time), isDryRun: result.isDryRun,
      exitStatus: result.status.rawValue
    ).text
  }

  private func items(
    _ grants: [Grant], _ users: UserDatabase, _ time: Int64
  ) -> [GrantsDocument.Item] {
    grants.map {
      GrantsDocument.Item(
        $0, user: users.userName($0.uid), place: $0.place,
        isExpired: $0.lifetime.hasEnded(at: time, users.system))
    }
  }

  func text(_ summary: LogSummary) -> String {
    LogDocument(
      summary.lines.map {
        LogDocument.Line(
          accessor: $0.accessor, checks: $0.checks, granted: $0.granted, refused: $0.refused,
          unavailable: $0.unavailable,
          requests: $0.requests, grantedShare: $0.grantedShare)
      }, unreadable: summary.unreadable
    ).text
  }

  func text(_ entry: AuditEntry) -> String { AuditDocument.line(entry) }

  func text(_ result: AuditResult) -> String {
    AuditDocument(
      toolVersion: Tool.version, subject: result.subject, roots: result.roots,
      counts: result.counts,
      causes: result.causes, possibleRefusals: result.possibleRefusals, isStopped: result.isStopped,
      exitStatus: result.status.rawValue
    ).text
  }

  func text(_ result: CensusResult) -> String {
    CensusDocument(
      toolVersion: Tool.version, need: result.need, roots: result.roots, counts: result.counts,
      users: result.users, isStopped: result.isStopped, usersComplete: result.usersComplete,
      exitStatus: result.status.rawValue
    ).text
  }
}
