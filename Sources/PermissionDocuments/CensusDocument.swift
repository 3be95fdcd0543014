internal import JSONSyntax
package import PermissionKit

/// The document of `permcheck audit --who --json`: the access of each user.
package struct CensusDocument: Sendable {
  private let toolVersion: String
  private let need: Permissions
  private let roots: [PathBytes]
  private let counts: TreeCounts
  private let users: [CensusUser]
  private let isStopped: Bool
  private let usersComplete: Bool?
  private let exitStatus: Int32

  /// Creates the document.
  package init(
    toolVersion: String, need: Permissions, roots: [PathBytes], counts: TreeCounts,
    users: [CensusUser], isStopped: Bool, usersComplete: Bool?, exitStatus: Int32
  ) {
    self.toolVersion = toolVersion
    self.need = need
    self.roots = roots
    self.counts = counts
    self.users = users
    self.isStopped = isStopped
    self.usersComplete = usersComplete
    self.exitStatus = exitStatus
  }

  /// The document, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<CensusDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("tool", Documents.tool.schema) { Documents.tool.json($0.toolVersion) },
      .always("need", JSONSchema.string) { .string($0.need.letters) },
      .always("tops", JSONSchema.array(JSONSchema.string)) {
        .array($0.roots.map { .string($0.description) })
      },
      .always("asked", JSONSchema.natural()) { JSONValue($0.counts.asked) },
      .always(
        "undetermined",
        JSONSchema.about(
          "Files and folders about which nothing could be read, for any user.",
          JSONSchema.natural())
      ) { JSONValue($0.counts.undetermined) },
      .always(
        "unlisted",
        JSONSchema.about(
          "Folders that permcheck cannot list, so that nothing below is known.",
          JSONSchema.natural())
      ) { JSONValue($0.counts.unlisted) },
      .always("users", JSONSchema.array(user.schema)) { .array($0.users.map(user.json)) },
      .always("isStopped", JSONSchema.bool) { .bool($0.isStopped) },
      .sometimes("usersComplete", CheckDocument.usersComplete) {
        $0.usersComplete.map { .bool($0) }
      },
      .always("exitStatus", JSONSchema.integer) { JSONValue(Int($0.exitStatus)) },
    ], about: "The output of permcheck audit --who --json.")

  private static let user = JSONRecord<CensusUser>([
    .always("uid", JSONSchema.natural()) { JSONValue($0.subject.credentials.user.fileSystem) },
    .sometimes("user", JSONSchema.string) { $0.subject.name.map { .string($0) } },
    .always("granted", JSONSchema.natural()) { JSONValue($0.number(.granted)) },
    .always("refused", JSONSchema.natural()) { JSONValue($0.number(.refused)) },
    .always("undetermined", JSONSchema.natural()) { JSONValue($0.number(.undetermined)) },
    .always("rules", JSONSchema.array(count.schema)) { .array($0.counts.map(count.json)) },
  ])

  private static let count = JSONRecord<CensusUser.Count>([
    .always("verdict", JSONSchema.oneOf(["granted", "refused", "undetermined"])) {
      .string($0.answer.verdict.rawValue)
    },
    .always("rule", JSONSchema.string) { .string($0.answer.rule.description) },
    .always(
      "isSearch",
      JSONSchema.about("Whether a folder on the way decides, by search.", JSONSchema.bool)
    ) { .bool($0.answer.isSearch) },
    .always("count", JSONSchema.natural()) { JSONValue($0.number) },
  ])
}
