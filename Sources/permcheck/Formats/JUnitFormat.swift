import PermissionKit

/// JUnit's XML, which most CI systems read, GitLab's too.
struct JUnitFormat: FindingFormat {
  static let name = "junit"

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ findings: Findings) -> String {
    Self.suite(
      findings.title, findings.time, findings.host,
      counts: [
        ("tests", findings.items.count), ("failures", findings.count(.fails)),
        ("errors", findings.count(.undetermined)), ("skipped", findings.count(.skipped)),
      ], findings.items.map { Self.test($0, findings) }.joined())
  }

  func text(_ mistakes: [FileMistake], in file: PathBytes, at time: Int64, host: String?) -> String?
  {
    let title = "permcheck verify"
    let tests = mistakes.map { mistake in
      let name = Sanitizer.clean(file.description)
      let place = "\(name):\(mistake.line):\(mistake.column)"
      let told = Self.attributes([
        ("message", Sanitizer.clean(mistake.message)), ("type", "mistake"),
      ])
      return "  <testcase"
        + Self.attributes([("name", place), ("classname", title), ("time", "0")])
        + "><error\(told)/></testcase>\n"
    }
    return Self.suite(
      title, time, host,
      counts: [
        ("tests", tests.count), ("failures", 0), ("errors", tests.count), ("skipped", 0),
      ], tests.joined())
  }

  private static func suite(
    _ title: String, _ time: Int64, _ host: String?, counts: [(String, Int)], _ tests: String
  ) -> String {
    // The schema wants the local time of the run without a zone; UTC is as good as any.
    let time = Timestamp.rfc3339(time).prefix(19)
    let suite =
      [("name", title), ("timestamp", String(time)), ("hostname", host ?? "localhost")]
      + counts.map { ($0.0, "\($0.1)") } + [("time", "0")]
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite\(attributes(suite))>
        <properties/>
      \(tests)  <system-out/>
        <system-err/>
      </testsuite>

      """
  }

  private static func test(_ item: Finding, _ findings: Findings) -> String {
    let name = item.name + (findings.isOfMany ? " (\(item.who))" : "")
    let start =
      "  <testcase" + attributes([("name", name), ("classname", findings.title), ("time", "0")])
    let content = escaped(item.details.joined(separator: "\n"))
    let told = attributes([
      ("message", "\(item.got): \(item.message)"), ("type", item.code ?? "status"),
    ])
    switch item.outcome {
    case .holds: return start + "/>\n"
    case .skipped:
      return start + "><skipped\(attributes([("message", item.message)]))/></testcase>\n"
    case .fails: return start + "><failure\(told)>\(content)</failure></testcase>\n"
    case .undetermined: return start + "><error\(told)>\(content)</error></testcase>\n"
    }
  }

  private static func attributes(_ pairs: [(String, String)]) -> String {
    pairs.map { " \($0)=\"\(escaped($1))\"" }.joined()
  }

  /// Returns text with escaped markup, without characters that XML 1.0 does not allow.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "\n": "\n"
      case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }.joined()
  }
}
