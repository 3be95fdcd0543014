import Foundation
import PermissionKit
import TestSupport
import Testing

/// Rules of programs on owners and modes: `explain --as-used-by`, and plans after which a program refuses a file.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting and taking on other ids wants root"))
struct ProgramRuleTests {
  /// ssh-keygen and Python, and of sshd, logrotate and git those that are there.
  @Test func `Programs do what their rules say`() throws {
    try Command.expectNoneWrong("programs.py", Effort.of(40, atLeast: 8))
  }

  /// A key that ssh uses now: the plan says that it will not, and --yes alone changes nothing.
  @Test func `A request that breaks a program is refused until the program is named`() throws {
    let tree = try Tree()
    func run(_ script: String) throws -> Outcome {
      try Command.run(
        [
          "unshare", "--mount", "sh", "-uc",
          """
          mount -t tmpfs -o mode=755 none /srv; cd /srv; export PERMCHECK_LOG=none COLUMNS=400
          ssh-keygen -q -t ed25519 -N '' -f key; B="--uid 61004 --gid 61004"
          \(script)
          """, Command.permcheck,
        ], environment: tree.homeEnvironment)
    }
    let warning =
      "ssh then does not use the key (/srv/key: its group may read, mode 0640, where ACL entries count as the group); instead: a copy that belongs to the other user"
    let shown = try run("\"$0\" request /srv/key --need r $B --dry-run")
    #expect(shown.output.contains("  but: \(warning)\n"), "\(shown)")
    let fix = try run("\"$0\" explain /srv/key --need r $B")
    #expect(fix.output.contains("; nobody else gets access; but \(warning); "), "\(fix)")
    let refused = try run(
      "\"$0\" request /srv/key --need r $B --yes; echo $?; getfacl -cp key; ssh-keygen -y -f key >/dev/null; echo $?"
    )
    #expect(refused.output.contains("\n1\n") && refused.output.hasSuffix("\n0\n"), "\(refused)")
    #expect(!refused.output.contains("user:61004"), "\(refused)")
    #expect(
      refused.errors.contains(
        "nothing is changed, because \(warning); --despite ssh makes the change anyway"),
      "\(refused)")
    let made = try run(
      "\"$0\" request /srv/key --need r $B --yes --despite ssh; echo $?; ssh-keygen -y -f key; echo $?"
    )
    #expect(made.output.contains("\n0\n") && made.output.hasSuffix("\n255\n"), "\(made)")
    // Two questions at a terminal: the plan, and the program.
    for (answers, entries) in [("y\\ny\\n", 1), ("y\\nn\\n", 0), ("n\\n", 0)] {
      let asked = try run(
        "printf '\(answers)' | script -qec \"$0 request /srv/key --need r $B\" /dev/null >/dev/null; getfacl -cp key | grep -c user:61004"
      )
      #expect(asked.output == "\(entries)\n", "\(asked)")
    }
    let json = try run("\"$0\" request /srv/key --need r $B --dry-run --json")
    #expect(json.output.contains(#""objections":[{"instead":"#), "\(json)")
  }

  /// Documentation/programs.md is the table of the rules.
  @Test func `The page of programs is their table`() throws {
    var text = """
      # Programs with rules of their own

      Some programs refuse a file that the kernel lets them read, because others could change or read it.
      `permcheck explain FILE --as-used-by PROGRAM` says whether the program accepts the file, and the least `chmod`.
      An entry of an ACL shows as a permission of the group, see acl(5): a request after which a program refuses a file
      says so, and makes no change unless `--despite PROGRAM` accepts that. This page is made of `ProgramRules.all` by
      `ProgramRuleTests`; `Tests/permcheckTests/Runner/programs.py` asks ssh, sshd, logrotate, git and Python.

      | program | files | may not | owner | then it | source |
      |---|---|---|---|---|---|

      """
    text += ProgramRules.rows.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    let file = Checkout.file("Documentation/programs.md")
    if Variables.value("PERMCHECK_GOLDEN") == "write" { try Data(text.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }
}
