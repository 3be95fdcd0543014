import ArgumentParser
@_spi(SystemCalls) import PermissionKit

/// The completions of a shell: the parser's script, and what the parser does not know.
///
/// The parser's script knows the commands, the options, and their values. It does not know that
/// `permcheck NAME` means `permcheck check NAME`, that `=PATH` may follow a name, and that a command
/// follows `run … --`.
enum CompletionScript {
  private static let option = "--generate-completion-script"

  /// Returns the script that these arguments ask for; nil if they ask for something else.
  static func requested(_ arguments: [String], _ system: any System) -> String? {
    guard let first = arguments.first, first.hasPrefix(option) else { return nil }
    var name: String?
    if first.hasPrefix(option + "=") {
      name = String(first.dropFirst(option.count + 1))
    } else if first == option {
      name = arguments.count > 1 ? arguments[1] : shellName(system)
    }
    // The parser refuses other shells.
    return name.flatMap(CompletionShell.init(rawValue:)).map(script)
  }

  /// Returns the name of the user's shell.
  private static func shellName(_ system: any System) -> String? {
    system.getenv("SHELL")?.description.split(separator: "/").last.map(String.init)
  }

  /// Returns the script of a shell.
  static func script(of shell: CompletionShell) -> String {
    let lines = Permcheck.completionScript(for: shell).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    switch shell {
    case .bash: return (lines + ["", bash]).joined(separator: "\n")
    case .fish:
      // The first word is a command, or already an argument of check.
      let condition = "__permcheck_should_offer_completions_for_positional \"permcheck\" -eq 1"
      let start = "complete -c 'permcheck' -n '"
      let changed = lines.map { line in
        guard line.hasPrefix(start + condition) else { return line }
        return start + "__permcheck_is_first" + line.dropFirst(start.count + condition.count)
      }
      return (changed + ["", fish]).joined(separator: "\n")
    default:
      // The first line names the command, and the last lines call _permcheck.
      let rest = lines.dropFirst().map { $0 == "_permcheck() {" ? "_permcheck_parsed() {" : $0 }
      return ([lines[0], "", zsh] + rest).joined(separator: "\n")
    }
  }

  /// The commands, for a list of words.
  static let commands = (["check", "explain"] + Front.others).joined(separator: " ")

  /// The commands, for a pattern of `case`.
  static let commandPattern = (["check", "explain"] + Front.others).joined(separator: "|")
}
