import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct Verify: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compares access with a file of expectations.",
    usage: "permcheck verify FILE [OPTION …] | permcheck verify --init [NAME|PATH …]",
    discussion: """
      EXAMPLES
        permcheck verify access.toml
        permcheck verify --init camera /srv/photos --user www-data > access.toml

      The file is TOML. An expectation has a path or an accessor, and its status:

        [[expect]]
        name = "the web server must not see the pictures"
        path = "/srv/photos"             or accessor = "camera"
        user = ["www-data", "nobody"]    or uid, gid and groups, or pid
        need = "r"
        is = "refused"                   or "granted", a status, or a list of these
        reason = "parent-search"         only for this reason
        recursive = true                 also everything in the folder
        to = "delete"                    instead of need (rename and link: target)
        wait = "5s"                      until it holds

      Without user, uid or pid it is about this process. The exit status is 0 if all
      hold, 1 if one does not, 64 if the file has mistakes.
      """)

  @Argument(
    help: ArgumentHelp(
      "The file, or - for standard input.", valueName: "file"),
    completion: .file())
  var words: [PathBytes] = []

  @Flag(
    name: .customLong("init"),
    help: "Print a file of the current access to NAME or PATH.")
  var isInit = false

  @Flag(help: "Verify again after each change, until Ctrl-C.")
  var watch = false

  @Flag(
    help:
      "Skip devices that are not there instead of failing; exit with 77 if there is nothing else.")
  var skipUnavailable = false

  @OptionGroup var who: WhoOptions
  @OptionGroup var result: ResultOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if isInit {
      if watch || skipUnavailable {
        throw ValidationError("--init cannot be combined with --watch or --skip-unavailable")
      }
    } else if who.chosen() != [.current] || who.need != nil {
      throw ValidationError(
        "the file names users and permissions: user = \"…\", need = \"…\"; options for that go with --init"
      )
    } else if words.count != 1 {
      throw ValidationError(
        words.isEmpty ? "name the file of the expectations" : "only one file can be verified")
    }
    if watch, result.file != nil || words == ["-"] {
      throw ValidationError("--watch cannot be combined with --output or standard input")
    }
  }

  func run(_ accessors: Accessors) throws {
    var output = output.choice
    output.file = result.file
    let console = Console(LinuxSystem(), output)
    if isInit {
      console.print(
        try StarterFile(
          words, accessors, for: SubjectChoice(who: who.chosen(), need: who.wanted),
          accessors.system
        ).text)
      try console.flush()
      return
    }
    let status = try watch ? follow(output, console, accessors) : verify(output, console, accessors)
    if status != .authorized { throw status.code }
  }

  /// Verifies once, prints, and returns the exit status.
  private func verify(
    _ output: OutputChoice, _ console: Console, _ accessors: Accessors
  ) throws -> ExitStatus {
    let system = watch ? LinuxSystem.cached() : accessors.system
    let verifier = try verifier(accessors, system, output, console)
    let verdicts = try verifier.run()
    let result = VerifyResult(
      file: words[0], verdicts: verdicts, status: status(verdicts), time: system.realtime(),
      host: system.hostname)
    let format = output.format(console)
    console.print(try format.text(result))
    try console.flush()
    try output.addSummary(format, Findings(result), system)
    return type(of: format).exit(result)
  }

  private func status(_ verdicts: [Verdict]) -> ExitStatus {
    if verdicts.isEmpty { return .failure }
    if verdicts.allSatisfy({ $0.outcome == .skipped }) { return .skipped }
    let isGood = verdicts.allSatisfy { $0.outcome == .holds || $0.outcome == .skipped }
    return isGood ? .authorized : .refused
  }

  /// Reads the file and looks up its users.
  ///
  /// - Throws: An error, after each mistake was printed.
  private func verifier(
    _ accessors: Accessors, _ system: any System, _ output: OutputChoice, _ console: Console
  ) throws -> Verifier {
    let input = Input(words[0])
    let reader = ExpectationReader(try input.bytes(system), accessors)
    var mistakes = reader.mistakes
    if watch {
      mistakes += reader.expectations.filter(\.isRecursive).map {
        Mistake(
          place: $0.place,
          message:
            "--watch cannot be used with recursive = true, because it sees only changes of the folder itself"
        )
      }
    }
    let verifier = try Verifier(
      reader.expectations, system, accessors, skipsUnavailable: skipUnavailable, &mistakes)
    guard let last = mistakes.sorted().last else { return verifier }
    let report = output.format(console).text(
      mistakes.sorted().map {
        FileMistake(line: $0.place.line, column: $0.place.column, message: $0.message)
      }, in: words[0], at: system.realtime(), host: system.hostname)
    if let report {
      console.print(report)
      try console.flush()
    }
    func line(_ mistake: Mistake) -> String {
      "\(input.name):\(mistake.place.line):\(mistake.place.column): \(Sanitizer.clean(mistake.message))"
    }
    for mistake in mistakes.sorted().dropLast() { Console.report(line(mistake), system) }
    throw ValidationError(line(last))
  }

  /// Verifies now and after each change of access, and returns the last exit status.
  private func follow(
    _ output: OutputChoice, _ console: Console, _ accessors: Accessors
  ) throws -> ExitStatus {
    let system = LinuxSystem()
    let watcher = try AccessWatcher(
      system, stoppedBy: try Watch.stopRequests(system), logs: false,
      try verifier(accessors, system, output, console).factories)
    // Changes from here on are seen.
    var status = try verify(output, console, accessors)
    while case .checked(let changes) = try watcher.next() {
      if !changes.isEmpty { status = try verify(output, console, accessors) }
    }
    return status
  }
}
