internal import JSONSyntax
package import PermissionKit

/// One line of `permcheck watch --json`.
package struct ChangeDocument: Sendable {
  private let time: String
  private let new: AccessReport
  private var change: AccessWatcher.Change?
  private var isVerbose = false

  /// Creates the line that reports an accessor when the watch starts.
  package init(_ report: AccessReport, time: Int64) {
    self.time = Timestamp.rfc3339(time)
    new = report
  }

  /// Creates the line that reports a change.
  package init(_ change: AccessWatcher.Change, isVerbose: Bool) {
    time = change.timestamp
    new = change.new
    self.change = change
    self.isVerbose = isVerbose
  }

  /// The line, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  /// The schema of a line; a line of a change has both members old and cause.
  static var schema: JSONValue {
    guard var object = record.schema.object else { return record.schema }
    object["dependentRequired"] = ["old": ["cause"], "cause": ["old"]]
    return .object(object)
  }

  private static let record = JSONRecord<ChangeDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("time", ReportDocument.timeSchema("The time when the change was detected.")) {
        .string($0.time)
      },
      .always("accessor", JSONSchema.string) { .string($0.new.accessor) },
      .sometimes("old", JSONSchema.ref("status")) {
        $0.change.map { .string($0.old.status.rawValue) }
      },
      .always("new", JSONSchema.ref("status")) { .string($0.new.status.rawValue) },
      .sometimes("cause", JSONSchema.oneOf(ChangeCause.allCases.map(\.rawValue))) {
        $0.change.map { .string($0.cause.rawValue) }
      },
      .sometimes("path", JSONSchema.about("The path of the cause.", JSONSchema.string)) {
        $0.change?.path.map { .string($0.description) }
      },
      .sometimes("reason", ReportDocument.reasonCodes) {
        $0.new.mainReason.map { .string($0.code.rawValue) }
      },
      .sometimes("message", JSONSchema.string) { $0.new.mainReason.map { .string($0.message) } },
      .sometimes(
        "resources",
        JSONSchema.about(
          "With -v: the resources whose status or reason changed.",
          JSONSchema.array(resource.schema))
      ) { line in
        line.isVerbose ? line.change.map { .array($0.resources.map(resource.json)) } : nil
      },
    ], about: "A line of permcheck watch --json; the first line of an accessor has no member old.")

  private static let resource = JSONRecord<AccessWatcher.Change.Resource>([
    .always("path", JSONSchema.string) { .string($0.path.description) },
    .sometimes("old", JSONSchema.ref("status")) { $0.old.map { .string($0.rawValue) } },
    .sometimes("new", JSONSchema.ref("status")) { $0.new.map { .string($0.rawValue) } },
  ])
}
