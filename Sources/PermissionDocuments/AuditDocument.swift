internal import JSONSyntax
package import PermissionKit

/// The lines of `permcheck audit --json`: one for each finding, then the totals.
package struct AuditDocument: Sendable {
  private let toolVersion: String
  private let subject: Subject
  private let roots: [PathBytes]
  private let counts: TreeCounts
  private let causes: [Cause]
  private let possibleRefusals: [Reason]
  private let isStopped: Bool
  private let exitStatus: Int32

  private struct Cause: Sendable {
    let cause: AuditCause
    let count: Int
  }

  /// Creates the totals.
  package init(
    toolVersion: String, subject: Subject, roots: [PathBytes], counts: TreeCounts,
    causes: [(cause: AuditCause, count: Int)], possibleRefusals: [Reason], isStopped: Bool,
    exitStatus: Int32
  ) {
    self.toolVersion = toolVersion
    self.subject = subject
    self.roots = roots
    self.counts = counts
    self.causes = causes.map { Cause(cause: $0.cause, count: $0.count) }
    self.possibleRefusals = possibleRefusals
    self.isStopped = isStopped
    self.exitStatus = exitStatus
  }

  /// The line with the totals, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  /// Returns the line of a finding, with a newline.
  package static func line(_ entry: AuditEntry) -> String {
    Documents.text(finding.json(entry))
  }

  /// The schema of a line, or of the document of `--who`.
  static var schema: JSONValue {
    ["anyOf": [finding.schema, record.schema, CensusDocument.record.schema]]
  }

  private static let finding = JSONRecord<AuditEntry>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("path", JSONSchema.string) { .string($0.path.description) },
      .always("verdict", JSONSchema.oneOf(["refused", "undetermined"])) {
        .string($0.errno == nil ? "undetermined" : "refused")
      },
      .sometimes("errno", JSONSchema.string) { $0.errno.map { .string($0.description) } },
      .always(
        "rule", JSONSchema.about("The rule that decided, else the errno.", JSONSchema.string)
      ) { .string($0.ruleName) },
      .always("place", JSONSchema.oneOf(["itself", "folder", "target"])) {
        switch $0.place {
        case .itself: "itself"
        case .folder, .ancestor: "folder"
        case .target: "target"
        }
      },
      .sometimes(
        "folder", JSONSchema.about("The folder that refuses search.", JSONSchema.string)
      ) { entry in
        switch entry.place {
        case .itself, .target: nil
        case .folder: .string(entry.folder.description)
        case .ancestor(let folder): .string(folder.description)
        }
      },
      .sometimes("mode", JSONSchema.string) { $0.inode.map { .string($0.modeText) } },
    ], about: "A line of permcheck audit --json: a file or folder without access.")

  private static let possibleRefusals = JSONSchema.about(
    "What may refuse the process in addition, and cannot be seen from outside.",
    JSONSchema.array(JSONSchema.string))

  private static let record = JSONRecord<AuditDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("tool", Documents.tool.schema) { Documents.tool.json($0.toolVersion) },
      .always("uid", JSONSchema.natural()) { JSONValue($0.subject.credentials.user.fileSystem) },
      .always("tops", JSONSchema.array(JSONSchema.string)) {
        .array($0.roots.map { .string($0.description) })
      },
      .always("asked", JSONSchema.natural()) { JSONValue($0.counts.asked) },
      .always("refused", JSONSchema.natural()) { JSONValue($0.counts.refused) },
      .always("undetermined", JSONSchema.natural()) { JSONValue($0.counts.undetermined) },
      .always(
        "unlisted",
        JSONSchema.about(
          "Folders that cannot be listed, so that nothing below is known.", JSONSchema.natural())
      ) { JSONValue($0.counts.unlisted) },
      .sometimes(
        "onlyWithoutCreate",
        JSONSchema.about(
          "Granted files of others in sticky folders, which the kernel opens with O_CREAT only for their owners.",
          JSONSchema.natural())
      ) { $0.counts.protected == 0 ? nil : JSONValue($0.counts.protected) },
      .always("causes", JSONSchema.array(cause.schema)) { .array($0.causes.map(cause.json)) },
      .sometimes("doubts", possibleRefusals) { document in
        document.possibleRefusals.isEmpty
          ? nil : .array(document.possibleRefusals.map { .string($0.message) })
      },
      .always("isStopped", JSONSchema.bool) { .bool($0.isStopped) },
      .always("exitStatus", JSONSchema.integer) { JSONValue(Int($0.exitStatus)) },
    ], about: "The last line of permcheck audit --json: the totals.")

  private static let cause = JSONRecord<Cause>([
    .always("folder", JSONSchema.string) { .string($0.cause.folder.description) },
    .always("isSearch", JSONSchema.bool) { .bool($0.cause.isSearch) },
    .always("isBelow", JSONSchema.bool) { .bool($0.cause.isBelow) },
    .always("rule", JSONSchema.string) { .string($0.cause.rule) },
    .always("count", JSONSchema.natural()) { JSONValue($0.count) },
  ])
}
