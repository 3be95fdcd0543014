import ArgumentParser
import PermissionKit

/// The help of a command on one screen; the options that all commands share are in topics.
///
/// The parser writes the whole help. The descriptions of common options are moved from it to a
/// topic.
enum HelpText {
  /// The help on options that all commands have.
  private struct Topic {
    let name: String
    /// The line of a command's help, before its options of the topic.
    let title: String
    let introduction: String
    /// The options, by the first name that the parser prints.
    let options: [String]
  }

  private static let topics = [
    Topic(
      name: "who", title: "For whom",
      introduction: """
        Whom a command checks, and how it asks. Without these options: this process.
        --user is about the next login of a user, --pid about a process as it is now.

        EXAMPLES
          permcheck camera --user www-data
          permcheck /srv/photos --uid 1000 --gid 1000 --groups 27,44
          permcheck explain ./upload --need rwx --pid 4242
          permcheck /srv/photos --pid "$(systemctl show -P MainPID nginx)"   a service
        """,
      options: [
        "--user", "--uid", "--gid", "--groups", "--pid", "--probe", "--through", "--root",
      ]),
    Topic(
      name: "formats", title: "Output",
      introduction: """
        How a command prints its result, and where. permcheck schema describes the
        JSON.

        EXAMPLES
          permcheck camera mic --json
          permcheck -q camera || echo "no camera"
          permcheck verify access.toml --format junit --output report.xml
        """,
      options: ["--format", "--json", "--color", "-q", "-v", "--output", "--log"]),
    Topic(
      name: "status", title: "Exit status",
      introduction: """
        STATUS            MEANING                                            EXIT
          authorized      every device is usable, or the path                   0
          limited         some devices are usable, or a folder can be read
                          but not written; --all asks for the rest         0 or 1
          denied          refused; a change of permissions can help             1
          restricted      refused by something else: a container, a security
                          module, a read-only mount, another program            1
          notDetermined   it cannot be determined                               2
          unavailable     there is no such device, file or folder               3

        OTHER EXIT STATUSES
          64  wrong usage
          70  permcheck itself failed
          77  --skip-unavailable skipped everything
        With several names the worst result wins: 1, 2, 3, 0. run ends with
        the status of its command, or with 126 if access was refused.

        EXAMPLES
          permcheck camera -q && ./snapshot
          permcheck camera mic -q || exit 77
        """,
      options: []),
  ]

  /// The names of the topics, which `permcheck help` knows in addition to the commands.
  static var names: [String] { topics.map(\.name) }

  /// Returns the text of a topic; nil if there is no such topic.
  static func topic(_ name: String) -> String? {
    guard let topic = topics.first(where: { $0.name == name }) else { return nil }
    let whole = Permcheck.helpMessage(for: Check.self, columns: 80)
    let entries = Help(whole).entries.filter { topic.options.contains($0.name) }
    let options = entries.isEmpty ? "" : "\nOPTIONS:\n" + entries.map(\.text).joined()
    return topic.introduction + "\n" + options
  }

  /// Returns the help of a command without the parts that topics have.
  static func short(_ whole: String) -> String {
    let help = Help(whole)
    let common = Set(topics.flatMap(\.options))
    let lines = help.start + help.entries.filter { !common.contains($0.name) }.map(\.text).joined()
    var more = ""
    for topic in topics {
      let names = help.entries.map(\.name).filter(topic.options.contains)
      if names.isEmpty { continue }
      more += wrapped(
        "\(topic.title): \(names.joined(separator: ", ")); see permcheck help \(topic.name)")
    }
    if help.end.has("SUBCOMMANDS:") {
      return lines + help.end
        + "  What all have in common: permcheck help \(names.joined(separator: ", "))\n"
        + "  Manual: man permcheck\n"
    }
    let usage = help.start.parts(by: "\n").first { $0.hasPrefix("USAGE: permcheck ") }
    let name = usage?.parts(by: " ").dropFirst(2).first ?? "check"
    return lines + "\n" + more
      + "Exit status: see permcheck help status; manual: man permcheck-\(name)\n" + help.end
  }

  private static func wrapped(_ line: String) -> String {
    var (lines, length) = ("", 0)
    for word in line.parts(by: " ") {
      if length > 0, length + word.count + 1 > 79 {
        lines += "\n  "
        length = 2
      } else if length > 0 {
        lines += " "
        length += 1
      }
      lines += word
      length += word.count
    }
    return lines + "\n"
  }

  /// The parts of the parser's help.
  private struct Help {
    /// Everything up to the line `OPTIONS:`.
    var start = ""
    /// The options, each with the name that comes first.
    var entries: [(name: String, text: String)] = []
    /// Everything after the options.
    var end = ""

    init(_ text: String) {
      var isInOptions = false
      var isAfter = false
      for line in text.parts(by: "\n", omittingEmptySubsequences: false).dropLast(
        text.hasSuffix("\n") ? 1 : 0)
      {
        if isAfter {
          end += line + "\n"
        } else if !isInOptions {
          start += line + "\n"
          isInOptions = line == "OPTIONS:"
        } else if line.isEmpty {
          isAfter = true
          end += "\n"
        } else if line.hasPrefix("  -") {
          let name = line.dropFirst(2).prefix { $0 != " " && $0 != "," }
          entries.append((String(name), line + "\n"))
        } else if !entries.isEmpty {
          entries[entries.count - 1].text += line + "\n"
        }
      }
    }
  }
}
