internal import JSONSyntax
internal import PermissionKit

/// The JSON forms of reports and their parts.
enum ReportDocument {
  static let report = JSONRecord<AccessReport>([
    .always("accessor", JSONSchema.string) { .string($0.accessor) },
    .always("status", JSONSchema.ref("status")) { .string($0.status.rawValue) },
    .always(
      "granted",
      JSONSchema.about(
        "Whether there is access: the status is authorized, or limited where that is enough.",
        JSONSchema.bool)
    ) { .bool($0.isGranted) },
    .always(
      "requestable",
      JSONSchema.about("Whether a request of the caller could give access.", JSONSchema.bool)
    ) { .bool($0.isRequestable) },
    .sometimes(
      "requestableBy",
      JSONSchema.about(
        "Who can make the change that gives access.", JSONSchema.oneOf(["caller", "root"]))
    ) { $0.requestability.maker.map { .string($0) } },
    .sometimes(
      "notRequestable",
      JSONSchema.about("Why nobody can, if there is no access.", JSONSchema.string)
    ) { report in
      report.isGranted ? nil : report.requestability.obstacle.map { .string($0) }
    },
    .always("resources", JSONSchema.array(JSONSchema.ref("resource"))) {
      .array($0.resources.map(resource.json))
    },
    .sometimes(
      "alternatives",
      JSONSchema.about(
        "Other ways to the same device, which do not affect the status.",
        JSONSchema.array(JSONSchema.ref("resource")))
    ) { $0.alternatives.isEmpty ? nil : .array($0.alternatives.map(resource.json)) },
    .sometimes(
      "notSeen",
      JSONSchema.about(
        "What the check wanted and could not look at; none of it counts as absent.",
        JSONSchema.array(unseen.schema))
    ) { $0.notSeen.isEmpty ? nil : .array($0.notSeen.map(unseen.json)) },
    .sometimes("subject", SubjectDocument.record.schema) {
      $0.subject.map(SubjectDocument.record.json)
    },
    .sometimes(
      "request",
      JSONSchema.about(
        "The outcome of the request before the check.",
        JSONSchema.oneOf(["nothing-to-change", "declined", "needs-root", "granted", "asked-root"]))
    ) { $0.requestOutcome.map { .string($0.rawValue) } },
  ])

  static let resource = JSONRecord<ResourceReport>([
    .always("path", JSONSchema.string) { .string($0.path.description) },
    .always("label", JSONSchema.string) { .string($0.label) },
    .always(
      "device",
      JSONSchema.about("The device needs all of its resources together.", JSONSchema.string)
    ) { .string($0.device) },
    .always("need", permissions) { .string($0.need.letters) },
    .always("status", JSONSchema.ref("status")) { .string($0.status.rawValue) },
    .sometimes(
      "caveat",
      JSONSchema.about(
        "What the granted permission does not include, for people: to open another user's file in a sticky folder with O_CREAT.",
        JSONSchema.string)
    ) { $0.caveat.map { .string($0) } },
    .sometimes("decision", JSONSchema.ref("decision")) { $0.decision.map(decision.json) },
    .sometimes("probe", probe.schema) {
      $0.probe.map(probe.json)
    },
    .always("reasons", JSONSchema.array(JSONSchema.ref("reason"))) {
      .array($0.reasons.map(reason.json))
    },
    .always("remedies", JSONSchema.array(JSONSchema.ref("remedy"))) {
      .array($0.remedies.map(remedy.json))
    },
    .sometimes(
      "walk",
      JSONSchema.about(
        "Of explain: the components of the path, root first.",
        JSONSchema.array(JSONSchema.ref("component")))
    ) { $0.walk.isEmpty ? nil : .array($0.walk.map(component.json)) },
    .sometimes(
      "targetWalk",
      JSONSchema.about(
        "Of explain --to rename and link: the components of the new path; of a refused exec, of its interpreter or loader.",
        JSONSchema.array(JSONSchema.ref("component")))
    ) { $0.targetWalk.isEmpty ? nil : .array($0.targetWalk.map(component.json)) },
    .sometimes(
      "operation",
      JSONSchema.about(
        "Of explain --to and verify: what is done to the path, instead of opening it.",
        operation.schema)
    ) { $0.operation.map(operation.json) },
    .sometimes(
      "usedBy",
      JSONSchema.about(
        "Of explain --as-used-by: the program whose own rule was asked, and the user.",
        programUse.schema)
    ) { $0.usedBy.map(programUse.json) },
    .sometimes(
      "future",
      JSONSchema.about(
        "Of explain --future and verify: the new file or folder in the folder of the path.",
        future.schema)
    ) { $0.future.map(future.json) },
    .sometimes(
      "contents",
      JSONSchema.about(
        "Of --recursive: what was found in the folder, the folder itself included.",
        contents.schema)
    ) { $0.contents.map(contents.json) },
  ])

