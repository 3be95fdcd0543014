import Foundation
import TestSupport
import Testing

/// The rules of the exit status: 1 before 2 before 3 before 0.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct ExitStatusTests {
  /// Arguments that get each exit status on the machine of `tree`.
  func question(_ status: Int32, _ tree: Tree) -> String {
    switch status {
    case 0: tree.path("yes")
    case 1: tree.path("no")
    case 2: "photos"
    default: "camera=/dev/video250"
    }
  }

  func tree() throws -> Tree {
    let tree = try Tree()
    try tree.home("this is no list of folders\n")
    try tree.device("yes", mode: 0o666)
    try tree.device("no", mode: 0o600)
    return tree
  }

  static let mixes: [(statuses: [Int32], exit: Int32)] = [
    ([0], 0), ([1], 1), ([2], 2), ([3], 3), ([0, 0], 0), ([0, 1], 1), ([0, 2], 2), ([0, 3], 3),
    ([1, 2], 1), ([1, 3], 1), ([2, 3], 2), ([0, 1, 2], 1), ([0, 2, 3], 2), ([1, 2, 3], 1),
    ([0, 1, 2, 3], 1), ([3, 3], 3),
  ]

  @Test(arguments: Effort.some(Array(mixes.indices), of: "ExitStatusTests The decides", atLeast: 4))
  func `The worst status decides`(_ index: Int) throws {
    let tree = try tree()
    let (statuses, exit) = Self.mixes[index]
    for order in [statuses, statuses.reversed()] {
      for more in [[], ["--all"], ["-q"], ["--json"], ["--skip-unavailable"]] {
        let outcome = try Command.permcheck(
          order.map { question($0, tree) } + more, environment: tree.homeEnvironment, as: stranger)
        let skipped = exit == 3 ? (statuses.contains(0) ? 0 : 77) : exit
        #expect(outcome.status == (more == ["--skip-unavailable"] ? skipped : exit))
        #expect(outcome.errors.isEmpty)
        if more == ["--json"] { _ = try outcome.document() }
      }
    }
  }

  @Test func `Limited is enough unless all is wanted`() throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.camera(1, mode: 0o600)
    let arguments = ["camera", "--root", tree.root]
    #expect(
      try Command.permcheck(arguments + ["--json"], as: stranger).report().status == "limited")
    #expect(try Command.permcheck(arguments, as: stranger).status == 0)
    #expect(try Command.permcheck(arguments + ["--all"], as: stranger).status == 1)
    #expect(try Command.permcheck(arguments + ["--all"]).status == 0)
    let folder = try Tree()
    #expect(try Command.permcheck(["photos=\(folder.root)"], as: stranger).status == 0)
    #expect(try Command.permcheck(["photos=\(folder.root)", "--all"], as: stranger).status == 1)
    let limited = try Command.permcheck(["photos=\(folder.root)", "--json"], as: stranger)
    #expect(try limited.report().status == "limited")
  }

  /// A camera that is granted and one that cannot be used for want of a driver.
  @Test func `--all requires every camera`() throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.camera(1, mode: nil)
    try tree.device("dev/video1", 81, 201, mode: 0o666)
    #expect(try Command.permcheck(["camera", "--root", tree.root], as: stranger).status == 0)
    let all = try Command.permcheck(["camera", "--all", "--root", tree.root], as: stranger)
    #expect(all.status == 1)
  }

  @Test(
    arguments: Effort.some(
      ["camera=/none", "photos=/none", "camera=/etc/passwd", "mic=/dev/snd"],
      of: "ExitStatusTests A status", atLeast: 2))
  func `A missing path has an exit status`(_ argument: String) throws {
    for command in ["check", "watch"] {
      let end = command == "watch" ? ["--for", "0.1"] : []
      #expect(try Command.permcheck([command, argument] + end).status == 3)
      #expect(try Command.permcheck([command, argument, "--skip-unavailable"] + end).status == 3)
    }
  }

  @Test func `An ignored device is still shown`() throws {
    for format in ["human", "plain", "json"] {
      let outcome = try Command.permcheck(
        ["camera=/dev/video250", "--skip-unavailable", "--format", format])
      #expect(outcome.status == 77)
      #expect(outcome.output.contains("camera") && outcome.output.contains("unavailable"))
    }
  }

  @Test func `A read-only mount is restricted`() throws {
    let script = """
      mount -t tmpfs -o mode=777 none /mnt && mknod -m 666 /mnt/node c 1 3 &&
      mount -o remount,ro,nodev,bind /mnt || exit 99
      exec setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=-all "$0" "$@"
      """
    let ask = { (arguments: [String]) in
      try Command.run(["unshare", "--mount", "sh", "-c", script, Command.permcheck] + arguments)
    }
    for (question, code) in [
      (["photos=/mnt", "--need", "w"], "read-only-mount"), (["/mnt/node"], "nodev-mount"),
    ] {
      let outcome = try ask(question + ["--json"])
      #expect(outcome.status == 1)
      let report = try outcome.report()
      #expect(report.status == "restricted")
      #expect(report.requestable == false)
      #expect(report.codes == [code])
    }
    #expect(try ask(["photos=/mnt", "--need", "r"]).status == 0)
  }
}
