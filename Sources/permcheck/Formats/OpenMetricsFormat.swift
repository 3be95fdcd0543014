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
    for item in findings.items {
      let labels = Self.labels([
        ("what", item.what), ("need", item.need), ("who", item.who),
      ])
      // Two expectations can be about the same access.
      guard seen.insert(labels).inserted else { continue }
      for status in AuthorizationStatus.allCases {
        let isSo = status == item.status
        let state = Self.labels([
          ("state", status.rawValue), ("reason", isSo ? item.code ?? "" : ""),
        ])
        text += "permcheck_status{\(labels),\(state)} \(isSo ? 1 : 0)\n"
      }
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

  private static func labels(_ pairs: [(String, String)]) -> String {
    pairs.map { name, value in
      "\(name)=\"\(value.replacing(["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]))\""
    }.joined(separator: ",")
  }
}
