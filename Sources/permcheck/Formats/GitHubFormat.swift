import PermissionKit

/// Annotations of GitHub Actions, and the table of its job summary.
struct GitHubFormat: FindingFormat {
  static let name = "github"

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ findings: Findings) -> String {
    var text = ""
    for item in findings.items where item.outcome != .holds {
      let level = item.outcome == .skipped ? "notice" : "error"
      var properties: [(String, String)] = []
      if let file = findings.file, file != "-", let line = item.line {
        properties += [("file", file.description), ("line", "\(line)")]
      }
      properties.append(("title", "\(item.name) (\(item.who))"))
      let list = properties.map { "\($0)=\(Self.property($1))" }.joined(separator: ",")
      text += "::\(level) \(list)::\(Self.data(item.details.joined(separator: "\n")))\n"
    }
    return text + "\(findings.title): \(findings.summary)\n"
  }

  func text(_ mistakes: [FileMistake], in file: PathBytes, at time: Int64, host: String?) -> String?
  {
    mistakes.map { mistake in
      var properties = [("line", "\(mistake.line)"), ("col", "\(mistake.column)")]
      if file != "-" { properties.insert(("file", file.description), at: 0) }
      properties.append(("title", "permcheck verify"))
      let list = properties.map { "\($0)=\(Self.property($1))" }.joined(separator: ",")
      return "::error \(list)::\(Self.data(Sanitizer.clean(mistake.message)))\n"
    }.joined()
  }

  func summary(_ findings: Findings) -> String? {
    var text = "### \(findings.title): \(findings.summary)\n\n"
    text += "| | name | who | expected | got | why |\n|---|---|---|---|---|---|\n"
    for item in findings.items {
      let cells = [
        item.outcome.rawValue, item.name, item.who, item.expected ?? "", item.got, item.message,
      ]
      text += "| " + cells.map(Self.markdown).joined(separator: " | ") + " |\n"
    }
    return text + "\n"
  }

  /// Returns the message of a command, as the toolkit's `escapeData` has it.
  private static func data(_ text: String) -> String {
    text.replacing(["%": "%25", "\r": "%0D", "\n": "%0A"])
      // The older form of commands may begin anywhere in a line.
      .parts(by: "##[").joined(separator: "# #[")
  }

  /// Returns the value of a property, as the toolkit's `escapeProperty` has it.
  private static func property(_ text: String) -> String {
    data(text).replacing([":": "%3A", ",": "%2C"])
  }

  /// Returns text that Markdown and HTML show unchanged.
  private static func markdown(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      let isPlain = !scalar.isASCII || scalar.properties.isAlphabetic
      let isHarmless = isPlain || scalar.properties.numericType != nil || scalar == " "
      return isHarmless ? String(scalar) : "&#\(scalar.value);"
    }.joined()
  }
}
