internal import JSONSyntax
internal import PermissionKit

/// The JSON documents of permcheck, and their schema.
package enum Documents: Sendable {
  /// The version of the tool and of the library for C, which documents name.
  package static var version: StaticString { "0.9.0" }
  /// The version as a string.
  package static var toolVersion: String { version.description }

  /// Returns a document as one line with a newline; members are sorted by name.
  static func text(_ json: JSONValue) -> String { JSONWriter(sortsKeys: true).text(json) + "\n" }

  static let tool = JSONRecord<String>([
    .always("name", ["const": "permcheck"]) { _ in "permcheck" },
    .always("version", JSONSchema.string) { .string($0) },
  ])

  /// The commands whose `--json` has a schema, each with the definition of its document.
  private static let commands = [
    ("check", "check"), ("request", "check"), ("explain", "check"), ("evaluate", "check"),
    ("watch", "change"), ("list", "accessors"), ("list --grants", "grants"),
    ("revoke", "revocation"), ("log", "log"), ("trace", "refusal"), ("verify", "verification"),
    ("audit", "audit"),
  ]

  /// The names of the commands whose `--json` has a schema.
  package static var commandNames: [String] { commands.map(\.0) }

  /// Returns the JSON Schema of what `--json` prints.
  ///
  /// - Parameter command: The command; nil for every document of every command.
  /// - Returns: The schema as text; nil if there is no such command.
  package static func schema(of command: String? = nil) -> String? {
    var names = [
      "check", "change", "accessors", "grants", "revocation", "log", "verification", "audit",
      "refusal",
    ]
    if let command {
      guard let name = commands.first(where: { $0.0 == command })?.1 else { return nil }
      names = [name]
    }
    let title = command.map { "permcheck \($0) --json" } ?? "permcheck --json"
    let id = (command ?? "all").parts(by: " ").joined(separator: "-")
    let members: [(String, JSONValue)] = [
      ("$schema", "https://json-schema.org/draft/2020-12/schema"),
      ("$id", .string("urn:permissionkit:permcheck:1:\(id)")), ("title", .string(title)),
      (
        "description",
        #"Paths are UTF-8; the backslash, and each byte that is not UTF-8, is written as \xNN. With schemaVersion 1, no member changes its meaning or type, and none that is required goes; new members and new values of codes may come, and readers must accept them. Each line that watch, audit and trace print is a document."#
      ),
      ("anyOf", .array((names + ["error"]).map(JSONSchema.ref))),
      ("$defs", .object(JSONObject(definitions))),
    ]
    return JSONWriter(isPretty: true).text(.object(JSONObject(members))) + "\n"
  }

  private static var definitions: [(String, JSONValue)] {
    [
      ("verification", VerificationDocument.record.schema),
      ("check", CheckDocument.record.schema), ("status", ReportDocument.statuses),
      ("report", ReportDocument.report.schema), ("resource", ReportDocument.resource.schema),
      ("decision", ReportDocument.decision.schema), ("reason", ReportDocument.reason.schema),
      ("remedy", ReportDocument.remedy.schema), ("component", ReportDocument.component.schema),
      ("plan", PlanDocument.plan.schema), ("change", ChangeDocument.schema),
      ("accessors", AccessorsDocument.record.schema), ("grants", GrantsDocument.record.schema),
      ("revocation", RevocationDocument.record.schema), ("log", LogDocument.record.schema),
      ("audit", AuditDocument.schema), ("refusal", RefusalDocument.schema),
      ("error", ErrorDocument.record.schema),
    ]
  }
}
