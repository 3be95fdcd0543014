internal import JSONSyntax
package import PermissionKit

/// A line of `permcheck trace --json`: a call of a program that the kernel refused, or several that are equal.
package struct RefusalDocument: Sendable {
  /// When the first of them ended, and the last; RFC 3339, UTC.
  package var time = ""
  package var last = ""
  /// How many there were.
  package var count = 1
  /// The name of the system call, or of the operation of io_uring(7); nil if it has no name here.
  package var operation: String?
  /// Its number, and what the number is of: `native`, `i386` or `io_uring`.
  package var number: Int32 = 0
  package var interface = ""
  /// The arguments of the first system call.
  package var arguments: [UInt64] = []
  package var path: PathBytes?
  package var secondPath: PathBytes?
  package var errno = ""
  package var process: UInt32 = 0
  package var thread: UInt32 = 0
  package var program = PathBytes("")
  package var credentials = Credentials(uid: 0, gid: 0, groups: [])
  package var groupsAreComplete = true
  /// The root directory of the process: `MAJOR:MINOR` of its file system, and its inode number.
  package var rootDevice = ""
  package var rootInode: UInt64 = 0
  package var mountNamespace: UInt32 = 0
  package var userNamespace: UInt32 = 0

  /// Creates a line without values.
  package init() {}

  /// The line, with a newline.
  package var text: String { Documents.text(Self.record.json(self)) }

  /// The schema of a line.
  static var schema: JSONValue { record.schema }

  private static let record = JSONRecord<RefusalDocument>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .always("time", ReportDocument.timeSchema("When the first call was refused.")) {
        .string($0.time)
      },
      .always("last", ReportDocument.timeSchema("When the last call was refused.")) {
        .string($0.last)
      },
      .always("count", JSONSchema.natural()) { JSONValue($0.count) },
      .sometimes(
        "operation",
        JSONSchema.about(
          "The system call, or the operation of io_uring; missing if its number has no name.",
          JSONSchema.string)
      ) { $0.operation.map { .string($0) } },
      .always("number", JSONSchema.natural()) { JSONValue($0.number) },
      .always("interface", JSONSchema.oneOf(["native", "i386", "io_uring"])) {
        .string($0.interface)
      },
      .always(
        "arguments",
        JSONSchema.about(
          "The arguments of the system call, in hexadecimal; none for io_uring.",
          JSONSchema.array(JSONSchema.string))
      ) { .array($0.arguments.map { .string("0x" + String($0, radix: 16)) }) },
      .sometimes(
        "path",
        JSONSchema.about(
          "The absolute path, or the abstract name of a socket after @; missing if the call has none.",
          JSONSchema.string)
      ) { $0.path.map { .string($0.description) } },
      .sometimes(
        "secondPath", JSONSchema.about("The second path of rename and link.", JSONSchema.string)
      ) { $0.secondPath.map { .string($0.description) } },
      .always("errno", JSONSchema.string) { .string($0.errno) },
      .always("pid", JSONSchema.natural()) { JSONValue($0.process) },
      .always("thread", JSONSchema.natural()) { JSONValue($0.thread) },
      .always("program", JSONSchema.about("The name of the thread.", JSONSchema.string)) {
        .string($0.program.description)
      },
      .always("credentials", JSONCodec<Credentials>.credentials.schema) {
        JSONCodec<Credentials>.credentials.encode($0.credentials)
      },
      .always(
        "groupsComplete",
        JSONSchema.about("False if there are more groups than credentials has.", JSONSchema.bool)
      ) { .bool($0.groupsAreComplete) },
      .always(
        "rootDevice", JSONSchema.about("The file system of the root directory.", JSONSchema.string)
      ) {
        .string($0.rootDevice)
      },
      .always("rootInode", JSONSchema.natural()) { JSONValue($0.rootInode) },
      .always("mountNamespace", JSONSchema.natural()) { JSONValue($0.mountNamespace) },
      .always("userNamespace", JSONSchema.natural()) { JSONValue($0.userNamespace) },
    ], about: "A line of permcheck trace --json; ids are those of the initial namespaces.")
}