  private static let programUse = JSONRecord<ProgramUse>([
    .always("program", JSONSchema.string) { .string($0.program) },
    .always("user", JSONSchema.string) { .string($0.user) },
  ])

  private static let operation = JSONRecord<NamedOperation>([
    .always("name", JSONSchema.oneOf(NamedOperation.Name.allCases.map(\.rawValue))) {
      .string($0.name.rawValue)
    },
    .sometimes("target", JSONSchema.about("The new path of rename and link.", JSONSchema.string)) {
      $0.target.map { .string($0.description) }
    },
    .sometimes("uid", JSONSchema.integer) { $0.uid.map { JSONValue($0) } },
    .sometimes("gid", JSONSchema.integer) { $0.gid.map { JSONValue($0) } },
  ])

  private static let contents = JSONRecord<ContentsReport>([
    .always("asked", JSONSchema.about("Files and folders.", JSONSchema.integer)) {
      JSONValue($0.asked)
    },
    .always("granted", JSONSchema.integer) { JSONValue($0.granted) },
    .always("refused", JSONSchema.integer) { JSONValue($0.refused) },
    .always("undetermined", JSONSchema.integer) { JSONValue($0.undetermined) },
    .always(
      "unlisted",
      JSONSchema.about("Folders below which nothing is known.", JSONSchema.integer)
    ) { JSONValue($0.unlisted) },
    .sometimes(
      "onlyWithoutCreate",
      JSONSchema.about(
        "Granted files of others in sticky folders, which the kernel opens with O_CREAT only for their owners.",
        JSONSchema.integer)
    ) { $0.protected == 0 ? nil : JSONValue($0.protected) },
    .always(
      "causes",
      JSONSchema.about(
        "What is refused or undetermined by each rule, most first.",
        JSONSchema.array(cause.schema))
    ) { .array($0.causes.map(cause.json)) },
    .sometimes("obstacle", JSONSchema.about("Why not all was asked about.", JSONSchema.string)) {
      $0.obstacle.map { .string($0) }
    },
  ])

  private static let cause = JSONRecord<ContentsReport.Cause>([
    .always("folder", JSONSchema.string) { .string($0.folder.description) },
    .always(
      "below",
      JSONSchema.about(
        "search: this folder refuses search, which includes everything below; folders: the names are in several folders below; names: they are in this folder.",
        JSONSchema.oneOf(["search", "folders", "names"]))
    ) { .string($0.isSearch ? "search" : $0.isBelow ? "folders" : "names") },
    .always("rule", JSONSchema.string) { .string($0.rule) },
    .always("count", JSONSchema.integer) { JSONValue($0.count) },
  ])

  private static let future = JSONRecord<FutureFile>([
    .always("kind", JSONSchema.oneOf(["regular", "directory"])) {
      .string($0.inode.kind.rawValue)
    },
    .always("mode", JSONSchema.string(pattern: "^[0-7]{4}$")) { .string(octal($0.inode.mode, 4)) },
    .always("uid", JSONSchema.integer) { JSONValue($0.inode.uid) },
    .always("gid", JSONSchema.integer) { JSONValue($0.inode.gid) },
    .sometimes("acl", JSONSchema.array(JSONSchema.string)) {
      $0.inode.acl.map { .array($0.entries.map { .string($0.description) }) }
    },
    .always("creator", JSONSchema.string) { .string($0.creator) },
    .sometimes(
      "umask",
      JSONSchema.about(
        "That of the creator, if it is known.", JSONSchema.string(pattern: "^[0-7]{3}$"))
    ) { $0.umask.map { .string(octal($0, 3)) } },
    .always(
      "heedsUmask",
      JSONSchema.about(
        "False if a default ACL or the mount options apply instead.", JSONSchema.bool)
    ) { .bool($0.heedsUmask) },
  ])

