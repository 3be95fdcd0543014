import ArgumentParser
@_spi(SystemCalls) import PermissionKit
@_spi(SystemCalls) import PermissionTrace

struct Trace: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: Self.name,
    abstract: "Runs a command, and prints what it was refused.",
    usage: "permcheck trace [OPTION …] -- COMMAND … | -p PID [OPTION …]",
    discussion: """
      EXAMPLES
        permcheck trace -- guvcview
        sudo permcheck trace -o refusals.txt -u www-data -- rsync -a /srv/photos backup:
        sudo permcheck trace -p PID --for 30s --follow --json

      Every thread and every process that the command starts is included. Each line
      has the program and its process, the system call, the path and the errno;
      equal refusals are counted together.

      Root sees refusals by BPF, which stops nothing. Others see them by ptrace,
      which stops each call that can be refused.

      Counted are EACCES, EPERM and EROFS; for device nodes also ENXIO, ENODEV,
      EBUSY and ENOENT, for unix sockets ECONNREFUSED. The exit status is that of
      the command, 126 if it cannot be run, or 127 if there is none.
      """)

  static let name = "trace"

  /// The arguments after `--`, see `Permcheck.main()`.
  @Option(name: .customLong(Run.terminator), parsing: .remaining, help: .hidden)
  var command: [PathBytes] = []

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write to this file instead of to standard error.", valueName: "file"),
    completion: .file())
  var output: PathBytes?

  @Option(
    name: [.customShort("p"), .long],
    help: ArgumentHelp(
      "Watch this process, with what it starts from now on; may be given several times.",
      valueName: "pid"),
    completion: .processes)
  var pid: [Int32] = []

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp("With -p: stop after this time: 30s, 2m.", valueName: "duration"))
  var time: TimeSpan?

  @Option(
    name: [.customShort("u"), .long],
    help: ArgumentHelp(
      "Run the command with the ids and groups of this user, in this environment.",
      valueName: "name|uid"),
    completion: .users)
  var user: TextArgument?

  @Flag(help: "Print each refusal when it happens.")
  var follow = false

  /// An option that users of strace(1) type; children are always followed.
  @Flag(name: .customShort("f"), help: .hidden)
  var followsChildren = false

  @Option(
    help: ArgumentHelp(
      "How refusals are seen; without this option by BPF where it is allowed.",
      valueName: "way"))
  var by: Way?

  enum Way: String, CaseIterable, ExpressibleByArgument {
    case bpf
    case ptrace
  }

  @Flag(help: "By ptrace: kill the command if permcheck is killed.")
  var killTogether = false

  @OptionGroup var format: FormatOptions

  /// How long a refusal may wait with `--follow`, in milliseconds.
  private static let moment: Int32 = 50

  /// Returns the arguments with a `--` before the first word that is neither an option nor the value of one.
  static func separated(_ arguments: [String]) -> [String] {
    let withValue = [
      "-o", "--output", "-p", "--pid", "--for", "-u", "--user", "--format", "--color", "--by",
    ]
    var index = 1
    while index < arguments.count, arguments[index].hasPrefix("-") {
      index += withValue.contains(arguments[index]) ? 2 : 1
    }
    var arguments = arguments
    if index < arguments.count { arguments.insert("--" + Run.terminator, at: index) }
    return arguments
  }

  func validate() throws {
    if command.isEmpty, pid.isEmpty {
      throw ValidationError("give the command after --, or -p PID")
    }
    if !command.isEmpty, !pid.isEmpty {
      throw ValidationError("-p and a command cannot be combined")
    }
    if let wrong = pid.first(where: { $0 <= 0 }) {
      throw ValidationError("-p \(wrong): expected the number of a process")
    }
    if time != nil, pid.isEmpty { throw ValidationError("--for requires -p") }
    if user != nil, command.isEmpty { throw ValidationError("-u requires a command") }
    if !format.choice.form.printsRefusals {
      throw ValidationError("permcheck trace has no format \(format.choice.form.name)")
    }
  }

  func run() throws {
    let system = LinuxSystem()
    let words = try asUser(system) + command
    let (stream, fallback) = try openStream()
    let printer = try RefusalPrinter(
      system, format.choice, file: output, isImmediate: follow)
    if stream.method == .ptrace { printer.note(limits(fallback, system)) }
    guard pid.isEmpty else {
      try watch(stream, printer, system)
      return
    }
    let own = system.getpid()
    let signals = try ForegroundCommand.Signals(system)
    defer { system.close(signals.descriptor) }
    let foreground = try stream.starting(own) { preparation in
      Result { try ForegroundCommand(words, signals, system, after: preparation) }
    }
    let read = { printer.read(stream, without: own) }
    let ending = Result {
      try foreground.get().wait(
        .init(descriptor: stream.descriptor, interval: follow ? Self.moment : nil, read: read))
    }
    read()
    printer.finish(stream)
    throw ExitCode(ForegroundCommand.end(try ending.get(), system))
  }

  /// Opens the stream that was asked for, or the best one.
  ///
  /// - Returns: The stream, and why it is not BPF if nobody asked for that.
  private func openStream() throws -> (RefusalStream, PermissionError?) {
    if let by {
      let method: RefusalStream.Method = by == .bpf ? .bpf : .ptrace
      return (try RefusalStream(by: method, killsTogether: killTogether), nil)
    }
    do throws(PermissionError) {
      return (try RefusalStream(by: .bpf), nil)
    } catch {
      return (try RefusalStream(by: .ptrace, killsTogether: killTogether), error)
    }
  }

  /// The lines about what is not seen by ptrace(2).
  private func limits(_ fallback: PermissionError?, _ system: LinuxSystem) -> [String] {
    var lines: [String] = []
    if let reason = fallback?.advice { lines.append("seen by ptrace instead of BPF: \(reason)") }
    let isRoot = (try? system.credentials())?.isRoot == true
    lines.append(
      "not seen is what services do for the program, and io_uring"
        + (pid.isEmpty && !isRoot ? "; sudo and other set-user-ID programs gain no rights" : ""))
    return lines
  }

  /// The start of a command that takes on the ids of `user`, see setpriv(1); empty without `user`.
  private func asUser(_ system: LinuxSystem) throws -> [PathBytes] {
    guard let user else { return [] }
    let ids = try UserDatabase(system).subject(.user(user.text)).credentials
    guard try system.credentials().isRoot else {
      throw PermissionError(
        .invalidArgument, "only root may run a command as \(user.text)",
        advice: "use sudo, or leave out -u")
    }
    let groups =
      ids.groups.isEmpty
      ? ["--clear-groups"] : ["--groups", ids.groups.map(String.init).joined(separator: ",")]
    guard let setpriv = system.program("setpriv") else {
      Console.report("setpriv(1), of util-linux, is not installed, and -u needs it", system)
      throw ForegroundCommand.NotStarted(status: 127)
    }
    return [setpriv]
      + (["--reuid", "\(ids.user.real)", "--regid", "\(ids.group.real)"] + groups
      + ["--inh-caps=-all", "--ambient-caps=-all", "--"]).map { PathBytes($0) }
  }

  /// Prints what processes that run already are refused, until they end, the time is over or a signal comes.
  private func watch(
    _ stream: RefusalStream, _ printer: RefusalPrinter, _ system: LinuxSystem
  ) throws {
    let end = time.map { system.monotonic() + $0.microseconds }
    let stop = try Watch.stopRequests(system, output: printer.file)
    var processes: [PollRequest] = []
    for process in pid {
      processes.append(PollRequest(try Self.open(process, system), .readable))
      try stream.follow(process)
      Console.report("process \(process) is watched", system)
    }
    try stream.begin()
    let news = PollRequest(stream.descriptor, .readable)
    while !processes.isEmpty {
      var rest = end.map { Int32(clamping: max(0, ($0 - system.monotonic() + 999) / 1000)) }
      if rest == 0 { break }
      if follow { rest = min(rest ?? Self.moment, Self.moment) }
      // Nothing is lost by a wait that a signal interrupts.
      guard let events = try? system.poll([news] + stop + processes, timeout: rest) else {
        continue
      }
      printer.read(stream)
      let (stops, ends) = (events[1...stop.count], events[(stop.count + 1)...])
      if stops.contains(where: { !$0.isEmpty }) { break }
      for (request, end) in zip(processes, ends) where !end.isEmpty {
        system.close(request.descriptor)
        processes.removeAll { $0.descriptor == request.descriptor }
      }
    }
    printer.read(stream)
    printer.finish(stream)
  }

  private static func open(
    _ process: Int32, _ system: LinuxSystem
  ) throws(PermissionError) -> Descriptor {
    do throws(Errno) {
      return try system.pidfd_open(process)
    } catch {
      throw PermissionError(
        .invalidArgument, "process \(process) cannot be watched", call: "pidfd_open",
        errno: error, advice: error == .EINVAL ? "it is a thread; name its process" : nil)
    }
  }
}
