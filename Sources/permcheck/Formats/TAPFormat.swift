import JSONSyntax
import PermissionKit

/// The Test Anything Protocol, version 13, which prove(1) reads.
struct TAPFormat: FindingFormat {
  static let name = "tap"

  init(_ style: Style, isVerbose: Bool) {}

  func text(_ findings: Findings) -> String {
    var text = "TAP version 13\n1..\(findings.items.count)\n"
    for (index, item) in findings.items.enumerated() {
      let isGood = item.outcome == .holds || item.outcome == .skipped
      let skip = item.outcome == .skipped ? " # SKIP \(Self.escaped(item.got))" : ""
      let name = findings.isOfMany ? "\(item.name) (\(item.who))" : item.name
      text += "\(isGood ? "ok" : "not ok") \(index + 1) - \(Self.escaped(name))\(skip)\n"
      if !isGood { text += diagnostics(item) }
    }
    return text
  }

  /// Returns a block of YAML; a text in JSON's form is one in YAML too.
  private func diagnostics(_ item: Finding) -> String {
    var members = [("status", item.status.rawValue), ("who", item.who), ("what", item.request)]
    if let expected = item.expected { members.append(("expected", expected)) }
    if let code = item.code { members.append(("reason", code)) }
    if !item.message.isEmpty { members.append(("message", item.message)) }
    if !item.fix.isEmpty { members.append(("fix", item.fix.joined(separator: "\n"))) }
    let writer = JSONWriter()
    let lines = members.map { "  \($0): \(writer.text(.string($1)))\n" }
    return "  ---\n" + lines.joined() + "  ...\n"
  }

  /// Returns a description without text that a reader takes for a directive.
  private static func escaped(_ text: String) -> String {
    text.replacing(["#": "\\#", "\\": "\\\\"])
  }
}
