import PermissionKit

/// OpenMetrics, for the textfile collector of node_exporter: write it by `--output FILE.prom`.
///
/// A series for each state, of which one is 1; no time stamps, which the collector refuses.
struct OpenMetricsFormat: FindingFormat {
  static let name = "openmetrics"

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ findings: Findings) -> String {
    var text = ""
    func head(_ name: String, _ help: String) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
    }
    head("permcheck_status", "1 for the state of the access, 0 for the others.")
    var seen: Set<String> = []
    // The identity of a series must not change with the reason.
    var reasons = ""
    for item in findings.items {
      let labels = Self.labels([
        ("what", item.what), ("need", item.need), ("who", item.who),
      ])
      // Two expectations can be about the same access.
      guard seen.insert(labels).inserted else { continue }
      for status in AuthorizationStatus.allCases {
        let isSo = status == item.status
        let state = Self.labels([("state", status.rawValue)])
        text += "permcheck_status{\(labels),\(state)} \(isSo ? 1 : 0)\n"
      }
      if let code = item.code {
        reasons += "permcheck_reason_info{\(labels),\(Self.labels([("reason", code)]))} 1\n"
      }
    }
    if !reasons.isEmpty {
      head("permcheck_reason_info", "The reason for the state of the access; 1 while there is one.")
      text += reasons
    }
    if findings.file != nil {
      head("permcheck_expectation", "1 for the outcome of the expectation, 0 for the others.")
      for item in findings.items {
        for outcome in Finding.Outcome.allCases {
          let labels = Self.labels([
            ("name", item.name), ("what", item.what), ("who", item.who),
            ("outcome", outcome.rawValue),
          ])
          text += "permcheck_expectation{\(labels)} \(outcome == item.outcome ? 1 : 0)\n"
        }
      }
    }
    head("permcheck_check_timestamp_seconds", "When it was checked, in seconds since 1970.")
    let (seconds, rest) = findings.time.quotientAndRemainder(dividingBy: 1_000_000)
    let digits = String(rest + 1_000_000).dropFirst()
    return text + "permcheck_check_timestamp_seconds \(seconds).\(digits)\n# EOF\n"
  }

  /// Gauges, because a log gets shorter when it is renamed, and `--since` leaves out the past.
  func text(_ summary: LogSummary) -> String {
    let checks = AccessEvent.checksMetric
    let requests = AccessEvent.requestsMetric
    var text = """
      # HELP \(checks) Checks in the analytics log, by accessor and outcome.
      # TYPE \(checks) gauge

      """
    for line in summary.lines {
      let rest = line.checks - line.granted - line.refused - line.unavailable
      for (outcome, count) in [
        ("granted", line.granted), ("refused", line.refused), ("unavailable", line.unavailable),
        ("undetermined", rest),
      ] {
        let labels = Self.labels([("accessor", line.accessor), ("outcome", outcome)])
        text += "\(checks){\(labels)} \(count)\n"
      }
    }
    text += """
      # HELP \(requests) Requests in the analytics log, by accessor.
      # TYPE \(requests) gauge

      """
    for line in summary.lines {
      let labels = Self.labels([("accessor", line.accessor)])
      text += "\(requests){\(labels)} \(line.requests)\n"
    }
    return text + """
      # HELP permcheck_log_unreadable_lines Lines of the analytics log that are not events.
      # TYPE permcheck_log_unreadable_lines gauge
      permcheck_log_unreadable_lines \(summary.unreadable)
      # EOF

      """
  }

  private static func labels(_ pairs: [(String, String)]) -> String {
    pairs.map { name, value in
      let lines = value.parts(by: "\n", omittingEmptySubsequences: false)
      let value = lines.map { Sanitizer.clean(String($0)) }.joined(separator: "\n")
      return "\(name)=\"\(value.replacing(["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]))\""
    }.joined(separator: ",")
  }
}
