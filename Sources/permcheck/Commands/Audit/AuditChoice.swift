import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins
import Synchronization

/// The arguments of permcheck audit.
struct AuditChoice {
  /// The line that is printed for each file and folder without access.
  enum List {
    /// A line in the format of the output.
    case lines
    /// The path alone, ended by NUL.
    case null
    case none
  }

  /// Accessors, or paths.
  var names: [PathBytes]
  var output: OutputChoice
  var subject = SubjectChoice()
  var staysOnFileSystem = false
  /// Whether to continue below folders that another user cannot enter.
  var isDeep = false
  var threads = 2
  var list = List.lines
  /// Whether to count the access of each user, instead of listing the refusals of one.
  var countsUsers = false

  /// Walks, prints, and returns the exit status.
  func run(_ accessors: Accessors) throws -> ExitStatus {
    guard output.form.printsAudits else {
      throw ValidationError("audit has no format \(output.form.name); use human, plain or json")
    }
    let system = accessors.system
    let console = Console(system, output)
    if countsUsers { return try count(accessors, system, console) }
    let context = try subject.context(system)
    if !output.quiet { subject.warnOfRoot(context, console) }
    let judged = try Inspection.subject(context)
    var question = question
    question.isDeep = isDeep
    try choose(&question, judged, system)
    let roots = try roots(accessors, context, judged)

    let aside = aside(roots, system)
    if aside != nil { question.patience = Self.patience }

    let (records, totals) = (RecordOutput(), AuditTotals())
    let (list, asked, credentials) = (self.list, question, judged.credentials)
    let (form, style, isVerbose) = (output.form, console.style, output.verbose)
    let walk = try walk(question, roots, system, console, records) {
      if list == .null { return NullSink.sink(records) }
      let lines = RecordLines(records, form.init(style, isVerbose: isVerbose))
      return AuditSink.sink(
        credentials, asked, system, totals, list: { if list == .lines { lines.add($0) } },
        end: { lines.flush() })
    }
    let counts = walk.counts
    let possibleRefusals =
      counts.refused < counts.asked && !walk.isEnded
      ? try possibleRefusals(judged, roots, system) : []
    let status: ExitStatus =
      counts.refused > 0
      ? .refused
      : counts.undetermined + counts.unlisted > 0 || walk.isEnded || !possibleRefusals.isEmpty
        ? .notDetermined : .authorized
    let result = AuditResult(
      subject: judged, need: question.need, roots: roots, counts: counts, causes: totals.sorted,
      possibleRefusals: possibleRefusals, isStopped: walk.isEnded, status: status)
    if list != .null {
      console.print(try output.format(console).text(result))
      try console.flush()
    }
    if let aside { system.end(aside, status.rawValue) }
    return status
  }

  /// Returns the system by which another process walks a tree where a server may block; nil if none
  /// may.
  func aside(_ roots: [PathBytes], _ system: LinuxSystem) -> Descriptor? {
    roots.contains(where: system.leadsOverServer) ? try? system.leaveToNewProcess() : nil
  }

  /// The question, for this process.
  var question: TreeQuestion {
    var question = TreeQuestion(need: subject.need ?? .read)
    question.staysOnFileSystem = staysOnFileSystem
    question.threads = threads
    return question
  }

  /// The longest time without progress that the audit waits for a server, in tenths of a second.
  static let patience = 50

  /// Walks to the end, or until a signal stops it or no reader is left.
  func walk(
    _ question: TreeQuestion, _ roots: [PathBytes], _ system: LinuxSystem, _ console: Console,
    _ records: RecordOutput, _ makeSink: @escaping @Sendable () -> TreeSink
  ) throws -> TreeWalk {
    let walk: TreeWalk
    do throws(Errno) {
      walk = try TreeWalk(question, roots: roots, makeSink)
      let progress = AuditProgress(
        system, console, isShown: (list != .lines || countsUsers) && !output.quiet)
      let isDone = try walk.run {
        if records.failure != nil || progress.isInterrupted { walk.stop() }
        progress.show(walk.counts)
      }
      progress.clear()
      if !isDone {
        console.warn(
          "a server did not answer within \(Self.patience / 10) s, so the audit is not complete")
      }
    } catch {
      let call = question.identity == nil ? "pthread_create" : "setgroups"
      throw PermissionError(
        .system, "the threads of the audit cannot start", call: call, errno: error)
    }
    if let errno = records.failure, errno != .EPIPE {
      throw PermissionError(
        .system, "standard output cannot be written", call: "write", errno: errno)
    }
    return walk
  }

  /// Returns the paths to begin with.
  func roots(
    _ accessors: Accessors, _ context: AccessContext, _ subject: Subject
  ) throws -> [PathBytes] {
    let roots = try names.flatMap { try Self.paths($0, accessors, context, subject) }
    if let missing = roots.first(where: { Self.isMissing($0, context.system) }) {
      throw PermissionError(.invalidArgument, "\(missing): no such file or folder")
    }
    return roots
  }

