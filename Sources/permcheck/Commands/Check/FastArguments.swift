import PermissionKit

/// Parses the arguments of frequent commands, because ArgumentParser takes longer to start than a
/// check.
///
/// It accepts names, paths, and options that are given once and in full. ArgumentParser handles all
/// other arguments and reports every mistake. Both fill the same values.
enum FastArguments {
  /// A command that needs no parser.
  enum Command {
    case version(isVerbose: Bool)
    case check(CheckChoice)
    case explain(ExplainChoice)
  }

  /// The names of the other commands, and help.
  static let others = [
    "request", "revoke", "run", "trace", "watch", "verify", "audit", "evaluate", "list", "log",
    "report", "schema",
    "help",
  ]

  /// Returns the command of these arguments; nil if the parser has to read them.
  static func command(_ arguments: [String]) -> Command? {
    if arguments.first == "--version" || arguments.last == "--version" {
      let others = arguments.filter { $0 != "--version" }
      if others.isEmpty { return .version(isVerbose: false) }
      if others == ["-v"] || others == ["--verbose"] { return .version(isVerbose: true) }
    }
    var rest = arguments[...]
    var isExplain = false
    if let first = rest.first {
      if others.contains(first) { return nil }
      isExplain = first == "explain"
      if isExplain || first == "check" { rest = rest.dropFirst() }
    }
    guard let words = ParsedWords(rest) else { return nil }
    guard isExplain else { return words.check.map(Command.check) }
    return words.explain.map(Command.explain)
  }

  /// The names, flags and options of a command.
  private struct ParsedWords {
    var names: [PathBytes] = []
    // Few enough that to look through them is quicker than to hash them.
    private var flags: [String] = []
    private var options: [(name: String, value: String)] = []

    private static let flagNames = [
      "--all", "--skip-unavailable", "--json", "--quiet", "--verbose",
    ]
    private static let optionNames = [
      "--user", "--need", "--format", "--color", "--log",
    ]

    /// Reads the arguments; nil if only the parser understands one of them.
    init?(_ words: ArraySlice<String>) {
      var words = words
      while let word = words.popFirst() {
        guard word.utf8.first == UInt8(ascii: "-") else {
          // Where such a word selects a command is for the parser to say.
          guard !FastArguments.others.contains(word), word != "check", word != "explain",
            let name = PathBytes(argument: word)
          else { return nil }
          names.append(name)
          continue
        }
        let flag = word == "-q" ? "--quiet" : word == "-v" ? "--verbose" : word
        if Self.flagNames.contains(flag) {
          if flags.contains(flag) { return nil }
          flags.append(flag)
          continue
        }
        var (name, value) = (word, String?.none)
        if let equals = word.firstIndex(of: "=") {
          (name, value) = (String(word[..<equals]), String(word[word.index(after: equals)...]))
        } else {
          value = words.popFirst()
        }
        guard Self.optionNames.contains(name), let value, !value.isEmpty,
          value.utf8.first != UInt8(ascii: "-"), self[name] == nil
        else { return nil }
        options.append((name, value))
      }
    }

    private subscript(_ option: String) -> String? {
      for (name, value) in options where name == option { return value }
      return nil
    }

    var check: CheckChoice? {
      guard let subject, let output else { return nil }
      var choice = CheckChoice(
        names: names, all: flags.contains("--all"),
        skipUnavailable: flags.contains("--skip-unavailable"), subject: subject, output: output)
      if let text = self["--log"] {
        guard let file = PathBytes(argument: text) else { return nil }
        choice.log.file = file
      }
      return choice
    }

    var explain: ExplainChoice? {
      guard !names.isEmpty, self["--log"] == nil, !flags.contains("--skip-unavailable"),
        let subject, let output
      else { return nil }
      return ExplainChoice(
        names: names, all: flags.contains("--all"), subject: subject, output: output)
    }

    private var subject: SubjectChoice? {
      var choice = SubjectChoice()
      if let text = self["--user"] {
        guard let user = TextArgument(argument: text) else { return nil }
        choice.who = [.user(user.text)]
      }
      if let text = self["--need"] {
        guard let need = Permissions(text), !need.isEmpty else { return nil }
        choice.need = need
      }
      return choice
    }

    private var output: OutputChoice? {
      var choice = OutputChoice(
        quiet: flags.contains("--quiet"), verbose: flags.contains("--verbose"))
      if choice.quiet, choice.verbose { return nil }
      if let text = self["--format"] {
        guard let form = ReportFormats.named(text) else { return nil }
        choice.form = form
      }
      if flags.contains("--json") {
        guard self["--format"] == nil else { return nil }
        choice.form = JSONFormat.self
      }
      if let text = self["--color"] {
        guard let color = Style.Color(rawValue: text) else { return nil }
        choice.color = color
      }
      return choice
    }
  }
}
