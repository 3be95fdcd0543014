import Foundation
import Glibc
import TestSupport
import Testing

/// `permcheck check --wait`.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct WaitTests {
  /// Starts a check that waits, and lets the test go on once it does.
  func waiting(_ arguments: [String], as account: Account? = stranger) throws -> LiveCommand {
    let command = try LiveCommand([Command.permcheck] + arguments, as: account)
    // It waits once it has an inotify descriptor and sleeps.
    for _ in 0..<10_000 {
      let folder = "/proc/\(command.pid)/fd"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let links = names.map {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) ?? ""
      }
      if links.contains("anon_inode:inotify") { break }
      usleep(1000)
    }
    return command
  }

  @Test func `A wait ends when a node appears`() throws {
    let tree = try Tree()
    let command = try waiting([tree.path("node"), "--wait", "60", "--json"])
    // As udev does: the node first, then who may use it.
    try tree.device("node", mode: 0o600)
    try tree.mode("node", 0o666)
    let outcome = try command.finish(within: 50)
    #expect(outcome.status == 0)
    #expect(try outcome.report().status == "authorized")
  }

  @Test func `Folders of the path may be missing`() throws {
    let tree = try Tree()
    let folder = try waiting(["photos=\(tree.path("a/b/c"))", "--need", "r", "--wait", "60"])
    try tree.folder("a/b/c")
    #expect(try folder.finish(within: 50).status == 0)
  }

  @Test func `After the time the answer is that of a check`() throws {
    let tree = try Tree()
    try tree.home("this is no list of folders\n")
    try tree.device("no", mode: 0o600)
    for (question, status) in [
      (tree.path("no"), 1), ("photos", 2), ("mic=\(tree.path("missing"))", 3),
    ] as [(String, Int32)] {
      let outcome = try Command.permcheck(
        [question, "--wait", "0.2"], environment: tree.homeEnvironment, as: stranger)
      let usual = try Command.permcheck([question], environment: tree.homeEnvironment, as: stranger)
      #expect(outcome.status == status && usual.status == status)
      #expect(outcome.output == usual.output && outcome.errors.isEmpty)
    }
  }

  /// With --all one camera is not enough to wait no longer.
  @Test func `--all waits for every device`() throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.camera(1, mode: 0o600)
    #expect(
      try Command.permcheck(["camera", "--root", tree.root, "--wait", "60"], as: stranger).status
        == 0)
    let command = try waiting(["camera", "--root", tree.root, "--all", "--wait", "60"])
    try tree.mode("dev/video1", 0o666)
    #expect(try command.finish(within: 50).status == 0)
  }
}
