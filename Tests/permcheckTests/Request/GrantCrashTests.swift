import Foundation
import TestSupport
import Testing

/// `request`, `revoke` and `run`, killed at each of their system calls, see crash-tracer.
///
/// Two inodes are changed: a folder with an ACL whose mask hides bits, and the folder above it, which
/// refuses search. Another user has a grant of both in the same journal.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GrantCrashTests {
  static let journal = "/var/lib/permcheck/grants.jsonl"

  /// Every call is tried, or a few of them.
  static let stride = ["-e", Effort.isFull ? "1" : "197"]

  /// What is killed, and what brings about the state before it.
  struct Scenario {
    let name: String
    let preparation: [String]
    let command: [String]
    var isTemporary = false
  }

  static let scenarios = [
    Scenario(name: "request", preparation: [], command: ["request", "--user", "games", "--yes"]),
    Scenario(
      name: "revoke", preparation: ["request", "--user", "games", "--yes"],
      command: ["revoke", "--user", "games"]),
    Scenario(
      name: "run", preparation: [], command: ["run", "--request", "--yes"],
      isTemporary: true),
  ]

  @Test(
    arguments: Effort.some(Array(scenarios.indices), of: "GrantCrashTests A nothing", atLeast: 1))
  func `A request killed at any call leaves nothing`(
    _ index: Int
  ) throws {
    let scenario = Self.scenarios[index]
    let tree = try Tree()
    try tree.folder("shut/album", mode: 0o750, uid: 8, gid: 8)
    try tree.folder("shut", mode: 0o700, uid: 8, gid: 8)
    try tree.setfacl(["-m", "u:7:rwx,g:7:rw,m:r"], "shut/album")
    let permcheck = Command.permcheck as String
    let photos = "photos=\(tree.path("shut/album"))"
    // Root lacks no access, so the owner of the folder is who runs a command.
    let owner = "/usr/bin/setpriv --reuid 8 --regid 8 --clear-groups"
    let state = "/usr/bin/env XDG_STATE_HOME=/var/lib/owner"
    let start = scenario.isTemporary ? "\(owner) \(state) \(permcheck)" : permcheck
    func line(_ words: [String]) -> String {
      let target = words[0] == "revoke" ? "photos" : photos
      let command = words[0] == "run" ? ["--", "/bin/true"] : []
      return ([start, words[0], target] + words.dropFirst() + command).joined(separator: " ")
    }
    var (setup, journal) = ("", Self.journal)
    if scenario.isTemporary {
      try tree.mode("shut/album", 0o050)
      setup = "mkdir -m 700 /var/lib/owner && chown 8:8 /var/lib/owner && "
      journal = "/var/lib/owner/permcheck/grants.jsonl"
    }
    setup += line(["request", "--user", "daemon", "--yes", "--quiet"])
    if !scenario.preparation.isEmpty { setup += " && " + line(scenario.preparation + ["--quiet"]) }
    let arguments = [
      Command.products.appending(path: "crash-tracer").path, "-s", setup,
      "-c", line(scenario.command), "-n", "\(start) revoke --expired",
      "-n", line(["request", "--user", "daemon", "--yes"]),
      "-l", "\(start) list --grants --format plain", "-r",
      line(["revoke", "--user", "daemon"]),
      "-j", journal, "-f", journal, "-w", tree.path("shut/album"), "-w",
      tree.path("shut"),
    ]
    let outcome = try Command.run(arguments + (scenario.isTemporary ? ["-b"] : []) + Self.stride)
    #expect(outcome.status == 0, "\(outcome.errors)\(outcome.output)")
    let calls = Int(outcome.output.prefix { $0 != " " }) ?? 0
    #expect(calls > 100, "\(outcome.errors)")
    print("crash: \(scenario.name): \(outcome.output)", terminator: "")
  }

  /// permcheck-helper, killed at each of its system calls, with another user's grant of the same camera.
  @Test(arguments: Effort.some(["grant", "revoke"], of: "GrantCrashTests A nothing", atLeast: 1))
  func `A helper killed at any call leaves nothing`(
    _ action: String
  ) throws {
    let permcheck = Command.permcheck as String
    let helper = Command.helper as String
    // One line for each word of the fixture's script: the tracer gives it to sh.
    var setup = AttackHelperTests.camera
    setup += "\n\(permcheck) request camera --user daemon --yes --quiet"
    if action == "revoke" { setup += "\n\(helper) grant camera >/dev/null" }
    // The journal, and what each user is shown of it.
    setup += """

      cat >/var/lib/list <<'END'
      #!/bin/sh
      \(permcheck) list --grants --format plain
      for uid in 1 5; do
        setpriv --reuid $uid --regid $uid --clear-groups env XDG_STATE_HOME=/nonexistent \
          \(permcheck) list --grants --format plain
      done
      END
      chmod 755 /var/lib/list
      """
    let outcome = try Command.run(
      [
        Command.products.appending(path: "crash-tracer").path, "-s", "set -e\n" + setup,
        "-c", "\(helper) \(action) camera", "-n", "\(permcheck) revoke --expired",
        "-n", "\(helper) revoke microphone", "-l", "/var/lib/list",
        "-r", "\(permcheck) revoke camera --user daemon", "-j", Self.journal, "-f", Self.journal,
        "-w", "/dev/video0",
      ] + Self.stride, environment: ["SUDO_UID": "5", "PKEXEC_UID": nil])
    #expect(outcome.status == 0, "\(outcome.errors)\(outcome.output)")
    #expect((Int(outcome.output.prefix { $0 != " " }) ?? 0) > 100, "\(outcome.errors)")
    print("crash: helper \(action): \(outcome.output)", terminator: "")
  }
}
