internal import CPermissionKit
internal import PermissionDocuments
@_spi(SystemCalls) internal import PermissionKit
internal import PermissionKitPlugins
internal import Synchronization

/// One accessor with the options of a call; each function returns an answer, even after an error.
struct Inquiry: Sendable {
  /// The name as the caller wrote it.
  let name: String
  private let entry: AccessorRegistry.Entry
  private let question: Question

  /// Reads the arguments of a call.
  ///
  /// - Parameters:
  ///   - name: The name of the accessor.
  ///   - options: What to check, and for whom; nil for this thread.
  ///   - system: The system to ask; by default one that reads once what is the same for all of a call.
  /// - Throws: If there is no such accessor, user or process, or an option has no meaning.
  init(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?,
    _ system: any System = LinuxSystem.cached()
  ) throws(PermissionError) {
    self.name = unsafe name.map { unsafe String(cString: $0) } ?? ""
    // Files and programs may change from one call to the next.
    let problems = Problems()
    let accessors = Accessors(LinuxSystem()) { line in problems.lines.withLock { $0.append(line) } }
    guard let entry = accessors[self.name] else {
      let known = accessors.names.joined(separator: ", ")
      let problems = problems.lines.withLock { $0 }
      throw PermissionError(
        .invalidArgument,
        (["there is no accessor \"\(self.name)\""] + problems).joined(separator: "; "),
        advice: "known: \(known)")
    }
    self.entry = entry
    question = try unsafe Question(options, system)
    if case .operation = question.context.question {
      throw Question.misuse("only pk_explain_path knows `to`")
    }
  }

  /// Creates the accessor, and looks up the subject again.
  func accessor() throws(PermissionError) -> PermissionAccessor {
    make(try question.contextNow())
  }

  private func make(_ context: AccessContext) -> PermissionAccessor {
    let accessor = entry.make(context, .discard)
    accessor.acceptsLimited = !question.isStrict
    (accessor as? ResourceAccessor)?.grants = grants
    return accessor
  }

  /// Returns the answer of a report.
  func answer(_ report: AccessReport) throws(PermissionError) -> Answer {
    answer(report, try Self.document(report, question))
  }

  private func answer(_ report: AccessReport, _ document: CheckDocument) -> Answer {
    // As permcheck prints it: "mic", but the name of a declared accessor.
    let short = entry.origin == .builtIn ? entry.aliases.first : nil
    return Answer(report, name: short ?? entry.name, json: document.text)
  }

  // MARK: - What can be asked

  /// Checks an accessor.
  static func check(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(name) { () throws(PermissionError) in
      let inquiry = try unsafe Inquiry(name, options)
      return try inquiry.answer(inquiry.make(inquiry.question.context).currentAccess())
    }
  }

  /// Checks an accessor, and finds what a request would change.
  static func plan(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(name) { () throws(PermissionError) in
      let inquiry = try unsafe Inquiry(name, options)
      try inquiry.requireUser("pk_plan")
      let prepared = inquiry.make(inquiry.question.context).prepare()
      if let obstacle = prepared.obstacle { throw obstacle }
      return try inquiry.answer(prepared.report, prepared.plan)
    }
  }

  /// Checks an accessor, and requests access if it is missing and a request can help.
  static func request(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(name) { () throws(PermissionError) in
      let inquiry = try unsafe Inquiry(name, options)
      try inquiry.requireUser("pk_request")
      let question = inquiry.question
      try Accessors.requireTrust([inquiry.entry], question.context.system)
      if question.cancellation?.isCancelled == true { throw .withdrawn }
      let accessor = inquiry.make(question.context)
      let prepared = accessor.prepare()
      let given = try unsafe Question.options(options)
      func carryOut() -> Result<AccessReport, PermissionError> {
        if let accessor = accessor as? ResourceAccessor, let plan = prepared.plan,
          unsafe !inquiry.isAgreed(to: plan, given)
        {
          accessor.grants.consent = nil
        }
        // Who was asked has read which programs refuse a file.
        if unsafe question.asks || given.consent != nil {
          (accessor as? ResourceAccessor)?.grants.despite = nil
        }
        return Result { () throws(PermissionError) in try accessor.carryOut(prepared) }
      }
      let report = question.cancellation?.during(carryOut) ?? carryOut()
      return try inquiry.answer(report.get(), prepared.plan)
    }
  }

