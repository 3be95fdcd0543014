internal import JSONSyntax
package import PermissionKit

/// What `permcheck list --json` prints.
package struct AccessorsDocument: Sendable {
  private let entries: [AccessorRegistry.Entry]

  /// Creates the document of a registry's accessors.
  package init(_ entries: [AccessorRegistry.Entry]) { self.entries = entries }

  /// The document as text, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<AccessorsDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("accessors", JSONSchema.array(entry.schema)) { .array($0.entries.map(entry.json)) },
    ], about: "What permcheck list --json prints.")

  private static let entry = JSONRecord<AccessorRegistry.Entry>([
    .always("name", JSONSchema.string) { .string($0.name) },
    .always("aliases", JSONSchema.array(JSONSchema.string)) {
      .array($0.aliases.map { .string($0) })
    },
    .always("summary", JSONSchema.string) { .string($0.summary) },
  ])
}

/// What `permcheck list --grants --json` prints.
package struct GrantsDocument: Sendable {
  /// A grant, with the name of its user and of what was changed.
  package struct Item: Sendable {
    let grant: Grant
    let user: String
    let place: String

    /// Creates an item.
    package init(_ grant: Grant, user: String, place: String) {
      self.grant = grant
      self.user = user
      self.place = place
    }
  }

  private let items: [Item]

  /// Creates the document.
  package init(_ items: [Item]) { self.items = items }

  /// The document as text, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<GrantsDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("grants", JSONSchema.array(item.schema)) { .array($0.items.map(item.json)) },
    ], about: "What permcheck list --grants --json prints.")

  private static let item = JSONRecord<Item>([
    .always("id", JSONSchema.string) { .string($0.grant.id) },
    .always("accessor", JSONSchema.string) { .string($0.grant.accessor) },
    .always("uid", JSONSchema.natural()) { JSONValue($0.grant.uid) },
    .always("user", JSONSchema.string) { .string($0.user) },
    .always("place", JSONSchema.string) { .string($0.place) },
    .always("change", JSONSchema.string) { .string($0.grant.change.command.summary) },
    .always("command", JSONSchema.array(JSONSchema.string)) {
      ReportDocument.texts($0.grant.change.command.arguments)
    },
    .always("time", ReportDocument.timeSchema("When it was granted.")) { .string($0.grant.time) },
    .sometimes("expires", ReportDocument.timeSchema("When it ends.")) {
      $0.grant.lifetime.expires.map { .string(Timestamp.rfc3339($0)) }
    },
    .sometimes("pid", JSONSchema.about("The process with which it ends.", JSONSchema.natural())) {
      $0.grant.lifetime.process.map { JSONValue($0.pid) }
    },
    .always("stage", JSONSchema.string) { .string($0.grant.stage.rawValue) },
  ])
}

/// What `permcheck log --json` prints.
package struct LogDocument: Sendable {
  /// One accessor's share.
  package struct Line: Sendable {
    let accessor: String
    let checks: Int
    let granted: Int
    let refused: Int
    let requests: Int
    let grantedShare: Double

    /// Creates a line.
    package init(
      accessor: String, checks: Int, granted: Int, refused: Int, requests: Int,
      grantedShare: Double
    ) {
      self.accessor = accessor
      self.checks = checks
      self.granted = granted
      self.refused = refused
      self.requests = requests
      self.grantedShare = grantedShare
    }
  }

  private let lines: [Line]
  private let unreadable: Int

  /// Creates the document.
  ///
  /// - Parameters:
  ///   - lines: One for each accessor.
  ///   - unreadable: How many lines of the log are no events.
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
        "unreadable", JSONSchema.about("Lines of the log that are no events.", JSONSchema.natural())
      ) { JSONValue($0.unreadable) },
    ], about: "What permcheck log --json prints.")

  private static let line = JSONRecord<Line>([
    .always("accessor", JSONSchema.string) { .string($0.accessor) },
    .always("checks", JSONSchema.natural()) { JSONValue($0.checks) },
    .always("granted", JSONSchema.natural()) { JSONValue($0.granted) },
    .always("refused", JSONSchema.natural()) { JSONValue($0.refused) },
    .always("requests", JSONSchema.natural()) { JSONValue($0.requests) },
    .always("grantedShare", ["type": "number", "minimum": 0, "maximum": 1]) {
      JSONValue($0.grantedShare) ?? 0
    },
  ])
}
