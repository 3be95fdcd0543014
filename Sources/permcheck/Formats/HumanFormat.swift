import PermissionDocuments
import PermissionKit

/// A format for people, with marks, and with colours if the terminal has them.
struct HumanFormat: ReportFormat {
  static let name = "human"
  static let printsAudits = true

  let style: Style
  /// Whether to print all evidence.
  let isVerbose: Bool

  init(_ style: Style, isVerbose: Bool) {
    self.style = style
    self.isVerbose = isVerbose
  }

  func text(_ result: RequestResult) -> String {
    if result.isDryRun, !result.plans.isEmpty { return text(result.plans) }
    return text(result.reports) + given(result)
  }

  /// Returns what a request gave, until when, and how to take it back.
  private func given(_ result: RequestResult) -> String {
    guard result.isApplied, !result.undo.isEmpty else { return "" }
    var details = result.helper.flatMap { answered($0, result.system) }
    // The helper says when its own grants end.
    if let expires = result.expires, result.plans.contains(where: { !$0.needsRoot }) {
      let end = Timestamp.local(expires, result.system)
      details.append(.text("given until \(end); \(result.howItEnds)"))
    }
    details.append(.text("undo:"))
    return lines(details + result.undo.map { .command(Sanitizer.clean($0)) }, indent: 0)
  }

  /// Returns what permcheck-helper changed, and until when.
  ///
  /// - Parameters:
  ///   - helper: The answer.
  ///   - system: The system that knows the local time.
  ///   - end: When the grant ends, if no time ends it: ` until …`.
  /// - Returns: Nothing is left out of the answer but its notes, which are warnings.
  func answered(
    _ helper: CheckDocument.HelperAnswered, _ system: any System, end: String = ""
  ) -> [Detail] {
    let (name, answer) = (short(helper.accessor), helper.answer)
    guard !answer.changes.isEmpty else { return [.text("root had nothing to change for \(name)")] }
    let status = answer.status.map { " (\(word($0)))" } ?? ""
    let end =
      answer.expires.map { " until \(Timestamp.local($0, system)); it then ends by itself" } ?? end
    return [.text("root gave access to \(name)\(status)\(end):")]
      + answer.changes.map { .command(Sanitizer.clean("\($0.place)   \($0.summary)")) }
  }

  // MARK: - Words and marks

  func title(_ name: String, _ status: AuthorizationStatus) -> String {
    mark(status) + " " + style.bold(short(name))
  }

  /// Returns the short name of an accessor, such as `mic`.
  func short(_ name: String) -> String {
    name == MicrophoneAccessor.name ? "mic" : Sanitizer.clean(name)
  }

  func mark(_ status: AuthorizationStatus) -> String { style.mark(Mark(status)) }

  func word(_ status: AuthorizationStatus) -> String {
    switch status {
    case .authorized: style.green(status.rawValue)
    case .limited, .notDetermined: style.yellow(status.rawValue)
    case .denied, .restricted: style.red(status.rawValue)
    case .unavailable: style.dim(status.rawValue)
    }
  }
}

extension ResourceDecision {
  var errnoName: String? {
    if case .refused(let errno) = verdict { errno.description } else { nil }
  }
}
