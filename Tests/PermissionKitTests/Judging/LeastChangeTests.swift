import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// The smallest changes that give access.
@Suite struct LeastChangeTests {
  /// Two closed folders; what is in the second is immutable.
  private func least(_ path: PathBytes) throws -> LeastChange {
    let system = FakeSystem(user: "root")
    for folder: PathBytes in ["/shut", "/fixed"] {
      system.add(folder, FakeNode(kind: .directory, mode: 0o700))
      system.add(folder.appending("file"), FakeNode(mode: 0o600))
    }
    var node = FakeNode(mode: 0o600)
    node.isImmutable = true
    system.add("/fixed/file", node)
    var reader = try FactsReader(system)
    for path: PathBytes in ["/shut/file", "/fixed/file"] { _ = reader.read(path) }
    return LeastChange(
      facts: reader.facts, credentials: Credentials(uid: 1000, gid: 1000, groups: []))
  }

  @Test func `A change that does not lead to access is left out`() throws {
    var least = try least("/fixed/file")
    #expect(!least.grant(.read, path: "/fixed/file", isDirectory: false).isGranted)
    #expect(least.changes.isEmpty)
    // The folder alone would open it for nothing.
    #expect(least.grant(.read, path: "/shut/file", isDirectory: false).isGranted)
    #expect(least.changes.count == 2)
    #expect(!least.grant(.read, path: "/fixed/file", isDirectory: false).isGranted)
    #expect(least.changes.count == 2)
    let evaluator = AccessEvaluator(facts: least.facts, credentials: least.credentials)
    #expect(!evaluator.decide(.open(.path), path: "/fixed/file").isGranted)
  }

  @Test func `A path of very many closed folders is left alone`() throws {
    let system = FakeSystem(user: "root")
    var path: PathBytes = "/"
    for _ in 0..<70 {
      path = path.appending("d")
      system.add(path, FakeNode(kind: .directory, mode: 0o700))
    }
    var reader = try FactsReader(system)
    _ = reader.read(path)
    var least = LeastChange(
      facts: reader.facts, credentials: Credentials(uid: 1000, gid: 1000, groups: []))
    #expect(!least.grant(.read, path: path, isDirectory: true).isGranted)
    #expect(least.changes.isEmpty)
  }
}
