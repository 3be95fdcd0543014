import ArgumentParser
import PermissionKit
import PermissionKitPlugins

// Audits that count what each of many users has access to.
extension AuditChoice {
  /// Counts, prints, and returns the exit status.
  func count(
    _ accessors: Accessors, _ system: LinuxSystem, _ console: Console
  ) throws -> ExitStatus {
    var choice = subject
    if choice.who == [.current] { choice.who = [.everybody] }
    let cases = try choice.each(system)
    let users = try cases.map { try Inspection.subject($0.context) }
    let (context, first) = (cases[0].context, users[0])
    let roots = try roots(accessors, context, first)
    var question = question
    question.everyone = users.map(\.credentials)
    let (asked, credentials, totals) = (question, first.credentials, AuditTotals())
    let aside = aside(roots, system)
    if aside != nil { question.patience = Self.patience }
    let walk = try walk(question, roots, system, console, RecordOutput()) {
      AuditSink.sink(credentials, asked, system, totals, list: { _ in }, end: {})
    }
    let counts = walk.counts
    let result = CensusResult(
      users: zip(users, walk.census).map { CensusUser($0, $1) }, need: asked.need, roots: roots,
      counts: counts, causes: totals.sorted, isStopped: walk.isEnded,
      status: counts.undetermined + counts.unlisted > 0 || walk.isEnded
        || walk.census.contains { $0.keys.contains { $0.verdict == .undetermined } }
        ? .notDetermined : .authorized)
    console.print(try output.format(console).text(result))
    try console.flush()
    if let aside { system.end(aside, result.status.rawValue) }
    return result.status
  }
}
