internal import CPermissionKit
internal import PermissionDocuments
@_spi(SystemCalls) internal import PermissionKit
internal import PermissionKitPlugins
internal import Synchronization

/// The three things that a caller can ask; each answers, whatever happens.
enum Inquiry {
  /// Checks an accessor.
  static func check(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(name) { (name) throws(PermissionError) in
      let (entry, question) = try unsafe read(name, options)
      let report = entry.make(question.context, .discard).currentAccess()
      return try answer(report, entry, question, document(report, question))
    }
  }

  /// Checks an accessor, and requests access if it is missing and a request can help.
  static func request(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(name) { (name) throws(PermissionError) in
      let (entry, question) = try unsafe read(name, options)
      if question.context.subject?.process != nil {
        throw Question.misuse("pk_request does not work with pid, only for users")
      }
      try Accessors.requireTrust([entry], question.context.system)
      let accessor = entry.make(question.context, .discard)
      accessor.acceptsLimited = !question.isStrict
      (accessor as? ResourceAccessor)?.grants = grants(question)
      let prepared = accessor.prepare()
      let report = try accessor.carryOut(prepared)
      var document = try document(report, question)
      document.plans = prepared.plan.map { [$0] } ?? []
      document.isApplied = report.requestOutcome == .granted
      return answer(report, entry, question, document)
    }
  }

  /// Explains the access to a path.
  static func explain(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(path) { (_) throws(PermissionError) in
      guard let path = unsafe PathBytes(copying: path), !path.isEmpty else {
        throw Question.misuse("the path is empty")
      }
      let question = try unsafe Question(options)
      if question.context.path != nil {
        throw Question.misuse("pk_explain_path explains its own path, so options.path must be NULL")
      }
      let context = question.context
      let explanation = Explanation(
        try Inspection(context) { (_) in
          [Inspection.Target(path: context.belowRoot(path), in: context)]
        })
      guard let report = explanation.reports.first else {
        throw PermissionError(.system, "nothing can be told about \(path)", path: path)
      }
      var document = try document(report, question)
      document.basis = FactsDocument(explanation)
      return Answer(
        report, name: report.accessor, isStrict: question.isStrict, json: document.text)
    }
  }

  // MARK: - Parts

  /// Answers with what `body` returns or throws.
  private static func answer(
    _ argument: UnsafePointer<CChar>?, _ body: (String) throws(PermissionError) -> Answer
  ) -> Answer {
    let text = unsafe argument.map { unsafe String(cString: $0) } ?? ""
    do throws(PermissionError) { return try body(text) } catch { return Answer(error, name: text) }
  }

  private static func answer(
    _ report: AccessReport, _ entry: AccessorRegistry.Entry, _ question: Question,
    _ document: CheckDocument
  ) -> Answer {
    // As permcheck prints it: "mic", but the name of a declared accessor.
    let short = entry.origin == .builtIn ? entry.aliases.first : nil
    return Answer(
      report, name: short ?? entry.name, isStrict: question.isStrict, json: document.text)
  }

  private static func read(
    _ name: String, _ options: UnsafePointer<pk_options>?
  ) throws(PermissionError) -> (AccessorRegistry.Entry, Question) {
    // Files and programs may change from one call to the next.
    let problems = Problems()
    let accessors = Accessors(LinuxSystem()) { line in problems.lines.withLock { $0.append(line) } }
    guard let entry = accessors[name] else {
      let known = accessors.names.joined(separator: ", ")
      let problems = problems.lines.withLock { $0 }
      throw PermissionError(
        .invalidArgument,
        (["there is no accessor \"\(name)\""] + problems).joined(separator: "; "),
        advice: "known: \(known)")
    }
    return (entry, try unsafe Question(options))
  }

  private static func document(
    _ report: AccessReport, _ question: Question
  ) throws(PermissionError) -> CheckDocument {
    // Not with ??, which forgets the type of the error.
    let subject: Subject
    if let judged = report.subject {
      subject = judged
    } else {
      subject = try Inspection.subject(question.context)
    }
    var document = CheckDocument(
      toolVersion: Documents.toolVersion,
      subject: subject, reports: [report],
      exitStatus: ExitStatus(report.status, wantsAll: question.isStrict).rawValue)
    document.setting = Setting(question.context, [report])
    return document
  }

  /// What is wrong with the files that declare accessors; told to who asks for a name that is missing.
  private final class Problems: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// Returns how to request: the smallest change; the call is the consent, or a person gives it.
  private static func grants(_ question: Question) -> GrantOptions {
    let (asks, system) = (question.asks, question.context.system)
    var grants = GrantOptions { (plan: GrantPlan) throws(PermissionError) -> Bool in
      !asks || TerminalConsent(system: system).ask(plan)
    }
    grants.purpose = question.purpose
    if question.seconds > 0 {
      grants.lifetime.expires = system.realtime() + Int64(question.seconds) * 1_000_000
    }
    return grants
  }
}