  private static func octal(_ number: UInt16, _ width: Int) -> String {
    let digits = String(number, radix: 8)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  static let decision = JSONRecord<ResourceDecision>([
    .always("verdict", verdicts) { .string($0.verdict.name) },
    .sometimes("errno", JSONSchema.string) { $0.verdict.errno.map { .string($0.description) } },
    .always("rule", JSONSchema.string) { .string($0.rule.description) },
    .sometimes("component", JSONSchema.string) { $0.component.map { .string($0.description) } },
    .always(
      "basis",
      JSONSchema.about(
        "The mode bits or ACL entry that decided, for people: ACL user:tester:rw-.",
        JSONSchema.string)
    ) { .string($0.basis) },
    .sometimes(
      "meaning",
      JSONSchema.about(
        "Of explain and -v: where and how long the access holds.", JSONSchema.string)
    ) { $0.meaning.map { .string($0) } },
  ])

  private static let unseen = JSONRecord<Unseen>([
    .always("path", JSONSchema.string) { .string($0.path.description) },
    .always("call", JSONSchema.string) { .string($0.call) },
    .always("errno", JSONSchema.string) { .string($0.errno.description) },
  ])

  private static let probe = JSONRecord<Probe>([
    .always("method", methods) { .string($0.method.rawValue) },
    .sometimes("errno", JSONSchema.string) { $0.errno.map { .string($0.description) } },
  ])

  static let reason = JSONRecord<Reason>([
    .always("code", reasonCodes) { .string($0.code.rawValue) },
    .always("certainty", JSONSchema.oneOf(["proven", "suspected"])) {
      .string($0.certainty.rawValue)
    },
    .sometimes(
      "whose",
      JSONSchema.about(
        "Whose refusal it is; absent where something is missing, impossible or unknown.",
        JSONSchema.oneOf(Refuser.allCases.map(\.rawValue)))
    ) { $0.whose.map { .string($0.rawValue) } },
    .always("message", JSONSchema.string) { .string($0.message) },
    .always("evidence", JSONSchema.array(JSONSchema.string)) {
      .array($0.evidence.map { .string($0) })
    },
  ])

  static let shellSchema = JSONSchema.about(
    "The command as it is typed, for sh: the very bytes of every name, and sudo where it is needed.",
    JSONSchema.string)

  /// A program that will refuse a file after a change.
  static let objection = JSONRecord<ProgramObjection>([
    .always("program", JSONSchema.string) { .string($0.program) },
    .always("path", JSONSchema.string) { .string($0.path.description) },
    .always("message", JSONSchema.string) { .string($0.message) },
    .sometimes(
      "instead", JSONSchema.about("What else gives access, for people.", JSONSchema.string)
    ) { $0.instead.map { .string($0) } },
    .always(
      "source", JSONSchema.about("The manual page and the source of the rule.", JSONSchema.string)
    ) { .string($0.source) },
  ])

  static let remedy = JSONRecord<Remedy>([
    .always("kind", JSONSchema.string) { .string($0.kind.rawValue) },
    .always("command", JSONSchema.array(JSONSchema.string)) { texts($0.command) },
    .sometimes("shell", shellSchema) { $0.typed.map { .string($0) } },
    .sometimes(
      "undoCommand",
      JSONSchema.about(
        "The command that undoes the change of a mode or ACL.", JSONSchema.array(JSONSchema.string))
    ) { $0.undo.isEmpty ? nil : texts($0.undo) },
    .always("needsRoot", JSONSchema.bool) { .bool($0.needsRoot) },
    .always("persistence", persistences) { .string($0.persistence.rawValue) },
    .always("lasts", lastsSchema) { .string($0.persistence.words) },
    .always("othersAffected", JSONSchema.array(JSONSchema.string)) {
      .array($0.othersAffected.map { .string($0) })
    },
    .always(
      "outcome",
      JSONSchema.about(
        "The simulated result; undetermined if the remedy cannot be simulated.", verdicts)
    ) { .string($0.outcome.rawValue) },
    .sometimes(
      "line",
      JSONSchema.about("Lines to add to a file, with newlines between them.", JSONSchema.string)
    ) {
      $0.line.map { .string($0) }
    },
    .sometimes(
      "after",
      JSONSchema.about("The command that makes it take effect, for sh.", JSONSchema.string)
    ) {
      $0.typedAfter.map { .string($0) }
    },
    .sometimes(
      "suggestion",
      JSONSchema.about("True for a remedy that no test has carried out.", JSONSchema.bool)
    ) {
      $0.isSuggestion ? .bool(true) : nil
    },
    .sometimes(
      "onHost",
      JSONSchema.about(
        "True for a command for the machine that runs the container.", JSONSchema.bool)
    ) {
      $0.isOnHost ? .bool(true) : nil
    },
    .sometimes(
      "opens",
      JSONSchema.about(
        "What else the commands let the subject do, for people, the worst first.", JSONSchema.string
      )
    ) {
      $0.opens.map { .string($0) }
    },
    .sometimes(
      "objections",
      JSONSchema.about(
        "The programs that then refuse a file.", JSONSchema.array(objection.schema))
    ) { $0.objections.isEmpty ? nil : .array($0.objections.map(objection.json)) },
    .sometimes(
      "note",
      JSONSchema.about("More advice, for example why a common fix is worse.", JSONSchema.string)
    ) {
      $0.note.map { .string($0) }
    },
  ])

  static let component = JSONRecord<WalkedComponent>([
    .always("component", JSONSchema.string) { .string($0.name.description) },
    .sometimes("kind", JSONSchema.oneOf(FileKind.allCases.map(\.rawValue))) {
      $0.inode.map { .string($0.kind.rawValue) }
    },
    .sometimes("mode", JSONSchema.string(pattern: "^[0-7]{4}$")) { component in
      component.inode.map { .string(octal($0.mode, 4)) }
    },
    .sometimes("uid", JSONSchema.integer) { $0.inode.map { JSONValue($0.uid) } },
    .sometimes("gid", JSONSchema.integer) { $0.inode.map { JSONValue($0.gid) } },
    .sometimes("acl", JSONSchema.array(JSONSchema.string)) {
      $0.inode?.acl.map { .array($0.entries.map { .string($0.description) }) }
    },
    .sometimes("target", JSONSchema.string) { $0.target.map { .string($0.description) } },
    .sometimes("need", permissions) { $0.need.map { .string($0.letters) } },
    .always("verdict", JSONSchema.oneOf(["granted", "refused", "undetermined", "not-reached"])) {
      .string($0.verdict?.name ?? ($0.isReached ? "granted" : "not-reached"))
    },
    .sometimes("rule", JSONSchema.string) { $0.rule.map { .string($0.description) } },
    .always("decides", JSONSchema.bool) { .bool($0.decides) },
  ])

  // MARK: - Words

  private static let methods = JSONSchema.oneOf(
    Probe.Method.allCases.filter { $0 != .none && $0 != .automatic }.map(\.rawValue))
  static let statuses = JSONSchema.oneOf(AuthorizationStatus.allCases.map(\.rawValue))
  static let reasonCodes = JSONSchema.oneOf(Reason.Code.allCases.map(\.rawValue))
  static let verdicts = JSONSchema.oneOf(["granted", "refused", "undetermined"])
  static let persistences = JSONSchema.oneOf(Persistence.allCases.map(\.rawValue))
  static let permissions = JSONSchema.string(pattern: "^r?w?x?$")
  static let lastsSchema = JSONSchema.about("How long it lasts, for people.", JSONSchema.string)

  static func timeSchema(_ about: String) -> JSONValue {
    ["description": .string(about), "type": "string", "format": "date-time"]
  }

  static func texts(_ arguments: [PathBytes]) -> JSONValue {
    .array(arguments.map { .string($0.description) })
  }
}
