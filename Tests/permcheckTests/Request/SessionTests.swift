import Foundation
import TestSupport
import Testing

/// `permcheck run --user`: a command of another user, at a pseudo-terminal as somebody would have it.
///
/// Row 39 of SECURITY.md: the command has nothing of root's session.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "other ids want root"))
struct SessionTests {
  private static let script = Checkout.path("Tests/permcheckTests/Runner/session.py")

  private func play(_ scenario: String, _ run: [String]) throws {
    let outcome = try Command.run(
      [
        "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-euc",
        """
        mount -t tmpfs -o mode=755 none /mnt
        exec timeout -k 5 300 python3 "$@"
        """, "sh", Self.script, scenario,
      ] + run)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].hasSuffix(" looked at"), "\(outcome)")
  }

  private static let asOther = [
    Command.permcheck, "run", "/etc/passwd", "--uid", "4321", "--gid", "4321",
  ]

  @Test(
    arguments: Effort.some(
      [
        "attack-terminal", "attack-inherited", "attack-stopped", "attack-left", "attack-killed",
      ], of: "SessionTests Row back", atLeast: 1))
  func `Row 39: The command cannot reach back`(_ attack: String) throws {
    try play(attack, Self.asOther + ["--"])
  }

  @Test(
    arguments: Effort.some(
      ["keys", "programs", "pipes", "closed", "place"], of: "SessionTests A sudo", atLeast: 1))
  func `A command runs as under sudo`(_ scenario: String) throws {
    try play(scenario, Self.asOther + ["--"])
  }

  /// The grant ends with the command, however that ends.
  @Test(
    arguments: Effort.some(
      ["keys", "pipes", "attack-killed"], of: "SessionTests A access", atLeast: 1))
  func `A command with --request runs with access`(_ scenario: String) throws {
    let outcome = try Command.run(
      [
        "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-euc",
        """
        mount -t tmpfs -o mode=755 none /mnt
        mount -t tmpfs -o mode=755 none /var/lib
        mkdir /mnt/folder; chmod 700 /mnt/folder
        script=$1 scenario=$2 permcheck=$3
        timeout -k 5 300 python3 "$script" "$scenario" "$permcheck" run /mnt/folder --uid 4321 --gid 4321 \\
          --request --yes --quiet --
        for i in $(seq 100); do getfacl -cp /mnt/folder | grep -q 4321 || break; sleep 0.1; done
        getfacl -cp /mnt/folder | grep 4321 || true
        """, "sh", Self.script, scenario, Command.permcheck,
      ])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].hasSuffix(" looked at"), "\(outcome)")
  }

  @Test func `Variables are kept by name`() throws {
    let run = Self.asOther
    let environment: [String: String?] = [
      "FOO": "bar", "HOME": "/of-root", "LANG": "C", "BAR": nil,
    ]
    let outcome = try Command.run(
      run + ["--env", "FOO", "--env", "BAR", "--", "env"], environment: environment)
    let lines = Set(outcome.output.split(separator: "\n"))
    #expect(lines.isSuperset(of: ["FOO=bar", "HOME=/", "LANG=C", "USER=4321", "SHELL=/bin/sh"]))
    #expect(!lines.contains { $0.hasPrefix("BAR=") })
    let home = try Command.run(run + ["--env", "HOME", "--", "env"], environment: environment)
    #expect(home.output.contains("HOME=/of-root\n"))
    // What the message of the first advises.
    #expect(try Command.run(run + ["--", "env", "A=b", "env"]).output.contains("A=b\n"))
    for wrong in [["--env", "A=b"], ["--env", ""]] {
      #expect(try Command.run(run + wrong + ["--", "true"]).status == 64)
    }
    let own = try Command.permcheck(["run", "/etc/passwd", "--env", "FOO", "--", "true"])
    #expect(own.status == 64 && own.errors.contains("--env requires --user"))
  }
}
