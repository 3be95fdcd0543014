internal import JSONSyntax

/// The document that permcheck prints with `--json` instead of an answer.
package struct ErrorDocument: Sendable {
  /// The version of the tool.
  package var toolVersion: String
  /// The kind of the error: `usage`, or a code of `PermissionError`.
  package var code: String
  /// The error, in one line.
  package var message: String
  /// The advice; nil if there is none.
  package var advice: String?
  /// The exit status of the tool.
  package var exitStatus: Int32

  /// Creates the document of an error.
  package init(
    toolVersion: String, code: String, message: String, advice: String?, exitStatus: Int32
  ) {
    self.toolVersion = toolVersion
    self.code = code
    self.message = message
    self.advice = advice
    self.exitStatus = exitStatus
  }

  /// The document as one line with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<ErrorDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("tool", Documents.tool.schema) { Documents.tool.json($0.toolVersion) },
      .always("error", error.schema) { error.json($0) },
      .always("exitStatus", JSONSchema.integer) { JSONValue($0.exitStatus) },
    ], about: "What every command prints with --json where there is no answer.")

  private static let error = JSONRecord<ErrorDocument>([
    .always("code", JSONSchema.string) { .string($0.code) },
    .always("message", JSONSchema.string) { .string($0.message) },
    .sometimes("advice", JSONSchema.string) { $0.advice.map { .string($0) } },
  ])
}
