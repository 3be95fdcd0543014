import ArgumentParser
import PermissionKit
import Synchronization

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a command if it has access; --request gives access while it runs.",
    usage: "permcheck run NAME[=PATH] … [--request [--yes]] [OPTIONS] -- COMMAND …",
    discussion: """
      Exits with the status of the command, with 126 if access was refused and the
      command did not run, or with 127 if the command was not found.

      EXAMPLES
        permcheck run camera -- guvcview
        sudo permcheck run camera --user tester --request --yes -- v4l2-ctl --all
        permcheck run photos=/srv/photos --need rx -- rsync -a /srv/photos backup:
      """)

  @Argument(
    help: ArgumentHelp(
      "camera, microphone (mic) or photos; =PATH checks one node or folder.",
      valueName: "name[=path]"))
  var names: [PathBytes]

  /// The arguments after `--`, see `Permcheck.main()`.
  @Option(name: .customLong(Self.terminator), parsing: .remaining, help: .hidden)
  var command: [PathBytes] = []

  static let terminator = "command"

  @Flag(help: "Give missing access, and revoke it when the command ends.")
  var request = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @OptionGroup var grants: GrantFlags
  @OptionGroup var subject: SubjectOptions
  @OptionGroup var log: LogOptions

  func validate() throws {
    if command.isEmpty { throw ValidationError("give the command after --") }
    if request, subject.root != "/" || subject.pid != nil {
      throw ValidationError("--request does not work with --root or --pid")
    }
    if yes, !request { throw ValidationError("--yes requires --request") }
  }

  func run() throws {
    let system = LinuxSystem()
    let context = try subject.context(system)
    let requests = try names.map { try AccessorArgument($0, .standard) }
    let analytics = log.analytics(system)
    guard request else {
      let reports = requests.map { $0.accessor(context, analytics).currentAccess() }
      try gate(reports, system)
      throw start(failed: system.execvp(command), system)
    }

    try GrantFlags.recover(system, Console(system))
    guard let mark = system.mark(of: system.getpid()) else {
      throw PermissionError(
        .system, "/proc does not show this process, so a grant cannot end with it")
    }
    var options = grants.options(system)
    options.lifetime.process = mark
    let isAgreed = try yes || agrees(requests, context, options)
    // The accessors whose change root may make, even if the request fails after that.
    let byRoot = Mutex<[String]>([])
    options.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      if isAgreed, plan.needsRoot { byRoot.withLock { $0.append(plan.accessor) } }
      return isAgreed
    }
    // From here on no signal may end this process before the grants are revoked.
    let awaited = [
      SignalInfo.hangup, SignalInfo.interrupt, SignalInfo.quit, SignalInfo.terminate,
      SignalInfo.child,
    ]
    let signals = try system.signalfd(awaited)
    defer { system.close(signals) }
    let ending: Result<ProcessEnd, any Error>
    var reports: [AccessReport] = []
    do {
      for request in requests {
        let accessor = request.accessor(context, analytics)
        accessor.acceptsLimited = !all
        (accessor as? ResourceAccessor)?.grants = options
        reports.append(try accessor.requestAccessIfNeeded())
      }
      try gate(reports, system)
      ending = .success(try supervise(signals, system))
    } catch {
      ending = .failure(error)
    }
    try revoke(mark, system)
    let named = byRoot.withLock { $0 }
    if !named.isEmpty {
      try ElevatedPermcheck(grants.via, system)?.revoke(
        ["--while", PathBytes("\(mark.pid)")] + named.map { PathBytes($0) })
    }
    switch try ending.get() {
    case .exited(let status): throw ExitCode(status)
    case .signalled(let signal):
      system.raise(signal)
      throw ExitCode(128 + signal)
    }
  }

  /// Returns whether the person at the terminal agrees to all plans.
  private func agrees(
    _ requests: [AccessorArgument], _ context: AccessContext, _ options: GrantOptions
  ) throws -> Bool {
    let plans = try requests.compactMap { request -> GrantPlan? in
      guard let accessor = request.accessor(context, .discard) as? ResourceAccessor else {
        return nil
      }
      accessor.grants = options
      guard accessor.checkAccess().isRequestable || accessor.hasShorterGrants else { return nil }
      return try accessor.grantPlan()
    }
    if plans.isEmpty { return true }
    let style = Console(context.system).errorStyle
    return TerminalConsent(system: context.system).ask(
      HumanFormat(style, isVerbose: false).question(plans))
  }

  /// Throws 126 and prints the reasons unless there is access.
  private func gate(_ reports: [AccessReport], _ system: any System) throws {
    let status = ExitStatus(reports.map(\.status), wantsAll: all, skipsUnavailable: false)
    guard status != .authorized else { return }
    let style = Style(colors: false, columns: system.columns(.standardError))
    _ = try? system.write(
      .standardError, Array(HumanFormat(style, isVerbose: false).text(reports).utf8))
    Console.report(
      "access was refused, so \(Sanitizer.clean(command[0].description)) was not run", system)
    throw ExitCode(126)
  }

  /// Prints why the command did not start, and returns the exit status.
  private func start(failed errno: Errno, _ system: any System) -> ExitCode {
    Console.report(
      "\(Sanitizer.clean(command[0].description)) cannot be run (\(errno))", system)
    return ExitCode(errno == .ENOENT ? 127 : 126)
  }

  /// Runs the command until it ends, and forwards signals to it.
  private func supervise(_ signals: Descriptor, _ system: any System) throws -> ProcessEnd {
    let pid: Int32
    do throws(Errno) {
      pid = try system.spawn(command, output: .standardOutput)
    } catch {
      throw start(failed: error, system)
    }
    while true {
      let arrived = try system.nextSignal(signals)
      if arrived.signal == SignalInfo.child {
        if let end = try system.waitpid(pid, waits: false) { return end }
      } else if arrived.isFromProcess {
        // A terminal sends its signals to the command too, so forward only those of processes.
        try? system.kill(pid, arrived.signal)
      }
    }
  }

  /// Revokes the grants that end with this process.
  private func revoke(_ mark: ProcessMark, _ system: any System) throws {
    let outcome = try GrantJournal.standard(system).undo { $0.lifetime.process == mark }
    for note in outcome.notes { Console.report("warning: \(Sanitizer.clean(note))", system) }
  }
}
