import JSONSyntax
import PermissionKit

/// GitLab's code quality report; for its test report use JUnit.
struct GitLabFormat: FindingFormat {
  static let name = "gitlab"

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ findings: Findings) -> String {
    let items = findings.items.filter { $0.outcome == .fails || $0.outcome == .undetermined }
    let path = findings.file.flatMap { $0 == "-" ? nil : $0.description } ?? "permcheck"
    let issues = items.map { item in
      JSONValue.object(
        JSONObject([
          (
            "description",
            .string("\(item.name) (\(item.who)): \(item.details.joined(separator: "; "))")
          ),
          ("check_name", .string("permcheck/\(item.code ?? item.status.rawValue)")),
          ("fingerprint", .string(Self.fingerprint([path, item.name, item.who, item.request]))),
          ("severity", .string(item.outcome == .fails ? "major" : "minor")),
          (
            "location",
            .object(
              JSONObject([
                ("path", .string(path)),
                ("lines", .object(JSONObject([("begin", JSONValue(item.line ?? 1))]))),
              ]))
          ),
        ]))
    }
    return JSONWriter(isPretty: true).text(.array(issues)) + "\n"
  }

  /// Returns a hash that is the same for the same finding in every run: FNV-1a.
  private static func fingerprint(_ texts: [String]) -> String {
    let hash = texts.joined(separator: "\u{0}").utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
