internal import JSONSyntax

/// The JSON documents of permcheck, and their schema.
package enum Documents: Sendable {
  /// Returns a document as one line with a newline; members are sorted by name.
  static func text(_ json: JSONValue) -> String { JSONWriter(sortsKeys: true).text(json) + "\n" }

  /// The JSON Schema of the output of `permcheck check`, `request` and `explain` with `--json`.
  ///
  /// Its `$defs` describe the other documents.
  package static var schema: String {
    var members: [(String, JSONValue)] = [
      ("$schema", "https://json-schema.org/draft/2020-12/schema"),
      ("title", "permcheck check --json, permcheck explain --json"),
      (
        "description",
        #"Paths are UTF-8; the backslash, and each byte that is not UTF-8, is written as \xNN. A line of permcheck watch --json is #/$defs/change. Readers must accept members and codes that are not listed here."#
      ),
    ]
    members += CheckDocument.record.schema.object?.members.map { ($0.key, $0.value) } ?? []
    members.append(("$defs", .object(JSONObject(definitions))))
    return JSONWriter(isPretty: true).text(.object(JSONObject(members))) + "\n"
  }

  private static var definitions: [(String, JSONValue)] {
    [
      ("status", ReportDocument.statuses), ("report", ReportDocument.report.schema),
      ("resource", ReportDocument.resource.schema), ("decision", ReportDocument.decision.schema),
      ("reason", ReportDocument.reason.schema), ("remedy", ReportDocument.remedy.schema),
      ("component", ReportDocument.component.schema), ("plan", PlanDocument.plan.schema),
      ("change", ChangeDocument.schema), ("accessors", AccessorsDocument.record.schema),
      ("grants", GrantsDocument.record.schema), ("log", LogDocument.record.schema),
    ]
  }
}