  /// Returns the paths of an argument: itself, or those of an accessor.
  private static func paths(
    _ name: PathBytes, _ accessors: Accessors, _ context: AccessContext, _ subject: Subject
  ) throws -> [PathBytes] {
    let argument = try AccessorArgument(name, accessors)
    if argument.isPath { return [name] }
    let target = try argument.target(context, subject)
    let paths = target.set.resources.map(\.path)
    if paths.isEmpty {
      throw PermissionError(.invalidArgument, "\(target.name): no device or folder to audit")
    }
    return paths
  }

  private static func isMissing(_ path: PathBytes, _ system: any System) -> Bool {
    guard let system = system.examiner(of: path) else { return false }
    do throws(Errno) {
      system.close(try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0))
      return false
    } catch {
      return error == .ENOENT
    }
  }

  /// CAP_SETGID and CAP_SETUID, see capabilities(7).
  private static let changesIDs = CapabilitySet(rawValue: 1 << 6 | 1 << 7)

  /// Chooses who checks: this process, its threads with the ids of another user, or the evaluator.
  private func choose(
    _ question: inout TreeQuestion, _ judged: Subject, _ system: any System
  ) throws {
    guard judged.source != .current else { return }
    if let process = judged.process {
      try Self.requireSamePlace(process, system)
      question.mayRefuseDevices = ProcessLayers(system, process).mayRefuseDevices
      return question.judged = judged.credentials
    }
    if isDeep { return question.judged = judged.credentials }
    let own = try system.credentials()
    if judged.credentials.user == own.user, judged.credentials.effective == own.effective,
      judged.credentials.group == own.group, Set(judged.credentials.groups) == Set(own.groups)
    {
      return
    }
    if own.isRoot, judged.credentials.user.fileSystem != 0,
      own.effective.isSuperset(of: Self.changesIDs)
    {
      question.identity = judged.credentials
    } else {
      question.judged = judged.credentials
    }
  }
}

/// Collects the lines of one thread and writes many at once.
private final class RecordLines {
  private let records: RecordOutput
  private let format: any ReportFormat
  private var buffer: [UInt8] = []

  init(_ records: RecordOutput, _ format: any ReportFormat) {
    self.records = records
    self.format = format
  }

  func add(_ entry: AuditEntry) {
    buffer += Array((try? format.text(entry))?.utf8 ?? "".utf8)
    if buffer.count > 1 << 14 { flush() }
  }

  func flush() {
    if !buffer.isEmpty { records.write(buffer) }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// Writes the paths of refused files and folders, each with a NUL.
private struct NullSink {
  private let records: RecordOutput
  private var buffer: [UInt8] = []

  static func sink(_ records: RecordOutput) -> TreeSink {
    var sink = NullSink(records: records)
    return TreeSink(found: { sink.found($0) }, finish: { sink.finish() })
  }

  private mutating func found(_ finding: TreeFinding) {
    guard case .refused = finding.answer else { return }
    buffer += finding.path.bytes
    buffer.append(0)
    if buffer.count > 1 << 16 { finish() }
  }

  private mutating func finish() {
    if !buffer.isEmpty { records.write(buffer) }
    buffer.removeAll(keepingCapacity: true)
  }
}

// Audits for another process.
extension AuditChoice {
  /// Throws an error if a process has another root directory or other mounts than this one.
  ///
  /// The same path would lead to another tree for it.
  static func requireSamePlace(_ process: Int32, _ system: any System) throws {
    let isSame: Bool
    do throws(Errno) {
      isSame = try system.sharesPaths(withProcess: process)
    } catch {
      throw PermissionError(
        .unknownProcess, "cannot read the root directory of process \(process)",
        path: PathBytes("/proc/\(process)/root"), call: "statx", errno: error,
        advice: "try again as root")
    }
    if !isSame {
      throw PermissionError(
        .invalidArgument,
        "process \(process) has another root directory or other mounts, so it sees other files",
        advice:
          "audit from there, for the user of the process: sudo nsenter -t \(process) -m -r permcheck audit …"
      )
    }
  }

  /// Returns why a process may be refused what mode and ACL grant it; empty for users.
  func possibleRefusals(
    _ subject: Subject, _ roots: [PathBytes], _ system: any System
  ) throws -> [Reason] {
    if subject.source == .current {
      return OwnConfinement.reasonForTrees(system).map { [$0] } ?? []
    }
    guard let process = subject.process, let top = roots.first else { return [] }
    return ProcessLayers(system, process).possibleRefusals(top, question.need, isDevice: false)
  }
}

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
      usersComplete: choice.warnOfUnlisted(context, console),
      status: counts.undetermined + counts.unlisted > 0 || walk.isEnded
        || walk.census.contains { $0.keys.contains { $0.verdict == .undetermined } }
        ? .notDetermined : .authorized)
    console.print(try output.format(console).text(result))
    try console.flush()
    if let aside { system.end(aside, result.status.rawValue) }
    return result.status
  }
}

/// A buffer for standard output that several threads write records to.
final class RecordOutput: Sendable {
  private let state = Mutex<Errno?>(nil)

  /// The errno of the write that failed; nil if all was written.
  var failure: Errno? { state.withLock { $0 } }

  /// Writes whole records, unless a write has failed before.
  func write(_ records: [UInt8]) {
    state.withLock { failure in
      guard failure == nil else { return }
      do throws(Errno) {
        try LinuxSystem().writeAll(.standardOutput, records)
      } catch {
        failure = error
      }
    }
  }
}
