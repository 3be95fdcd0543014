import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins
import Synchronization

struct Run: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs a command only if it has access.",
    usage: "permcheck run NAME[=PATH] … [--request [--yes]] [OPTIONS] -- COMMAND …",
    discussion: """
      EXAMPLES
        permcheck run camera -- guvcview
        permcheck run camera --request --yes -- v4l2-ctl --all
        permcheck run /srv/photos --need rx -- rsync -a /srv/photos backup:

      Ends with the status of the command, with 126 if access was refused, or
      with 127 if there is none. The command runs as who calls permcheck; for
      another user, use permcheck request --user NAME, and start the command
      with runuser(1).
      """)

  @Argument(help: .accessors, completion: .accessors)
  var names: [PathBytes]

  /// The arguments after `--`, see `Permcheck.main()`.
  @Option(name: .customLong(Self.terminator), parsing: .remaining, help: .hidden)
  var command: [PathBytes] = []

  static let terminator = "command"

  @Flag(help: "Give missing access until the command ends.")
  var request = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @Flag(help: "Require every device or folder, not just one.")
  var all = false

  @Flag(name: .shortAndLong, help: "Do not say why access was refused; only set the exit status.")
  var quiet = false

  @Option(
    help: ArgumentHelp(
      "The access to require: r, w, rw, rx, …; by default what the accessor needs, or r for paths.",
      valueName: "rwx"),
    completion: .permissions)
  var need: TextArgument?

  @OptionGroup var grants: GrantFlags
  @OptionGroup(visibility: .hidden) var other: OtherUser
  @OptionGroup var view: ViewOptions
  @OptionGroup var log: LogOptions

  func validate() throws {
    if command.isEmpty { throw ValidationError("give the command after --") }
    if view.pid != nil { throw ValidationError("run does not work with --pid") }
    if request, view.root != "/" {
      throw ValidationError("--request does not work with --root")
    }
    if yes, !request { throw ValidationError("--yes requires --request") }
    if let need, wanted == nil {
      throw ValidationError("--need \(need.text): expected a combination of r, w and x")
    }
  }

  /// The permissions of `--need`; nil without the option.
  private var wanted: Permissions? {
    need.flatMap { Permissions($0.text) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  func run(_ accessors: Accessors) throws {
    let system = LinuxSystem()
    try refuseOtherUser(system)
    let subject = SubjectChoice(
      need: wanted, probe: view.probe, through: view.through, root: view.root)
    let log = log.choice
    var context = try subject.context(system)
    if grants.recursive { context.includeContents() }
    let requests = try names.map {
      try AccessorArgument($0, accessors, through: subject.through, wantsAll: all).absolute(system)
    }
    let analytics = log.analytics(system)
    guard request else {
      try gate(requests.map { $0.accessor(context, analytics).currentAccess() }, system)
      throw ForegroundCommand.failure(to: command, system.execvp(command), system)
    }
    try refuseUntrusted(requests, accessors, system)
    try run(while: requests, context, analytics, system)
  }

  /// Throws an error if the command is to run as another user, and prints the two lines to type instead.
  private func refuseOtherUser(_ system: any System) throws {
    var line: [PathBytes] = [Tool.word(system), request ? "request" : "check"] + names
    if let need { line += ["--need", PathBytes(need.text)] }
    if all { line.append("--all") }
    if grants.recursive { line.append("--recursive") }
    if view.through != .alsa { line += ["--through", PathBytes(view.through.rawValue)] }
    if request, grants.strategy.strategy.name != GrantStrategies.auto.name {
      line += ["--strategy", PathBytes(grants.strategy.strategy.name)]
    }
    if request, grants.allowOthers { line.append("--allow-others") }
    // What is asked about another root has no command that could be started there.
    let last: [PathBytes] = request ? ["--for", "1h"] + (yes ? ["--yes"] : []) : []
    try other.refuse(view.root == "/" ? line : [], last, command, system)
  }

  /// Gives missing access, runs the command, and revokes the access when it ends.
  private func run(
    while requests: [AccessorArgument], _ context: AccessContext, _ analytics: AnalyticsLog,
    _ system: LinuxSystem
  ) throws {
    var options = grants.options(system)
    options.journaled = try GrantFlags.recover(system, Console(system))
    guard let mark = system.mark(of: system.getpid()) else {
      throw PermissionError(
        .system, "/proc does not show this process, so a grant cannot end with it")
    }
    options.lifetime.process = mark
    // The accessors whose change root may make, even if the request fails after that.
    let byRoot = Mutex<[String]>([])
    // Who is asked is asked about that, too.
    if !yes { options.despite = nil }
    let isAgreed = Mutex(false)
    options.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      guard isAgreed.withLock({ $0 }) else { return false }
      if plan.needsRoot { byRoot.withLock { $0.append(plan.accessor) } }
      return true
    }
    let prepared = requests.map {
      // Nobody can take back what a program does.
      ArgumentRequest($0, context, options, runsPrograms: false, analytics)
    }
    let isGiven = try agrees(prepared, options, system)
    isAgreed.withLock { $0 = isGiven }
    // From here on no signal may end this process before the grants are revoked.
    let signals = try ForegroundCommand.Signals(system)
    defer { system.close(signals.descriptor) }
    let ending: Result<ProcessEnd, any Error>
    var reports: [AccessReport] = []
    do {
      for request in prepared {
        reports.append(try request.accessor.carryOut(request.prepared))
        if let answer = request.helperAnswer(system) { printChanges(answer, system) }
      }
      try gate(reports, system)
      ending = .success(try ForegroundCommand(command, signals, system).wait())
    } catch let error as PermissionError where error.code == .notAllowed {
      // Root made no change for the accessor that was asked for last.
      byRoot.withLock { _ = $0.popLast() }
      Console.report(Sanitizer.clean(error.description), system)
      ending = .failure(ExitCode(126))
    } catch {
      ending = .failure(error)
    }
    try revoke(mark, byRoot.withLock { $0 }, system)
    throw ExitCode(ForegroundCommand.end(try ending.get(), system))
  }

  /// Throws 126 if root would make a request by a file that others can change.
  private func refuseUntrusted(
    _ requests: [AccessorArgument], _ accessors: Accessors, _ system: any System
  ) throws {
    do throws(PermissionError) {
      try accessors.requiresTrust(requests)
    } catch {
      Console.report(error.description, system)
      throw ExitCode(126)
    }
  }

  /// Returns whether the person at the terminal agrees to all plans, or `--yes` is given.
  ///
  /// Throws 126 if only an administrator may carry out one of them, and the obstacle if one cannot
  /// be made.
  private func agrees(
    _ requests: [ArgumentRequest], _ options: GrantOptions, _ system: any System
  ) throws -> Bool {
    for request in requests {
      if let obstacle = request.prepared.obstacle { throw obstacle }
      let more: [PathBytes] = need.map { ["--need", PathBytes($0.text)] } ?? []
      if let plan = request.prepared.plan,
        let command = grants.administratorCommand(plan, request.argument, options, more, system)
      {
        if !quiet { GrantFlags.report(command, request.argument, system) }
        throw ExitCode(126)
      }
    }
    let plans = requests.compactMap { request in
      var plan = request.prepared.plan
      plan?.end = "until the command ends"
      return plan
    }
    if yes {
      for (request, plan) in zip(requests, requests.map(\.prepared.plan)) {
        if let plan, grants.isRefused(plan, request.argument.shown, Console(system)) {
          throw ExitCode(126)
        }
      }
    }
    if yes || plans.isEmpty { return true }
    return grants.agrees(plans, Console(system), system, isQuiet: quiet)
  }

  /// Prints what permcheck-helper changed for the command.
  private func printChanges(_ answer: CheckDocument.HelperAnswered, _ system: any System) {
    if quiet { return }
    let format = HumanFormat(Console(system, color: .never).errorStyle, isVerbose: false)
    let details = format.answered(answer, system, end: " until the command ends")
    _ = try? system.write(.standardError, Array(format.lines(details, indent: 0).utf8))
  }

  /// Throws 126 and prints the reasons unless there is access.
  private func gate(_ reports: [AccessReport], _ system: any System) throws {
    let status = ExitStatus(reports)
    guard status != .authorized else { return }
    if quiet { throw ExitCode(126) }
    let style = Console(system, color: .never).errorStyle
    _ = try? system.write(
      .standardError, Array(HumanFormat(style, isVerbose: false).text(reports).utf8))
    Console.report(
      "access was refused, so \(Sanitizer.clean(command[0].description)) was not run", system)
    throw ExitCode(126)
  }

  /// Revokes the grants that end with this process.
  private func revoke(_ mark: ProcessMark, _ byRoot: [String], _ system: any System) throws {
    let outcome = try GrantJournal.standard(system).sweeping.undo(of: nil) {
      $0.lifetime.process == mark
    }
    for note in outcome.notes { Console.report("warning: \(Sanitizer.clean(note))", system) }
    // The helper also ends the grants when this process ends, so a failure here only delays that.
    for name in byRoot {
      let answer = try? HelperElevation(grants.via, system)?
        .revoke(name, process: mark.pid, asks: false)
      for note in answer?.notes ?? [] { GrantFlags.warn(ofHelper: note, system) }
    }
  }
}
