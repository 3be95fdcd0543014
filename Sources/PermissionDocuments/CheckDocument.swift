internal import JSONSyntax
package import PermissionKit

/// What `permcheck check --json`, `request --json` and `explain --json` print.
package struct CheckDocument: Sendable {
  /// The tool that prints it.
  package var toolVersion: String
  /// On whose behalf, in the first place.
  package var subject: Subject
  /// What was found out.
  package var reports: [AccessReport]
  /// What the tool exits with.
  package var exitStatus: Int32
  /// Of a request: what is to be changed.
  package var plans: [GrantPlan]?
  /// Of a request: whether it was changed.
  package var isApplied: Bool?
  /// Of an explanation: what it was made on.
  package var basis: FactsDocument?

  /// Creates the document of a check.
  package init(
    toolVersion: String, subject: Subject, reports: [AccessReport], exitStatus: Int32
  ) {
    self.toolVersion = toolVersion
    self.subject = subject
    self.reports = reports
    self.exitStatus = exitStatus
  }

  /// The document as text, its members sorted, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<CheckDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("tool", tool.schema) { tool.json($0.toolVersion) },
      .always("subject", SubjectDocument.record.schema) { SubjectDocument.record.json($0.subject) },
      .always("reports", JSONSchema.array(JSONSchema.ref("report"))) {
        .array($0.reports.map(ReportDocument.report.json))
      },
      .always("exitStatus", ["enum": [0, 1, 2, 3, 77]]) { JSONValue($0.exitStatus) },
      .sometimes(
        "plans",
        JSONSchema.about(
          "Of request: what is to be changed.", JSONSchema.array(JSONSchema.ref("plan")))
      ) { $0.plans.map { .array($0.map(PlanDocument.plan.json)) } },
      .sometimes(
        "applied", JSONSchema.about("Of request: whether it was changed.", JSONSchema.bool)
      ) { $0.isApplied.map { .bool($0) } },
    ] + basis)

  private static let basis: [JSONField<CheckDocument>] = [
    ("credentials", "Of explain: the subject in full, for permcheck evaluate."),
    ("facts", "Of explain: all that was read, for permcheck evaluate."),
    ("targets", "Of explain: what was asked, for permcheck evaluate."),
  ].compactMap { name, about in
    guard let field = FactsDocument.fields.first(where: { $0.name == name }) else { return nil }
    return .sometimes(name, JSONSchema.about(about, field.schema)) { document in
      document.basis.flatMap { field.json($0) }
    }
  }

  private static let tool = JSONRecord<String>([
    .always("name", ["const": "permcheck"]) { _ in "permcheck" },
    .always("version", JSONSchema.string) { .string($0) },
  ])
}

/// The subject of a document or of a report.
enum SubjectDocument {
  static let record = JSONRecord<Subject>([
    .always("source", JSONSchema.oneOf(["self", "user", "ids", "process"])) {
      .string($0.source.rawValue)
    },
    .sometimes("user", JSONSchema.string) { $0.name.map { .string($0) } },
    .always("uid", JSONSchema.natural(maximum: UInt64(UInt32.max))) {
      JSONValue($0.credentials.user.fileSystem)
    },
    .always("gid", JSONSchema.natural(maximum: UInt64(UInt32.max))) {
      JSONValue($0.credentials.group.fileSystem)
    },
    .always("groups", JSONSchema.array(JSONSchema.natural())) {
      .array($0.credentials.groups.sorted().map { JSONValue($0) })
    },
    .always("capabilities", JSONSchema.array(JSONSchema.string)) {
      .array($0.credentials.effective.names.map { .string($0) })
    },
    .sometimes("pid", JSONSchema.natural()) { $0.process.map { JSONValue($0) } },
  ])
}
