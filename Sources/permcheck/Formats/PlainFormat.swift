@_spi(SystemCalls) import PermissionKit
import PermissionTrace

/// A format for line tools: one record a line, with fields separated by tabs.
///
/// A check has these fields: accessor, its status, path, status of the resource, need, errno, rule,
/// reason code, message, user. A change: time, accessor, old status, new status, cause, path of the cause,
/// reason code, message. A verification: outcome, name, user or process, accessor or path, need, expected,
/// status, reason code, message, line of the file. A log: accessor, checks, granted, refused. A
/// revocation: revoked, open or selected, accessor, user, place, change. An audit: path, refused or
/// undetermined, errno, rule, folder that refuses search; its totals: folder, total, search or name, rule,
/// count. An audit of users: user, uid, granted, refused, undetermined, rule, its verdict, search or name,
/// count; a record for each rule.
struct PlainFormat: ReportFormat {
  static let name = "plain"
  static let printsAudits = true
  static let printsRefusals = true

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ result: CheckResult) -> String {
    result.reports.flatMap { report in
      report.resources.isEmpty
        ? [Self.record(report, nil, result)]
        : report.resources.map { Self.record(report, $0, result) }
    }.joined()
  }

  func text(_ result: VerifyResult) -> String {
    Findings(result).items.map { item in
      Self.line([
        item.outcome.rawValue, item.name, item.who, item.what, item.need,
        item.expected ?? "",
        item.status.rawValue, item.code ?? "", item.message, item.line.map(String.init) ?? "",
      ])
    }.joined()
  }

  func text(_ line: WatchLine) -> String {
    switch line.content {
    case .first(let report, let time): change(Timestamp.rfc3339(time), nil, report)
    case .change(let change):
      self.change(change.timestamp, change.old, change.new, change.cause, change.path)
    }
  }

  private func change(
    _ time: String, _ old: AccessReport?, _ new: AccessReport, _ cause: ChangeCause? = nil,
    _ path: PathBytes? = nil
  ) -> String {
    Self.line([
      time, new.accessor, old?.status.rawValue ?? "", new.status.rawValue, cause?.rawValue ?? "",
      path?.description ?? "", new.mainReason?.code.rawValue ?? "", new.mainReason?.message ?? "",
    ])
  }

  func text(_ line: RefusalLine) -> String {
    let refusal = line.refusal
    return Self.line([
      Timestamp.rfc3339(line.first), String(line.count), "\(refusal.errno)",
      refusal.call, refusal.path?.description ?? "", refusal.secondPath?.description ?? "",
      refusal.name.description, String(refusal.process),
      String(refusal.credentials.user.fileSystem),
    ])
  }

  func text(_ listing: AccessorListing) -> String {
    listing.entries.map {
      Self.line([
        $0.name, $0.aliases.joined(separator: ","), $0.summary, $0.origin.description,
      ])
    }.joined()
  }

  func text(_ listing: GrantListing) -> String {
    listing.rows(\.accessor, Timestamp.rfc3339).map(Self.line).joined()
  }

  func text(_ result: RevokeResult) -> String {
    let word = result.isDryRun ? "selected" : "revoked"
    return
      (result.revoked.map { (word, $0) } + result.forgotten.map { ("forgotten", $0) }
      + result.open.map { ("open", $0) })
      .map { word, grant in
        Self.line([
          word, grant.accessor, result.users.userName(grant.uid), grant.place,
          grant.change.command.summary,
        ])
      }.joined()
  }

  func text(_ summary: LogSummary) -> String {
    summary.lines.map {
      Self.line([$0.accessor, "\($0.checks)", "\($0.granted)", "\($0.refused)"])
    }
    .joined()
  }

  func text(_ entry: AuditEntry) -> String {
    var folder = ""
    switch entry.place {
    case .folder: folder = entry.folder.description
    case .ancestor(let path): folder = path.description
    case .itself, .target: break
    }
    return Self.line([
      entry.path.description, entry.errno == nil ? "undetermined" : "refused",
      entry.errno?.description ?? "", entry.ruleName, folder,
    ])
  }

  func text(_ result: AuditResult) -> String {
    result.causes.map { cause, count in
      Self.line([
        cause.folder.description, "total", cause.isSearch ? "search" : "name", cause.rule,
        "\(count)",
      ])
    }.joined()
  }

  func text(_ result: CensusResult) -> String {
    result.users.flatMap { user in
      user.counts.map { count in
        Self.line([
          user.subject.displayName, "\(user.subject.credentials.user.fileSystem)",
          "\(user.number(.granted))", "\(user.number(.refused))", "\(user.number(.undetermined))",
          count.answer.rule.description, count.answer.verdict.rawValue,
          count.answer.isSearch ? "search" : "name", "\(count.number)",
        ])
      }
    }.joined()
  }

  private static func record(
    _ report: AccessReport, _ resource: ResourceReport?, _ result: CheckResult
  ) -> String {
    let errno = resource?.probe?.errno?.description ?? resource?.decision?.errnoName
    return line([
      report.accessor, report.status.rawValue, resource?.path.description ?? "",
      resource?.status.rawValue ?? "", resource?.need.letters ?? "", errno ?? "",
      resource?.decision?.rule.description ?? "", resource?.reasons.first?.code.rawValue ?? "",
      resource?.reasons.first?.message ?? "", (report.subject ?? result.subject).displayName,
    ])
  }

  static func line(_ fields: [String]) -> String {
    fields.map(Sanitizer.clean).joined(separator: "\t") + "\n"
  }
}
