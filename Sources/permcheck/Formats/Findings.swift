import PermissionDocuments
import PermissionKit

/// The results of a check or a verification, for formats of tests and measurements.
struct Findings {
  /// The command: `permcheck check`.
  let title: String
  /// The file of the expectations; nil for a check.
  var file: PathBytes?
  let items: [Finding]
  /// When it was found, in microseconds since 1970.
  let time: Int64
  /// The name of the machine; nil if it is not known.
  var host: String?

  /// Whether several findings have the same name.
  var isOfMany: Bool { file != nil || Set(items.map(\.who)).count > 1 }

  func count(_ outcome: Finding.Outcome) -> Int { items.count { $0.outcome == outcome } }

  /// The counts, for people: `2 of 3 hold, 1 skipped`.
  var summary: String {
    let skipped = count(.skipped)
    let undetermined = count(.undetermined)
    var text = "\(count(.holds)) of \(items.count) \(file == nil ? "usable" : "hold")"
    if undetermined > 0 { text += ", \(undetermined) not determined" }
    if skipped > 0 { text += ", \(skipped) skipped" }
    return text
  }
}

/// One line of findings.
struct Finding {
  enum Outcome: String, CaseIterable {
    case holds
    case fails
    case undetermined
    case skipped
  }

  /// The accessor, or the name of the expectation.
  let name: String
  /// The user or process.
  let who: String
  /// The accessor or path.
  let what: String
  /// The permissions that were asked for: `rw`.
  let need: String
  let status: AuthorizationStatus
  let outcome: Outcome
  /// The expected answer; nil for a check.
  var expected: String?
  /// The code of the main reason; nil if there is none.
  let code: String?
  /// Why the status is what it is.
  let message: String
  /// The resources that have the status.
  private let resources: [ResourceReport]
  /// The line in the file of the expectations.
  var line: Int?

  /// The lines with the commands that help.
  var fix: [String] {
    let plain = HumanFormat(
      Style(colors: false, isUnicode: true, columns: nil), isVerbose: false)
    return plain.fixes(resources).map {
      switch $0 {
      case .text(let text): text
      case .command(let command): "  " + command
      }
    }
  }

  /// The permissions and the resource: `rw of /dev/video0`.
  var request: String { need.isEmpty ? what : "\(need) of \(what)" }

  /// The actual answer: `denied (other-bits)`.
  var got: String { status.rawValue + (code.map { " (\($0))" } ?? "") }

  /// The whole finding in several lines, for people.
  var details: [String] {
    var lines = expected.map { ["expected: \($0)", "got: \(got)"] } ?? ["status: \(got)"]
    lines.append("who: \(who)")
    if name != what || !need.isEmpty { lines.append("what: \(request)") }
    if !message.isEmpty { lines.append("why: \(message)") }
    return lines + fix
  }

  init(_ report: AccessReport, outcome: Outcome, name: String, who: String) {
    self.name = Sanitizer.clean(name)
    self.who = Sanitizer.clean(who)
    what = Sanitizer.clean(report.accessor)
    need = report.resources.map(\.need).reduce(into: Permissions()) { $0.formUnion($1) }.letters
    status = report.status
    self.outcome = outcome
    code = report.mainReason?.code.rawValue
    message = report.mainMessage
    resources = report.resources.filter { $0.status == report.status }
  }
}

extension Findings {
  init(_ result: CheckResult) {
    title = "permcheck check"
    items = result.reports.map { report in
      let status = ExitStatus([report], skipsAbsent: result.skipsUnavailable)
      let outcome: Finding.Outcome =
        switch status {
        case .authorized: .holds
        case .notDetermined: .undetermined
        case .skipped: .skipped
        case .refused, .unavailable, .usage, .failure: .fails
        }
      return Finding(
        report, outcome: outcome, name: report.accessor,
        who: (report.subject ?? result.subject).displayName)
    }
    time = result.reports.lazy.compactMap(\.time).first ?? 0
    host = result.context?.system.hostname
  }

  init(_ result: VerifyResult) {
    title = "permcheck verify"
    file = result.file
    items = result.verdicts.map { verdict in
      let outcome: Finding.Outcome =
        switch verdict.outcome {
        case .holds: .holds
        case .fails: .fails
        case .undetermined: .undetermined
        case .skipped: .skipped
        }
      var finding = Finding(
        verdict.report, outcome: outcome, name: verdict.name, who: verdict.who)
      finding.expected = verdict.wanted
      finding.line = verdict.line
      return finding
    }
    time = result.time
    host = result.host
  }
}

/// A format that prints findings, of both check and verify.
protocol FindingFormat: ReportFormat {
  func text(_ findings: Findings) throws -> String
}

extension FindingFormat {
  func text(_ result: CheckResult) throws -> String { try text(Findings(result)) }
  func text(_ result: VerifyResult) throws -> String { try text(Findings(result)) }
}
