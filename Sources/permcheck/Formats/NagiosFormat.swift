import PermissionKit

/// A plug-in of Nagios, Icinga and others: one line with performance data, and a line for each
/// finding.
///
/// The exit statuses are those of Nagios: 0 authorized, 1 limited, 2 denied or restricted, 3
/// everything else.
struct NagiosFormat: FindingFormat {
  static let name = "nagios"

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ findings: Findings) -> String {
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][Int(Self.state(findings.states))]
    let bad = findings.items.filter { $0.outcome != .holds && $0.outcome != .skipped }
    let first = bad.first.map { "; \($0.name) (\($0.who)): \($0.got)" } ?? ""
    let values = Finding.Outcome.allCases.map { "\($0.rawValue)=\(findings.count($0));;;0" }
    var text = "PERMCHECK \(word) - \(Self.clean(findings.summary + first)) | "
    text += values.joined(separator: " ") + "\n"
    for item in findings.items {
      let name = item.name == item.what ? item.name : "\(item.name): \(item.what)"
      let why = item.message.isEmpty ? "" : ": \(item.message)"
      text += Self.clean("\(item.outcome.rawValue): \(name) (\(item.who)) \(item.got)\(why)") + "\n"
    }
    return text
  }

  static func exit(_ result: CheckResult) -> ExitStatus {
    ExitStatus(rawValue: state(Findings(result).states)) ?? .failure
  }

  static func exit(_ result: VerifyResult) -> ExitStatus {
    ExitStatus(rawValue: state(Findings(result).states)) ?? .failure
  }

  /// Returns the line for an error that prevented every answer.
  static func text(_ message: String) -> String { "PERMCHECK UNKNOWN - \(clean(message))\n" }

  /// The state of all findings: the worst one, where 2 is worse than 3, and 3 than 1.
  private static func state(_ states: [Int32]) -> Int32 {
    [2, 3, 1].first(where: states.contains) ?? (states.isEmpty ? 3 : 0)
  }

  /// Returns text without the vertical bar, which begins performance data.
  private static func clean(_ text: String) -> String {
    text.replacing(["|": "\u{a6}"])
  }
}

extension Findings {
  /// The state of each finding; skipped ones only if there are no others.
  fileprivate var states: [Int32] {
    let counted = items.filter { $0.outcome != .skipped }
    return counted.map { item in
      if file != nil {
        return item.outcome == .holds ? 0 : item.outcome == .undetermined ? 3 : 2
      }
      switch item.status {
      case .authorized: return 0
      case .limited: return item.outcome == .holds ? 1 : 2
      case .denied, .restricted: return 2
      case .unavailable, .notDetermined: return 3
      }
    }
  }
}