  /// Revokes what requests gave, and checks.
  static func revoke(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(name) { () throws(PermissionError) in
      let inquiry = try unsafe Inquiry(name, options)
      try inquiry.requireUser("pk_revoke")
      let accessor = inquiry.make(inquiry.question.context)
      guard let accessor = accessor as? ResourceAccessor else {
        throw PermissionError(
          .notAllowed,
          "\(inquiry.name) manages its access by itself: permcheck has no grants of it")
      }
      let isChanged = try accessor.revokeAccess()
      var answer = try inquiry.answer(inquiry.accessor().currentAccess())
      answer.texts[.request] = isChanged ? "revoked" : RequestOutcome.nothingToChange.rawValue
      return answer
    }
  }

  /// Checks an accessor until there is access.
  static func wait(
    _ name: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?,
    milliseconds: UInt32
  ) -> Answer {
    unsafe answer(name) { () throws(PermissionError) in
      // What it sees changes while it waits.
      let inquiry = try unsafe Inquiry(name, options, LinuxSystem())
      let cancellation = inquiry.question.cancellation
      if cancellation?.isCancelled == true { throw .withdrawn }
      let end = milliseconds == .max ? nil : TimeSpan(microseconds: Int64(milliseconds) * 1000)
      let waited = try AccessWatcher.wait(
        end, inquiry.question.context.system, [inquiry.accessor],
        stoppedBy: cancellation?.event.map { [$0.request] } ?? []
      ) { $0[0].isGranted }
      if cancellation?.isCancelled == true, !waited[0].isGranted { throw .withdrawn }
      return try inquiry.answer(waited[0])
    }
  }

  /// Explains the access to a path.
  static func explain(
    _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<pk_options>?
  ) -> Answer {
    unsafe answer(path) { () throws(PermissionError) in
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
        }, acceptsLimited: !question.isStrict)
      guard let report = explanation.reports.first else {
        throw PermissionError(.system, "the access to \(path) is unknown", path: path)
      }
      var document = try document(report, question)
      document.basis = FactsDocument(explanation)
      return Answer(report, name: report.accessor, json: document.text)
    }
  }

  /// The name and the summary of each accessor.
  static var names: [(name: String, summary: String)] {
    let accessors = Accessors(LinuxSystem()) { _ in }
    return (accessors.all.entries + accessors.executables).map { ($0.name, $0.summary) }
  }

  // MARK: - Parts

  /// Returns the answer for the result or the error of `body`.
  private static func answer(
    _ argument: UnsafePointer<CChar>?, _ body: () throws(PermissionError) -> Answer
  ) -> Answer {
    do throws(PermissionError) {
      return try body()
    } catch {
      return Answer(error, name: unsafe argument.map { unsafe String(cString: $0) } ?? "")
    }
  }

  /// Returns the answer for the report of a request or of its plan.
  private func answer(
    _ report: AccessReport, _ plan: GrantPlan?
  ) throws(PermissionError) -> Answer {
    var document = try Self.document(report, question)
    document.plans = plan.map { [$0] } ?? []
    document.isApplied = report.requestOutcome == .granted
    var answer = answer(report, document)
    answer.texts[.plan] = plan.map { "\($0)" }
    return answer
  }

  /// Returns whether the C program or the person agrees to a plan; asks on the thread of the
  /// caller.
  private func isAgreed(to plan: GrantPlan, _ options: pk_options) -> Bool {
    // No question where nothing could be done.
    if plan.needsRoot { return true }
    if let consent = unsafe options.consent {
      return unsafe plan.description.withCString { text in
        unsafe consent(text, options.consent_data) == 1
      }
    }
    return !question.asks || TerminalConsent(system: question.context.system).ask(plan)
  }

  private func requireUser(_ function: String) throws(PermissionError) {
    if question.context.subject?.process != nil {
      throw Question.misuse("\(function) does not work with pid, only for users")
    }
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
      exitStatus: ExitStatus(report).rawValue)
    document.setting = Setting(question.context, [report])
    return document
  }

  /// Errors in the files that declare accessors, which the error for an unknown name repeats.
  private final class Problems: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// The options of a request: the smallest change, after `isAgreed` has asked.
  private var grants: GrantOptions {
    let system = question.context.system
    var grants = GrantOptions { (_) in true }
    grants.purpose = question.purpose
    if question.seconds > 0 {
      grants.lifetime.expires = system.realtime() + Int64(question.seconds) * 1_000_000
    }
    return grants
  }
}
