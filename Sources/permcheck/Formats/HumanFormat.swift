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
    var details: [Detail] = []
    if let expires = result.expires {
      let how =
        result.endsByItself
        ? "it then ends by itself" : "the next request or permcheck revoke --expired then ends it"
      details.append(.text("given until \(Timestamp.rfc3339(expires)); \(how)"))
    }
    details.append(.text("undo:"))
    return lines(details + result.undo.map { .command(Sanitizer.clean($0)) }, indent: 0)
  }

  // MARK: - Words and marks

  func title(_ name: String, _ status: AuthorizationStatus) -> String {
    mark(status) + " " + style.bold(short(name))
  }

  /// Returns the short name of an accessor, such as `mic`.
  func short(_ name: String) -> String {
    name == MicrophoneAccessor.name ? "mic" : name
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
