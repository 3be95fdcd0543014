import ArgumentParser
import PermissionKit
import PermissionKitPlugins
import ToolStart

@main
struct Permcheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "permcheck",
    abstract: "Tells whether camera, microphone and photos can be used here, and if not, why.",
    usage: """
      permcheck [check] [NAME[=PATH] …]
      permcheck explain NAME|PATH …
      permcheck request NAME … | revoke NAME …
      permcheck run NAME … -- COMMAND …
      permcheck watch NAME[=PATH] …
      permcheck verify FILE
      permcheck audit NAME|DIR …
      permcheck evaluate FACTS
      permcheck list | log | schema
      """,
    discussion: """
      EXAMPLES
        permcheck                          all three, for this process
        permcheck camera --user www-data   for a login of another user
        permcheck camera=/dev/video2       one node
        permcheck photos --need r          reading alone
        permcheck camera mic --json        output for programs, see permcheck schema
        permcheck -q camera || echo no     only the exit status
        permcheck request photos --dry-run what would change, and who would gain
        permcheck camera --wait 5s         waits for a camera that is being set up
        permcheck watch camera mic         a line for each change

      EXIT STATUS
        0   authorized, or limited without --all
        1   denied or restricted
        2   cannot be determined
        3   no such device or folder
        64  wrong usage
        70  permcheck itself failed
        77  everything is unavailable, with --skip-unavailable
      With several names, 1 goes before 2, 2 before 3, and 3 before 0.
      """,
    version: Tool.version,
    subcommands: [
      Check.self, Explain.self, RequestAccess.self, Revoke.self, Run.self, Watch.self,
      Verify.self, Audit.self, Evaluate.self, List.self, Log.self, Schema.self,
    ],
    defaultSubcommand: Check.self)

  /// Parses the arguments and runs the command.
  ///
  /// Arguments are bytes. Bytes that are not UTF-8 reach the parser escaped, see `PathBytes`.
  static func main() {
    tool_start_done()
    let arguments = arguments
    do {
      switch Front.command(arguments) {
      case .version?:
        let console = Console(LinuxSystem())
        console.print(Tool.version + "\n")
        try console.flush()
      case .check(let choice)?:
        LinuxSystem().exit(try choice.run(Accessors(LinuxSystem())).rawValue)
      case .explain(let choice)?:
        LinuxSystem().exit(try choice.run(Accessors(LinuxSystem())).rawValue)
      case nil:
        if let script = CompletionScript.requested(arguments, LinuxSystem()) {
          let console = Console(LinuxSystem())
          console.print(script)
          try console.flush()
          return
        }
        if arguments.first == "help", let word = arguments.dropFirst().first, !word.hasPrefix("-"),
          let message = Suggestions.unknownCommand(word)
        {
          throw ValidationError(message)
        }
        var command = try parseAsRoot(arguments)
        if let command = command as? any AccessorCommand {
          try command.run(Accessors(LinuxSystem()))
        } else {
          try command.run()
        }
      }
    } catch {
      finish(error)
    }
  }

  private static var arguments: [String] {
    var arguments = LinuxSystem.arguments.dropFirst().map(\.description)
    // The parser needs an option to separate the names before `--` from the command after it.
    if arguments.first == "run", let end = arguments.firstIndex(of: "--"),
      end + 1 < arguments.count
    {
      arguments[end] = "--" + Run.terminator
    }
    return arguments
  }

  /// Prints an error as one line on standard error and exits; help is not an error.
  private static func finish(_ error: any Error) -> Never {
    if let error = error as? PermissionError {
      Failure(error).exit(arguments)
    }
    let code = exitCode(for: error)
    guard code == .validationFailure else { exit(withError: error) }
    Failure(usage: plain(message(for: error)), arguments).exit(arguments)
  }

  /// Returns the parser's message in the words of this tool.
  private static func plain(_ message: String) -> String {
    let quoted = message.split(separator: "'", omittingEmptySubsequences: false).map(String.init)
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
