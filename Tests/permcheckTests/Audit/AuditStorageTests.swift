import Foundation
import TestSupport
import Testing

/// permcheck audit, held to find(1) on large trees of the usual file systems.
@Suite(.blocking, .serialized, .enabled(if: Kernel.canAsk, "needs root, to run as other users"))
struct AuditStorageTests {
  static let program = Checkout.path("Tests/permcheckTests/Storage/storage.py")

  @Test(
    arguments: Effort.isFull ? ["tmpfs", "ext4", "xfs", "btrfs", "overlay"] : ["ext4", "overlay"])
  func `The list is that of find`(_ type: String) throws {
    let tree = try Tree()
    let outcome = try Command.run([
      "unshare", "--mount", "/usr/bin/python3", Self.program, type, tree.root, Command.permcheck,
      "\(Effort.of(20_000, atLeast: 1_000))", "\(Effort.seed)",
    ])
    #expect(outcome.status == 0 && outcome.output.contains(" 27 lists, "), "\(outcome)")
    #expect(outcome.output.contains(", 0 differ\n"), "\(outcome)")
    print(outcome.output, terminator: "")
  }
}
