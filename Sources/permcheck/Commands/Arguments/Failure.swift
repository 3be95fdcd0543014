import ArgumentParser
import PermissionDocuments
import PermissionKit

/// An error that prevented every answer.
struct Failure {
  private let message: String
  private let status: ExitStatus
  private let code: String
  private let advice: String?

  /// Creates the failure for an error of the library.
  init(_ error: PermissionError) {
    message = error.description
    status = ExitStatus(error)
    code = error.code.rawValue
    advice = error.advice
  }

  /// Creates the failure for wrong arguments; the help of the command that they name has more.
  init(usage message: String, _ arguments: [String]) {
    let names = Permcheck.configuration.subcommands.compactMap { $0.configuration.commandName }
    let isOption = arguments.first != "help" && message.has("--")
    let command = arguments.first.flatMap { names.contains($0) ? $0 : nil }
    let words = ["permcheck", command ?? (isOption ? "check" : nil), "--help"]
    let help = words.compactMap { $0 }.joined(separator: " ")
    self.message = message.hasSuffix("?") ? "\(message) See \(help)" : "\(message); see \(help)"
    status = .usage
    code = "usage"
    advice = help
  }

  /// Prints the failure as one line, and as a document if the output is for programs, and exits.
  func exit(_ arguments: [String]) -> Never {
    let system = LinuxSystem()
    Console.report(Sanitizer.clean(message), system)
    if Self.wantsJSON(arguments) {
      let console = Console(system)
      console.print(
        ErrorDocument(
          toolVersion: Tool.version, code: code, message: message, advice: advice,
          exitStatus: status.rawValue
        ).text)
      _ = try? console.flush()
    }
    Permcheck.exit(withError: status.code)
  }

  /// Whether the output is for programs; what follows `--` belongs to another command.
  private static func wantsJSON(_ arguments: [String]) -> Bool {
    let own = arguments.prefix { $0 != "--" && $0 != "--" + Run.terminator }
    return own.contains("--json") || own.contains("--format=json")
      || zip(own, own.dropFirst()).contains { $0 == "--format" && $1 == "json" }
  }
}
