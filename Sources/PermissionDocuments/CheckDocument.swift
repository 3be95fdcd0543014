internal import JSONSyntax
@_spi(SystemCalls) package import PermissionKit

/// The output of `permcheck check --json`, `request --json` and `explain --json`.
package struct CheckDocument: Sendable {
  /// The version of the tool.
  package var toolVersion: String
  /// Where and when the check was made; nil if only its facts are known.
  package var setting: Setting?
  /// The subject of the first report.
  package var subject: Subject
  /// The reports on the accessors.
  package var reports: [AccessReport]
  /// The exit status of the tool.
  package var exitStatus: Int32
  /// Whether the list of users is complete; nil if no users were listed.
  package var usersComplete: Bool?
  /// The planned changes of a request; nil for other commands.
  package var plans: [GrantPlan]?
  /// Whether the plans of a request were carried out; nil for other commands.
  package var isApplied: Bool?
  /// The answers of permcheck-helper to a request; empty if it was not asked.
  package var helper: [HelperAnswered] = []
  /// The commands that undo a request, one for each of its accessors.
  package var undo: [String] = []
  /// The facts of an explanation; nil for other commands.
  package var basis: FactsDocument?

  /// Creates the document of a check with these values.
  package init(
    toolVersion: String, subject: Subject, reports: [AccessReport], exitStatus: Int32
  ) {
    self.toolVersion = toolVersion
    self.subject = subject
    self.reports = reports
    self.exitStatus = exitStatus
  }

  /// The document as one line with a newline; members are sorted by name.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<CheckDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("tool", Documents.tool.schema) { Documents.tool.json($0.toolVersion) },
      .sometimes(
        "host", JSONSchema.about("The name of the machine.", JSONSchema.string)
      ) { $0.setting?.host.map { .string($0) } },
      .sometimes("time", ReportDocument.timeSchema("The time of the check.")) {
        $0.setting.map { .string(Timestamp.rfc3339($0.time)) }
      },
      .sometimes(
        "root",
        JSONSchema.about(
          "The folder used as / (--root); if it is not /, the check is a what-if.",
          JSONSchema.string)
      ) { $0.setting.map { .string($0.root.description) } },
      .always("subject", SubjectDocument.record.schema) { SubjectDocument.record.json($0.subject) },
      .always("reports", JSONSchema.array(JSONSchema.ref("report"))) {
        .array($0.reports.map(ReportDocument.report.json))
      },
      .sometimes("usersComplete", usersComplete) { $0.usersComplete.map { .bool($0) } },
      .always("exitStatus", ["enum": [0, 1, 2, 3, 77]]) { JSONValue($0.exitStatus) },
      .sometimes(
        "plans",
        JSONSchema.about(
          "Of request: the planned changes.", JSONSchema.array(JSONSchema.ref("plan")))
      ) { $0.plans.map { .array($0.map(PlanDocument.plan.json)) } },
      .sometimes(
        "applied",
        JSONSchema.about("Of request: whether the plans were carried out.", JSONSchema.bool)
      ) { $0.isApplied.map { .bool($0) } },
      .sometimes(
        "helper",
        JSONSchema.about(
          "Of request: what permcheck-helper answered, for each accessor that it was asked for.",
          JSONSchema.array(answered.schema))
      ) { $0.helper.isEmpty ? nil : .array($0.helper.map(answered.json)) },
      .sometimes(
        "undo",
        JSONSchema.about(
          "Of request: the commands that undo it, one for each accessor.",
          JSONSchema.array(JSONSchema.string))
      ) { $0.undo.isEmpty ? nil : .array($0.undo.map { .string($0) }) },
    ] + basis, about: "The output of permcheck check, request, explain and evaluate with --json.")

  static let usersComplete = JSONSchema.about(
    "Of several users: whether the list has every user of the user data base.",
    JSONSchema.bool)

  /// An answer of permcheck-helper, and the accessor that it was asked for.
  package struct HelperAnswered: Sendable {
    /// The name of the accessor.
    package let accessor: String
    /// The answers of the helper.
    package let answer: HelperAnswer

    /// Creates an element with these values.
    package init(accessor: String, answer: HelperAnswer) {
      self.accessor = accessor
      self.answer = answer
    }
  }

  private static let answered = JSONRecord<HelperAnswered>([
    .always("accessor", JSONSchema.string) { .string($0.accessor) },
    .always("outcome", JSONSchema.oneOf(["granted", "nothing-to-change"])) {
      .string($0.answer.outcome.rawValue)
    },
    .sometimes("status", JSONSchema.ref("status")) {
      $0.answer.status.map { .string($0.rawValue) }
    },
    .sometimes("expires", ReportDocument.timeSchema("The time when the grant expires.")) {
      $0.answer.expires.map { .string(Timestamp.rfc3339($0)) }
    },
    .always("changes", JSONSchema.array(change.schema)) {
      .array($0.answer.changes.map(change.json))
    },
    .always("notes", JSONSchema.array(JSONSchema.string)) {
      .array($0.answer.notes.map { .string($0) })
    },
  ])

  private static let change = JSONRecord<HelperAnswer.Change>([
    .always("place", JSONSchema.string) { .string($0.place) },
    .always("change", JSONSchema.string) { .string($0.summary) },
  ])

  private static let basis: [JSONField<CheckDocument>] = [
    basis("credentials", "the complete subject", FactsDocument.credentials),
    basis("facts", "all facts that were read", FactsDocument.facts),
    basis("targets", "the resources that were asked for", FactsDocument.targets),
    basis("names", "the names of users and groups", FactsDocument.names),
  ]

  /// Returns a member of an explanation, as a closure, because a field takes longer to set up than
  /// a check.
  private static func basis(
    _ name: String, _ about: String,
    _ field: @escaping @Sendable @autoclosure () -> JSONField<FactsDocument>
  ) -> JSONField<CheckDocument> {
    .sometimes(
      name, JSONSchema.about("Of explain: \(about), for permcheck evaluate.", field().schema)
    ) { document in document.basis.flatMap { field().json($0) } }
  }
}

/// Where and when a check was made.
package struct Setting: Sendable {
  /// The name of the machine, see hostname(7); nil if /proc does not show it.
  package let host: String?
  /// The time of the check, in microseconds since 1970-01-01 UTC.
  package let time: Int64
  /// The folder that stood for `/`.
  package let root: PathBytes

  /// Reads the setting of a check.
  package init(_ context: AccessContext, _ reports: [AccessReport]) {
    host = context.system.hostname
    time = reports.lazy.compactMap(\.time).first ?? context.system.realtime()
    root = context.root
  }
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
