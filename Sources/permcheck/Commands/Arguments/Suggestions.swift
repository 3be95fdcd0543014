import ArgumentParser
import PermissionKit

/// Suggestions for mistyped words.
enum Suggestions {
  /// Words that people use for accessors.
  private static let accessors = [
    "webcam": "camera", "cam": "camera", "video": "camera", "v4l": "camera", "audio": "mic",
    "sound": "mic", "alsa": "mic", "mike": "mic", "micro": "mic", "photo": "photos",
    "picture": "photos", "pictures": "photos", "images": "photos",
  ]
  /// Words that people use for commands.
  private static let commands = [
    "grant": "request", "give": "request", "fix": "request", "allow": "request",
    "add": "request", "ask": "request", "undo": "revoke", "remove": "revoke", "deny": "revoke",
    "why": "explain", "show": "explain", "monitor": "watch", "follow": "watch", "exec": "run",
    "strace": "trace",
    "status": "check", "test": "check", "history": "log", "ls": "list", "version": "--version",
  ]

  /// Returns the error for a word that is no accessor, with what was probably meant.
  ///
  /// - Returns: One line.
  static func unknownAccessor(
    _ word: String, _ registry: AccessorRegistry, _ hasPath: Bool = false
  ) -> String {
    let shown = Sanitizer.clean(word)
    let names = registry.entries.flatMap { [$0.name] + $0.aliases }
    let parts = word.parts(by: ",").map(String.init)
    if parts.count > 1, parts.allSatisfy({ registry[$0] != nil }) {
      return "separate names with spaces: permcheck \(parts.joined(separator: " "))"
    }
    let start = "there is no accessor \"\(shown)\""
    let here = PathBytes("./").appending(PathBytes(escaped: word))
    if !hasPath, (try? LinuxSystem().kind(of: here)) != nil {
      return "\(start); did you mean \(ShellCommand.line([here]))?"
    }
    let lower = word.lowercased()
    if lower == "all" { return "\(start); permcheck without a name checks all of them" }
    let builtIn = registry.entries.filter { $0.origin == .builtIn }.flatMap {
      [$0.name] + $0.aliases
    }
    let known = "known: \(builtIn.joined(separator: ", ")), and those of permcheck list"
    if let command = Self.commands[lower] {
      return "\(start); did you mean permcheck \(command)?"
    }
    let subcommands = Permcheck.configuration.subcommands.compactMap {
      $0.configuration.commandName
    }
    if let near = Self.accessors[lower] ?? nearest(to: lower, among: names) {
      return "\(start); did you mean \(near)? \(known)"
    }
    if let near = nearest(to: lower, among: subcommands) {
      return "\(start); did you mean permcheck \(near)?"
    }
    return "\(start); \(known)"
  }

  /// Returns the error for a word that is no command, with what was probably meant; nil for a command.
  static func unknownCommand(_ word: String) -> String? {
    let names = Permcheck.configuration.subcommands.compactMap {
      $0.configuration.commandName
    }
    if names.contains(word) || word == "help" || HelpText.names.contains(word) { return nil }
    let near = commands[word.lowercased()] ?? nearest(to: word.lowercased(), among: names)
    let meant = near.map { "did you mean \($0)?" } ?? "known: \(names.joined(separator: ", "))"
    return "there is no command \"\(Sanitizer.clean(word))\"; \(meant)"
  }

  /// Returns the message for an option that does not exist, with what was probably meant.
  ///
  /// - Parameters:
  ///   - option: The option: `--fix`.
  ///   - known: The options that are nearest, in the view of the parser.
  /// - Returns: One line.
  static func unknownOption(_ option: String, known: [String]) -> String {
    let start = "there is no option \(Sanitizer.clean(option)) here"
    let word = String(option.drop { $0 == "-" })
    if ["fix", "grant", "request"].contains(word) {
      return "\(start); permcheck request gives missing access"
    }
    if word == "to" || word.hasPrefix("to=") {
      return "\(start); permcheck explain FILE --to OPERATION asks about operations"
    }
    let near = nearest(to: option, among: known)
    return near.map { "\(start); did you mean \($0)?" } ?? start
  }

  /// Returns the error for a word that is no format, with what was probably meant.
  static func unknownFormat(_ word: String) -> String {
    let names = ReportFormats.all.map { $0.name }
    let near = nearest(to: word.lowercased(), among: names).map { " did you mean \($0)?" } ?? ""
    return
      "there is no format \"\(Sanitizer.clean(word))\";\(near) known: \(names.joined(separator: ", "))"
  }

  /// Returns the nearest word: at most two letters, or one in a short word, differ; nil if there is
  /// none.
  static func nearest(to word: String, among words: [String]) -> String? {
    let most = word.count < 6 ? 1 : 2
    let near = words.map { ($0, distance(Array(word), Array($0))) }.filter { $0.1 <= most }
    return near.min { $0.1 < $1.1 }?.0
  }

  /// Returns the number of letters to add, leave out, change or exchange with the next one.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var rows = [Array(0...right.count)]
    for i in 1..<(left.count + 1) {
      var row = [i]
      for j in 1..<(right.count + 1) {
        let change = left[i - 1] == right[j - 1] ? 0 : 1
        var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + change)
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          best = min(best, rows[i - 2][j - 2] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
