import ArgumentParser
import PermissionKit
import PermissionKitPlugins
import PermissionTrace
import ToolStart

@main
struct Permcheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "permcheck",
    abstract:
      "Says whether a camera, a microphone, photos or any file can be used, and if not, why.",
    usage: "permcheck [COMMAND] [NAME|PATH …] [OPTION …]",
    discussion: """
      NAME is a thing to check, called accessor: camera, mic, photos, serial and
      what permcheck list shows; NAME=PATH is one node or folder of it. A word with a
      slash is a path.

      EXAMPLES
        permcheck                               camera, mic and photos, for you
        permcheck camera --user www-data        for the next login of another user
        permcheck explain /srv/photos/a.jpg     why, step by step
        permcheck request mic --dry-run         what would change, and who would gain
        permcheck -q camera || echo no          only the exit status
      """,
    version: Tool.version,
    subcommands: [
      Check.self, Explain.self, RequestAccess.self, Revoke.self, Run.self, Trace.self, Watch.self,
      Verify.self, Audit.self, Evaluate.self, List.self, Log.self, Report.self,
      Schema.self,
    ],
    defaultSubcommand: Check.self)

  /// Parses the arguments and runs the command.
  ///
  /// Arguments are bytes. Bytes that are not UTF-8 reach the parser escaped, see `PathBytes`.
  static func main() {
    tool_start_done()
    LinuxSystem.readLandlock { landlockDomains?.isRestricted($0) }
    let arguments = arguments
    do {
      switch FastArguments.command(arguments) {
      case .version(let isVerbose)?:
        let console = Console(LinuxSystem())
        console.print(Tool.version + "\n" + (isVerbose ? build : ""))
        try console.flush()
      case .check(let choice)?:
        LinuxSystem().exit(try choice.run(Accessors(LinuxSystem.cached())).rawValue)
      case .explain(let choice)?:
        LinuxSystem().exit(try choice.run(Accessors(LinuxSystem.cached())).rawValue)
      case nil:
        if let script = CompletionScript.requested(arguments, LinuxSystem()) {
          let console = Console(LinuxSystem())
          console.print(script)
          try console.flush()
          return
        }
        if arguments.first == "help", arguments.count == 2, let text = HelpText.topic(arguments[1])
        {
          let console = Console(LinuxSystem())
          console.print(text)
          try console.flush()
          return
        }
        if arguments.first == "help", let word = arguments.dropFirst().first, !word.hasPrefix("-"),
          let message = Suggestions.unknownCommand(word)
        {
          throw ValidationError(message)
        }
        var command = try parsed(arguments)
        if let command = command as? any AccessorCommand {
          try command.run(Accessors(LinuxSystem.cached()))
        } else {
          try command.run()
        }
      }
    } catch {
      finish(error)
    }
  }

  /// The options that the parser answers by itself, about all commands.
  private static let aboutAll = [
    "--version", "--help", "--help-hidden", "-h", "--experimental-dump-help",
    "--generate-completion-script",
  ]

  /// Returns the command that the arguments ask for.
  ///
  /// Its own parser reads them where it is certain which one that is: the parser of this type would first look
  /// through the options of other commands, which takes longer than most commands.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    if arguments.contains(where: aboutAll.contains) { return try parseAsRoot(arguments) }
    let commands = configuration.subcommands
    if let command = commands.first(where: { $0._commandName == arguments.first }) {
      return try command.parseAsRoot(Array(arguments.dropFirst()))
    }
    let names = commands.map { $0._commandName } + ["help"]
    if arguments.contains(where: names.contains) { return try parseAsRoot(arguments) }
    return try Check.parseAsRoot(arguments)
  }

  /// The commit and the toolchain, a line each.
  static var build: String {
    let lines = unsafe String(cString: tool_build())
    return lines.isEmpty ? "commit unknown: Release/build did not build this program\n" : lines
  }

  /// Which processes have a Landlock domain; nil if this process cannot see it.
  private static let landlockDomains = try? LandlockDomains()

  private static var arguments: [String] {
    var arguments = LinuxSystem.arguments.dropFirst().map(\.description)
    guard let first = arguments.first, first == "run" || first == Trace.name else {
      return arguments
    }
    // The parser needs an option to separate the names before `--` from the command after it.
    if let end = arguments.firstIndex(of: "--"), end + 1 < arguments.count {
      arguments[end] = "--" + Run.terminator
    } else if first == Trace.name {
      // strace(1) wants no `--`.
      arguments = Trace.separated(arguments)
    }
    return arguments
  }

  /// Prints an error as one line on standard error and exits; help is not an error.
  private static func finish(_ error: any Error) -> Never {
    if let error = error as? PermissionError {
      Failure(error).exit(arguments)
    }
    if let error = error as? ForegroundCommand.NotStarted {
      exit(withError: ExitCode(error.status))
    }
    let code = exitCode(for: error)
    if code == .success, !arguments.contains("--help-hidden") {
      let text = fullMessage(for: error)
      guard text.hasPrefix("OVERVIEW:") else { exit(withError: error) }
      let console = Console(LinuxSystem())
      console.print(HelpText.short(text))
      _ = try? console.flush()
      exit()
    }
    guard code == .validationFailure else { exit(withError: error) }
    Failure(usage: plain(message(for: error)), arguments).exit(arguments)
  }

  /// Returns the parser's message in the words of this tool.
  private static func plain(_ message: String) -> String {
    let quoted = message.parts(by: "'", omittingEmptySubsequences: false).map(String.init)
    if message.hasPrefix("Unknown option '"), quoted.count > 1 {
      return Suggestions.unknownOption(quoted[1], known: quoted.count > 3 ? [quoted[3]] : [])
    }
    if message.hasPrefix("The value '"), message.has(" <duration>'") {
      return
        "\(quoted[3].prefix { $0 != " " }) \(quoted[1]): expected a time such as 90s, 1h30m or 2d, at most 366d"
    }
    if message.hasPrefix("The value '"), message.has("for '--format <") {
      return Suggestions.unknownFormat(quoted[1])
    }
    return message.hasSuffix(".") ? String(message.dropLast()) : message
  }
}
