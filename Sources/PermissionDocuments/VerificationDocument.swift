internal import JSONSyntax
package import PermissionKit

/// The output of `permcheck verify --json`.
package struct VerificationDocument: Sendable {
  /// One expectation for one subject.
  package struct Result: Sendable {
    let name: String
    let line: Int
    let who: String
    let expected: [String]
    let reason: Reason.Code?
    let outcome: String
    let report: AccessReport

    /// Creates a result with these values.
    package init(
      name: String, line: Int, who: String, expected: [String], reason: Reason.Code?,
      outcome: String, report: AccessReport
    ) {
      self.name = name
      self.line = line
      self.who = who
      self.expected = expected
      self.reason = reason
      self.outcome = outcome
      self.report = report
    }
  }

  private let toolVersion: String
  private let host: String?
  private let time: Int64
  private let file: String
  private let results: [Result]
  private let exitStatus: Int32

  /// Creates the document of a verification with these values; the time in microseconds since 1970.
  package init(
    toolVersion: String, host: String?, time: Int64, file: String, results: [Result],
    exitStatus: Int32
  ) {
    self.toolVersion = toolVersion
    self.host = host
    self.time = time
    self.file = file
    self.results = results
    self.exitStatus = exitStatus
  }

  /// The document as one line with a newline; members are sorted by name.
  package var text: String { Documents.text(Self.record.json(self)) }

  static let record = JSONRecord<VerificationDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("tool", Documents.tool.schema) { Documents.tool.json($0.toolVersion) },
      .sometimes(
        "host", JSONSchema.about("The name of the machine.", JSONSchema.string)
      ) { $0.host.map { .string($0) } },
      .always("time", ReportDocument.timeSchema("The time of the verification.")) {
        .string(Timestamp.rfc3339($0.time))
      },
      .always(
        "file",
        JSONSchema.about("The file of the expectations; - for standard input.", JSONSchema.string)
      ) { .string($0.file) },
      .always("results", JSONSchema.array(result.schema)) { .array($0.results.map(result.json)) },
      .always("exitStatus", ["enum": [0, 1, 77]]) { JSONValue($0.exitStatus) },
    ], about: "The output of permcheck verify with --json.")

  private static let result = JSONRecord<Result>([
    .always(
      "name", JSONSchema.about("The name of the expectation.", JSONSchema.string)
    ) { .string($0.name) },
    .always("line", JSONSchema.about("Its line in the file.", JSONSchema.natural())) {
      JSONValue($0.line)
    },
    .always(
      "who", JSONSchema.about("The user or process, as written in the file.", JSONSchema.string)
    ) { .string($0.who) },
    .always(
      "expected",
      JSONSchema.about(
        "The words of is; one of them must be so.", JSONSchema.array(JSONSchema.string))
    ) { .array($0.expected.map { .string($0) }) },
    .sometimes(
      "reason",
      JSONSchema.about(
        "The code that one of the reasons must have.", ReportDocument.reasonCodes)
    ) { $0.reason.map { .string($0.rawValue) } },
    .always("outcome", JSONSchema.oneOf(["holds", "fails", "undetermined", "skipped"])) {
      .string($0.outcome)
    },
    .always("report", JSONSchema.ref("report")) { ReportDocument.report.json($0.report) },
  ])
}
