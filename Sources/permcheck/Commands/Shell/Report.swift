import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct Report: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Prints a description of this machine for a bug report.",
    usage: "permcheck report [NAME|PATH …] [OPTION …]",
    discussion: """
      EXAMPLES
        permcheck report > report.txt                     camera, mic and photos
        permcheck report /srv/photos --user www-data > report.txt

      Prints versions, the kernel and what may refuse, then the explanation of each
      name, and its facts in the last line. Names of users, groups and this machine
      are replaced: me, user1, group1, host. Paths that you name stay. Read it before
      you send it.
      """)

  @Argument(
    help: ArgumentHelp("What goes wrong: accessors or paths.", valueName: "name|path"),
    completion: .accessors)
  var names: [PathBytes] = ["camera", "mic", "photos"]

  @OptionGroup var subject: SubjectOptions

  func run(_ accessors: Accessors) throws {
    let system = accessors.system
    let choice = ExplainChoice(names: names, subject: subject.choice)
    let explanation = try choice.explanation(accessors)
    let result = ExplainResult(explanation: explanation, status: ExitStatus(explanation.reports))
    let plain = Style(colors: false, isUnicode: true, columns: nil)
    var text = "# permcheck report. Read it before you send it.\n"
    var lines = [("program", Permcheck.build.parts(by: "\n").joined(separator: "; "))]
    lines[0].1 = "permcheck \(Tool.version); \(lines[0].1)"
    lines += MachineSummary(system).lines
    lines.append(("grants", grants(system)))
    let width = lines.map(\.0.utf8.count).max() ?? 0
    for (title, value) in lines {
      text += title + String(repeating: " ", count: width + 2 - title.utf8.count)
      text += Sanitizer.clean(value) + "\n"
    }
    let words = names.map { Sanitizer.clean($0.description) }.joined(separator: " ")
    text += "\n# permcheck explain -v \(words): exit status \(result.status.rawValue)\n"
    text += HumanFormat(plain, isVerbose: true).text(result)
    text += "\n# The same in JSON: tail -n 1 FILE | permcheck evaluate -\n"
    text += JSONFormat(plain, isVerbose: true).text(result)
    let console = Console(system)
    console.print(Pseudonyms(system, explanation.inspection.names).replaced(text))
    try console.finish(.authorized)
  }

  /// The number of grants, without their users.
  private func grants(_ system: any System) -> String {
    do throws(PermissionError) {
      return "\(try GrantJournal.standard(system).grants().count)"
    } catch {
      return error.message
    }
  }
}

/// Replacements for the names of people, of their groups and of the machine.
struct Pseudonyms {
  private var words: [String: String] = [:]

  /// Collects the names of the data base and of some facts.
  ///
  /// System users, with uids below 1000, and nobody keep their names, because rules refer to them.
  init(_ system: any System, _ names: IDNames) {
    let own = (try? system.credentials())?.user.real
    var users = names.users
    for user in (try? UserDatabase(system).everyUser()) ?? [] { users[user.uid] = user.name }
    func isOfPeople(_ id: UInt32) -> Bool { id >= 1000 && id != 65534 }
    var number = 0
    for (uid, name) in users.sorted(by: { $0.key < $1.key }) where isOfPeople(uid) {
      if uid != own { number += 1 }
      words[name] = uid == own ? "me" : "user\(number)"
    }
    number = 0
    for (gid, name) in names.groups.sorted(by: { $0.key < $1.key }) where isOfPeople(gid) {
      guard words[name] == nil else { continue }
      number += 1
      words[name] = "group\(number)"
    }
    if let host = system.hostname, host != "localhost" { words[host] = "host" }
  }

  /// Returns the text with each name replaced, if it is a whole word.
  func replaced(_ text: String) -> String {
    var result: [UInt8] = []
    var rest = Array(text.utf8)[...]
    func isOfWord(_ byte: UInt8) -> Bool {
      byte >= 0x80 || byte == UInt8(ascii: "_")
        || UnicodeScalar(byte).properties.isAlphabetic || (48...57).contains(byte)
    }
    let known = words.map { (Array($0.key.utf8), Array($0.value.utf8)) }
      .sorted { $0.0.count > $1.0.count }
    while let byte = rest.first {
      let isStart = result.last.map { !isOfWord($0) } ?? true
      let found = known.first { name, _ in
        isStart && rest.starts(with: name)
          && (rest.dropFirst(name.count).first.map { !isOfWord($0) } ?? true)
      }
      if let (name, word) = found {
        result += word
        rest = rest.dropFirst(name.count)
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
