internal import JSONSyntax
package import PermissionKit

/// The output of `permcheck list --json`.
package struct AccessorsDocument: Sendable {
  private let entries: [AccessorRegistry.Entry]

  /// Creates the document for the accessors of a registry.
  package init(_ entries: [AccessorRegistry.Entry]) { self.entries = entries }

  /// The document as text, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<AccessorsDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("accessors", JSONSchema.array(entry.schema)) { .array($0.entries.map(entry.json)) },
    ], about: "The output of permcheck list --json.")

  private static let entry = JSONRecord<AccessorRegistry.Entry>([
    .always("name", JSONSchema.string) { .string($0.name) },
    .always("aliases", JSONSchema.array(JSONSchema.string)) {
      .array($0.aliases.map { .string($0) })
    },
    .always("summary", JSONSchema.string) { .string($0.summary) },
    .always(
      "origin",
      JSONSchema.about(
        "Where it comes from: built-in, shipped, or the file that declares it.", JSONSchema.string)
    ) { .string($0.origin.description) },
  ])
}

/// The output of `permcheck list --grants --json`.
package struct GrantsDocument: Sendable {
  /// A grant, with the name of its user and the file or group that it changed.
  package struct Item: Sendable {
    let grant: Grant
    let user: String
    let place: String
    let isExpired: Bool

    /// Creates an item with these values.
    package init(_ grant: Grant, user: String, place: String, isExpired: Bool) {
      self.isExpired = isExpired
      self.grant = grant
      self.user = user
      self.place = place
    }
  }

  private let items: [Item]

  /// Creates the document for these grants.
  package init(_ items: [Item]) { self.items = items }

  /// The document as text, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<GrantsDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("grants", JSONSchema.array(item.schema)) { .array($0.items.map(item.json)) },
    ], about: "The output of permcheck list --grants --json.")

  static let item = JSONRecord<Item>([
    .always("id", JSONSchema.string) { .string($0.grant.id) },
    .always(
      "request",
      JSONSchema.about("The request that gave it, for revoke --request.", JSONSchema.string)
    ) { .string($0.grant.request) },
    .always("accessor", JSONSchema.string) { .string($0.grant.accessor) },
    .sometimes(
      "path", JSONSchema.about("The path that the request named, if any.", JSONSchema.string)
    ) { $0.grant.path.map { .string($0.description) } },
    .always("uid", JSONSchema.natural()) { JSONValue($0.grant.uid) },
    .always("user", JSONSchema.string) { .string($0.user) },
    .always("place", JSONSchema.string) { .string($0.place) },
    .always("change", JSONSchema.string) { .string($0.grant.change.command.summary) },
    .always("command", JSONSchema.array(JSONSchema.string)) {
      ReportDocument.texts($0.grant.change.command.arguments)
    },
    .always("time", ReportDocument.timeSchema("The time of the grant.")) { .string($0.grant.time) },
    .sometimes("expires", ReportDocument.timeSchema("The time when the grant expires.")) {
      $0.grant.lifetime.expires.map { .string(Timestamp.rfc3339($0)) }
    },
    .always(
      "expired",
      JSONSchema.about(
        "Whether its time is over, or its process has ended, and it is still in place.",
        JSONSchema.bool)
    ) { .bool($0.isExpired) },
    .sometimes(
      "pid", JSONSchema.about("The process whose end ends the grant.", JSONSchema.natural())
    ) {
      $0.grant.lifetime.process.map { JSONValue($0.pid) }
    },
    .always("stage", JSONSchema.string) { .string($0.grant.stage.rawValue) },
  ])
}

/// The output of `permcheck revoke --json`.
package struct RevocationDocument: Sendable {
  private let revoked: [GrantsDocument.Item]
  private let open: [GrantsDocument.Item]
  private let isDryRun: Bool
  private let exitStatus: Int32

  /// Creates the document.
  ///
  /// - Parameters:
  ///   - revoked: The grants that were taken back, or would be.
  ///   - open: Grants that are still in place, or may be: selected ones, and those whose file is missing.
  ///   - isDryRun: Whether nothing was changed.
  ///   - exitStatus: The exit status of the tool.
  package init(
    revoked: [GrantsDocument.Item], open: [GrantsDocument.Item], isDryRun: Bool, exitStatus: Int32
  ) {
    self.revoked = revoked
    self.open = open
    self.isDryRun = isDryRun
    self.exitStatus = exitStatus
  }

  /// The document as text, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<RevocationDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("dryRun", JSONSchema.about("Whether nothing was changed.", JSONSchema.bool)) {
        .bool($0.isDryRun)
      },
      .always("revoked", JSONSchema.array(GrantsDocument.item.schema)) {
        .array($0.revoked.map(GrantsDocument.item.json))
      },
      .always(
        "open",
        JSONSchema.about(
          "Grants that are still in place, or may be: selected ones, and those whose file is missing.",
          JSONSchema.array(GrantsDocument.item.schema))
      ) { .array($0.open.map(GrantsDocument.item.json)) },
      .always("exitStatus", JSONSchema.integer) { JSONValue($0.exitStatus) },
    ], about: "The output of permcheck revoke --json.")
}

/// The output of `permcheck log --json`.
package struct LogDocument: Sendable {
  /// The counts of one accessor.
  package struct Line: Sendable {
    let accessor: String
    let checks: Int
    let granted: Int
    let refused: Int
    let unavailable: Int
    let requests: Int
    let grantedShare: Double

    /// Creates a line with these values.
    package init(
      accessor: String, checks: Int, granted: Int, refused: Int, unavailable: Int, requests: Int,
      grantedShare: Double
    ) {
      self.accessor = accessor
      self.checks = checks
      self.granted = granted
      self.refused = refused
      self.unavailable = unavailable
      self.requests = requests
      self.grantedShare = grantedShare
    }
  }

  private let lines: [Line]
  private let unreadable: Int

  /// Creates the document.
  ///
  /// - Parameters:
  ///   - lines: One line for each accessor.
  ///   - unreadable: The number of lines in the log that are not events.
  package init(_ lines: [Line], unreadable: Int) {
    self.lines = lines
    self.unreadable = unreadable
  }

  /// The document as text, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<LogDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("accessors", JSONSchema.array(line.schema)) { .array($0.lines.map(line.json)) },
      .always(
        "unreadable",
        JSONSchema.about(
          "The number of lines in the log that are not events.", JSONSchema.natural())
      ) { JSONValue($0.unreadable) },
    ], about: "The output of permcheck log --json.")

  private static let line = JSONRecord<Line>([
    .always("accessor", JSONSchema.string) { .string($0.accessor) },
    .always("checks", JSONSchema.natural()) { JSONValue($0.checks) },
    .always("granted", JSONSchema.natural()) { JSONValue($0.granted) },
    .always("refused", JSONSchema.natural()) { JSONValue($0.refused) },
    .always("unavailable", JSONSchema.natural()) { JSONValue($0.unavailable) },
    .always("requests", JSONSchema.natural()) { JSONValue($0.requests) },
    .always(
      "grantedShare",
      [
        "description": "Granted checks, of those for which there was a device or folder.",
        "type": "number", "minimum": 0, "maximum": 1,
      ]
    ) {
      JSONValue($0.grantedShare) ?? 0
    },
  ])
}
