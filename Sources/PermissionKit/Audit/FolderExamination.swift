internal import Synchronization

/// Checks everything in a folder for the permissions that a recursive request would give.
///
/// For this process the kernel answers. For other subjects the evaluator does, since they may not
/// be able to list a folder that refuses them.
enum FolderExamination {
  /// The most refused files and folders that are listed.
  private static let limit = 1000
  /// The longest time without progress that the walk waits for a server, in tenths of a second.
  private static let patience = 50

  /// Returns the findings in a folder that the subject can reach.
  ///
  /// - Returns: The counts and causes; nil if the path is no folder.
  static func examine(
    _ inspection: Inspection, _ ask: ResourceQuery, isRefused: Bool
  ) -> ContentsReport? {
    let facts = inspection.facts
    guard let index = facts.target(of: ask.path), facts.inodes[index].kind == .directory else {
      return nil
    }
    var report = ContentsReport()
    report.asked = 1
    if isRefused { (report.refused, report.paths) = (1, [ask.path]) }
    let search = inspection.evaluator.decide(
      .faccessat2(.execute, followsLink: true), path: ask.path)
    // Then nothing below can be reached.
    if isRefused, search.errno != nil { return report }
    do throws(Errno) {
      if let process = inspection.subject.process,
        try !inspection.system.sharesPaths(withProcess: process)
      {
        report.obstacle = "process \(process) has another root directory or other mounts"
        return report
      }
      let folder = try inspection.system.open(
        facts.path(of: index), [.directory, .noFollow, .nonBlocking], through: [],
        within: PathAvailability.limit)
      try walk(folder, ask, question(inspection, ask), inspection, &report)
    } catch .EACCES {
      report.unlisted = 1
    } catch {
      report.obstacle = "\(ask.path) cannot be listed (\(error))"
    }
    return report
  }

  private static func question(_ inspection: Inspection, _ ask: ResourceQuery) -> TreeQuestion {
    var question = TreeQuestion(need: ask.need)
    question.judged = inspection.subject.credentials
    question.asksKernel = inspection.context.probesAsSelf != .none
    (question.isDeep, question.isOfContents) = (true, true)
    question.staysOnFileSystem = true
    question.patience = patience
    return question
  }

  /// Walks below an open folder, and adds the findings.
  private static func walk(
    _ folder: Descriptor, _ ask: ResourceQuery, _ question: TreeQuestion, _ inspection: Inspection,
    _ report: inout ContentsReport
  ) throws(Errno) {
    let totals = AuditTotals()
    let refused = Refused(limit - report.paths.count)
    let (subject, system) = (inspection.subject.credentials, inspection.system)
    let walk = try TreeWalk(question, below: folder, ask.path) {
      AuditSink.sink(
        subject, question, system, totals, list: { if $0.errno != nil { refused.add($0.path) } },
        end: {})
    }
    if try !walk.run() { report.obstacle = "a server did not answer" }
    let counts = walk.counts
    report.asked += counts.asked
    report.refused += counts.refused
    report.undetermined += counts.undetermined
    report.unlisted += counts.unlisted
    report.protected += counts.protected
    report.paths += refused.sorted
    report.causes = totals.sorted.map { cause, count in
      ContentsReport.Cause(
        folder: cause.folder, isSearch: cause.isSearch, isBelow: cause.isBelow, rule: cause.rule,
        count: count)
    }
  }

  /// The refused paths, collected from several threads.
  private final class Refused: Sendable {
    private let limit: Int
    private let paths = Mutex<[PathBytes]>([])

    init(_ limit: Int) { self.limit = limit }

    func add(_ path: PathBytes) {
      paths.withLock { if $0.count < limit { $0.append(path) } }
    }

    var sorted: [PathBytes] { paths.withLock { $0.sorted() } }
  }
}
