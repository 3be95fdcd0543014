import Foundation
import TestSupport
import Testing

/// What a terminal shows: at 60, 80 and 200 columns, in UTF-8 and without, with colours and without.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct TerminalTests {
  /// Runs a command on a terminal of this width.
  static let terminal = """
    import fcntl, os, pty, struct, sys, termios
    columns = int(sys.argv[1])
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
    screen = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        screen += part
    os.waitpid(pid, 0)
    sys.stdout.buffer.write(screen.replace(b"\\r\\n", b"\\n"))
    """

  struct Screen: CustomTestStringConvertible {
    let columns: Int
    let locale: String
    let hasColors: Bool
    var testDescription: String { "\(columns) \(locale) \(hasColors)" }
  }

  static let screens = [60, 80, 200].flatMap { columns in
    ["C.UTF-8", "C"].flatMap { locale in
      [true, false].map { Screen(columns: columns, locale: locale, hasColors: $0) }
    }
  }

  /// A machine with every status: two cameras, a microphone, folders and what is not there.
  static let questions = [
    ["camera", "mic", "photos"], ["camera", "-v"], ["photos=/none/there", "camera=/etc/passwd"],
    ["explain", "camera"],
  ]

  private static func show(
    _ arguments: [String], _ screen: Screen, _ tree: Tree
  ) throws -> String {
    let outcome = try Command.run(
      ["/usr/bin/python3", "-c", terminal, "\(screen.columns)", Command.permcheck]
        + arguments + ["--root", tree.root, "--uid", "54321", "--gid", "54321"],
      environment: [
        "LC_ALL": screen.locale, "TERM": "xterm-256color", "NO_COLOR": screen.hasColors ? nil : "1",
        "FORCE_COLOR": nil, "CLICOLOR": nil, "CLICOLOR_FORCE": nil, "HOME": "/home/tester",
      ])
    return outcome.output
  }

  private static func bare(_ text: String) -> String {
    text.replacing(/\u{1b}.[0-9;]*m/, with: "")
  }

  /// A command, a path or a tree may be wider than the terminal; sentences may not.
  private static func mayBeWide(_ line: String) -> Bool {
    let words = line.split(separator: " ")
    return line.contains("setfacl") || line.contains("├") || line.contains("└")
      || line.hasPrefix("|-") || line.hasPrefix("`-") || words.count < 4
      || words.contains { $0.count > 30 }
  }

  @Test(arguments: Effort.some(screens, of: "TerminalTests screens"))
  func `Every output fits the terminal`(
    _ screen: Screen
  ) throws {
    let tree = try SnapshotTests.laptop()
    for question in Self.questions {
      let shown = try Self.show(question, screen, tree)
      #expect(shown.contains("\u{1b}[") == screen.hasColors, "\(shown)")
      let text = Self.bare(shown)
      #expect(!text.isEmpty && !text.contains("\u{1b}"))
      if screen.locale == "C" { #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(text)") }
      for line in text.split(separator: "\n").map(String.init) where !Self.mayBeWide(line) {
        #expect(line.count <= screen.columns, "\(line)")
      }
      // A command is whole, alone on its line, whatever the width.
      for line in text.split(separator: "\n") where line.contains("setfacl") {
        #expect(
          line.wholeMatch(of: /\s+(\d+\. )?(sudo )?setfacl (-P )?-n (-m|-x|--set) \S+ \S+/) != nil,
          "\(line)")
      }
      // Colours add nothing else.
      let other = Screen(
        columns: screen.columns, locale: screen.locale, hasColors: !screen.hasColors)
      #expect(Self.bare(try Self.show(question, other, tree)) == text)
    }
  }

  @Test(arguments: [60, 80])
  func `Sentences of a plan and warnings are wrapped at blanks`(_ columns: Int) throws {
    let journal = PrivateJournal(environment: ["TERMINAL": Self.terminal, "NO_COLOR": "1"])
    let text = try journal.expect(
      """
      A=/var/lib/album; mkdir -p $A; chmod 700 $A
      export SUDO_USER=a-user-with-a-name
      for option in --dry-run --yes; do
        /usr/bin/python3 -c "$TERMINAL" \(columns) $P request $A --need rx --user daemon --for 2h $option
      done
      /usr/bin/python3 -c "$TERMINAL" \(columns) $P check $A --need rx
      """)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(
      lines.allSatisfy {
        $0.count <= columns || $0.contains("setfacl") || $0.contains("--request")
      }, "\(text)")
    let words = text.split { " \n".contains($0) }.joined(separator: " ")
    for part in [
      "the next request or permcheck revoke --expired then ends it others: nobody else gets access",
      "permcheck: warning: checking as root; use --user a-user-with-a-name to check a-user-with-a-name",
    ] {
      #expect(words.contains(part), "\(text)")
    }
  }

  @Test(arguments: Effort.some([60, 80, 200], of: "TerminalTests A terminal", atLeast: 1))
  func `A list of grants fits the terminal`(_ columns: Int) throws {
    let journal = PrivateJournal(environment: ["TERMINAL": Self.terminal])
    let text = try journal.expect(
      """
      A=/var/lib/pictures-of-a-year; mkdir -p $A; chmod 700 $A
      $P request photos=$A --need rx --user daemon --for 2h --yes >/dev/null
      /usr/bin/python3 -c "$TERMINAL" \(columns) $P list --grants
      """)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.count == (columns == 200 ? 1 : 4), "\(text)")
    #expect(lines.allSatisfy { $0.count <= columns }, "\(text)")
    for part in ["photos", "daemon", "/var/lib/pictures-of-a-year", "user:daemon", "until 20"] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test(
    arguments: Effort.some(
      [
        ("FORCE_COLOR", "1", true), ("CLICOLOR_FORCE", "1", true), ("FORCE_COLOR", "0", false),
        ("CLICOLOR_FORCE", "0", false), ("FORCE_COLOR", "", false),
      ], of: "TerminalTests Colours forced", atLeast: 2)) func `Colours can be forced`(
      _ name: String, _ value: String, _ hasColors: Bool
    ) throws
  {
    let tree = try Tree()
    let clean: [String: String?] = ["NO_COLOR": nil, "FORCE_COLOR": nil, "CLICOLOR_FORCE": nil]
    let outcome = try Command.permcheck(
      ["camera", "--root", tree.root], environment: clean.merging([name: value]) { $1 })
    #expect(outcome.output.contains("\u{1b}[") == hasColors)
    // NO_COLOR is stronger, and the option is stronger than both.
    let none = try Command.permcheck(
      ["camera", "--root", tree.root],
      environment: clean.merging([name: value, "NO_COLOR": "1"]) { $1 })
    #expect(!none.output.contains("\u{1b}["))
    let always = try Command.permcheck(
      ["camera", "--root", tree.root, "--color", "always"],
      environment: clean.merging([name: value, "NO_COLOR": "1"]) { $1 })
    #expect(always.output.contains("\u{1b}["))
  }
}
