import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionKit

/// What is named as the cause of a change, from facts of two checks.
@Suite struct CauseFinderTests {
  static let node = "/dev/video0" as PathBytes

  static func facts(_ flags: MountFacts.Flags) throws -> AccessFacts {
    var reader = try FactsReader(WatcherTests.machine())
    reader.read(node)
    var facts = reader.facts
    for mount in facts.mounts.indices { facts.mounts[mount].flags = flags }
    return facts
  }

  /// The surroundings are read after the facts that were judged, and may have changed since.
  @Test func `The cause is found among the judged files`() throws {
    let (old, new) = (try Self.facts([]), try Self.facts(.noDevices))
    for surroundings in [old, new] {
      let finder = CauseFinder(old: .init([old, surroundings]), new: .init([new, new]))
      let found = finder.cause(of: [Self.node], not: [])
      #expect(found?.0 == .mount)
      #expect(found?.1 == "/")
    }
  }
}
