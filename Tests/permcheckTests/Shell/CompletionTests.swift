import Foundation
import TestSupport
import Testing

@testable import permcheck

/// The completions that Scripts/install installs, in the shells that load them.
@Suite(.blocking) struct CompletionTests {
  static let shells = ["bash", "bash-alone", "zsh", "fish"]
  /// A folder in which permcheck is installed.
  private struct Installed: ~Copyable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "completions-\(UUID())")
    var prefix: String { folder.appending(path: "usr/local").path }

    init() throws {
      let outcome = try install(Command.original)
      try #require(outcome.status == 0, "\(outcome.errors)")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func install(_ argument: String) throws -> Outcome {
      try Command.run(
        ["sh", Checkout.path("Scripts/install"), argument],
        environment: ["DESTDIR": folder.path, "PREFIX": "/usr/local"])
    }

    /// Returns the completions of each line.
    func answers(of shell: String, to lines: [String]) throws -> [[String]] {
      let asker = Checkout.file("Tests/permcheckTests/Completion/ask.py")
      let outcome = try Command.run(["/usr/bin/python3", asker.path, shell, prefix] + lines)
      try #require(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
      let answers = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
      try #require(answers.count == lines.count + 1, "\(outcome.output)")
      return answers.dropLast().map { $0.split(separator: " ").map(String.init) }
    }
  }

  /// Lines up to the cursor, all that completes them, and what does not.
  static let questions: [(line: String, has: [String], hasNot: [String])] = [
    ("permcheck ", ["camera", "mic", "photos", "check", "request", "log"], ["--all", "root"]),
    ("permcheck ca", ["camera"], ["check"]),
    ("permcheck camera ph", ["photos"], []),
    ("permcheck re", ["request", "revoke"], ["check"]),
    ("permcheck check ca", ["camera"], []),
    ("permcheck check re", [], ["request"]),
    ("permcheck help ex", ["explain"], ["check"]),
    ("permcheck --user ro", ["root"], ["daemon"]),
    ("permcheck --user root ca", ["camera"], []),
    ("permcheck camera --user ro", ["root"], []),
    ("permcheck log --user ro", ["root"], []),
    ("permcheck revoke --user ro", ["root"], []),
    ("permcheck log --accessor ph", ["photos"], []),
    ("permcheck --uid 0", ["0"], []),
    ("permcheck --uid 0 --gid 0", ["0"], []),
    ("permcheck --sk", ["--skip-unavailable"], ["--all"]),
    ("permcheck camera --verb", ["--verbose"], []),
    ("permcheck watch camera --fo", ["--for", "--format"], ["--wait"]),
    ("permcheck --format ", ["human", "plain", "json"], ["camera"]),
    ("permcheck list --color ", ["auto", "always", "never"], []),
    ("permcheck request mic --strategy ", ["auto", "acl", "group", "udev", "none"], []),
    ("permcheck request mic --via ", ["sudo", "pkexec", "auto", "none"], []),
    ("permcheck --need ", ["r", "rw", "rx"], []),
    ("permcheck --probe ", ["open", "access", "none"], []),
    ("permcheck --through ", ["alsa", "server", "any"], []),
    ("permcheck --pid 1", ["1"], ["self"]),
    ("permcheck schema ", ["check", "explain", "list"], ["--grants"]),
    ("permcheck explain ca", ["camera"], []),
    ("permcheck explain /etc/hostn", ["/etc/hostname"], []),
    ("permcheck explain mic /etc/hostn", ["/etc/hostname"], []),
    ("permcheck camera=/dev/nul", ["camera=/dev/null"], []),
    ("permcheck mic request=1 photos=/et", [], ["camera"]),
    ("permcheck evaluate /etc/hostn", ["/etc/hostname"], []),
    ("permcheck verify /etc/hostn", ["/etc/hostname"], []),
    ("permcheck verify --format gi", ["github", "gitlab"], ["json"]),
    ("permcheck verify --output /etc/hostn", ["/etc/hostname"], []),
    ("permcheck --log /etc/hostn", ["/etc/hostname"], []),
    ("permcheck run camera -- ls /etc/hostn", ["/etc/hostname"], ["camera"]),
    ("permcheck run camera -- permche", ["permcheck"], ["camera"]),
    ("permcheck run camera --need ", ["rw"], []),
    ("true; permcheck ca", ["camera"], []), ("PERMCHECK_LOG=- permcheck ca", ["camera"], []),
  ]

  @Test(arguments: Effort.some(shells, of: "CompletionTests", atLeast: 1))
  func `Each word is completed`(
    _ shell: String
  ) throws {
    let installed = try Installed()
    let answers = try installed.answers(of: shell, to: Self.questions.map(\.line))
    for (question, answer) in zip(Self.questions, answers) {
      for word in question.has { #expect(answer.contains(word), "\(question.line): \(answer)") }
      for word in question.hasNot { #expect(!answer.contains(word), "\(question.line): \(answer)") }
    }
  }

  /// The value after `=` is the last piece of the word, which the shell may split there.
  @Test(arguments: Effort.some(shells, of: "CompletionTests", atLeast: 1))
  func `The tab key completes the line`(
    _ shell: String
  ) throws {
    let installed = try Installed()
    let lines = [
      ("permcheck ca\t", "permcheck camera "), ("permcheck --user ro\t", "permcheck --user root "),
      ("permcheck --user=ro\t", "permcheck --user=root "),
      ("permcheck camera=/dev/nul\t", "permcheck camera=/dev/null "),
      ("permcheck explain /etc/hostn\t", "permcheck explain /etc/hostname "),
      ("permcheck audit /etc/hostn\t", "permcheck audit /etc/hostname "),
      (#"permcheck camera="/dev/nul\#t"#, #"permcheck camera="/dev/null" "#),
      ("permcheck --log='/etc/hostn\t", "permcheck --log='/etc/hostname' "),
      (#"permcheck explain "/etc/hostn\#t"#, #"permcheck explain "/etc/hostname" "#),
    ]
    let answers = try installed.answers(of: shell, to: lines.map(\.0))
    for (line, answer) in zip(lines, answers) {
      // fish answers with the word alone.
      let words = line.1.split(separator: " ").map(String.init)
      let word = words.last?.filter { !"\"'".contains($0) } ?? ""
      // zsh leaves out quotes that the path does not need.
      let plain = shell == "zsh" ? words.dropLast() + [word] : words
      #expect(answer == words || answer == (shell == "fish" ? [word] : plain), "\(line): \(answer)")
    }
  }

  /// Every option of every command is offered, and so is a value of each but of durations.
  @Test(arguments: Effort.some(shells, of: "CompletionTests", atLeast: 1))
  func `Every option is offered`(
    _ shell: String
  ) throws {
    let installed = try Installed()
    var (options, values): ([String], [String]) = ([], [])
    for command in ["check", "explain"] + FastArguments.others where command != "help" {
      // The help names every option after the usage, and describes all with those that are hidden elsewhere.
      let text = try Command.permcheck([command, "--help"]).output
      let named = text.split(separator: "\nUSAGE:").last?.split { " ,;\n".contains($0) } ?? []
      let help = try Command.permcheck([command, "--help-hidden"]).output
      for match in help.matches(of: /(?m)^  (-\w, )?(--[a-z-]+)(?: <([^>]*)>)?/) {
        let short = match.1?.dropLast(2) ?? match.2
        guard named.contains(match.2) || named.contains(short) else { continue }
        options.append("permcheck \(command) \(match.2)")
        guard let value = match.3, value != "duration", value != "id" else { continue }
        values.append("permcheck \(command) \(match.2) ")
      }
    }
    // Without its last letter --groups is another option.
    let all = Set(options)
    options.removeAll { all.contains(String($0.dropLast())) }
    try #require(options.count > 100 && values.count > 60)
    if !Effort.isFull {
      options = options.indices.filter { $0 % 48 == 0 }.map { options[$0] }
      values = values.indices.filter { $0 % 48 == 0 }.map { values[$0] }
    }
    let answers = try installed.answers(
      of: shell, to: options.map { String($0.dropLast()) } + values)
    for (line, answer) in zip(options, answers) {
      #expect(answer.contains { line.hasSuffix(" " + $0) }, "\(line): \(answer)")
    }
    for (line, answer) in zip(values, answers.dropFirst(options.count)) {
      #expect(!answer.isEmpty, "\(line)")
      #expect(!answer.contains { $0.hasPrefix("-") }, "\(line): \(answer)")
    }
  }

  @Test func `Completions are removed with the tool`() throws {
    let installed = try Installed()
    let files = [
      "bash-completion/completions/permcheck", "zsh/site-functions/_permcheck",
      "fish/vendor_completions.d/permcheck.fish",
    ].map { "\(installed.prefix)/share/\($0)" }
    for file in files { #expect(FileManager.default.fileExists(atPath: file), "\(file)") }
    let outcome = try installed.install("--remove")
    #expect(outcome.status == 0, "\(outcome.errors)")
    for file in files { #expect(!FileManager.default.fileExists(atPath: file), "\(file)") }
  }

  /// Without a shell's name it is that of SHELL; what is none is a wrong use.
  @Test func `The script is that of the user's shell`() throws {
    let option = "--generate-completion-script"
    for shell in ["bash", "zsh", "fish"] {
      let named = try Command.permcheck([option, shell])
      #expect(named.status == 0 && named.output.contains("__permcheck_"))
      #expect(try Command.permcheck(["\(option)=\(shell)"]).output == named.output)
      let own = try Command.permcheck([option], environment: ["SHELL": "/usr/bin/\(shell)"])
      #expect(own.output == named.output)
    }
    #expect(try Command.permcheck([option, "tcsh"]).status == 64)
    #expect(try Command.permcheck([option], environment: ["SHELL": "/bin/tcsh"]).status == 64)
  }
}
