@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// How long a fix lasts, by the place of what it changes.
@Suite struct FixDurationTests {
  /// The fixes of a closed folder on a file system of its own.
  private func persistence(inContainer: Bool, _ fileSystem: String) throws -> [Persistence] {
    let system = RequestTests.system(uid: 0)
    if inContainer { system.add("/.dockerenv") }
    system.mount("/data", fileSystem)
    system.add("/data/closed", FakeNode(kind: .directory, mode: 0o700))
    var context = AccessContext(
      system: system, subject: try UserDatabase(system).subject(.user("ann")), probe: .none)
    context.path = "/data/closed"
    let report = PhotoLibraryAccessor(context, analytics: .inMemory).checkAccess()
    #expect(report.status == .denied)
    return report.remedies.map(\.persistence)
  }

  @Test func `On a tmpfs it ends with the machine, or with the container`() throws {
    #expect(try persistence(inContainer: false, "tmpfs") == [.untilReboot])
    #expect(try persistence(inContainer: true, "tmpfs") == [.untilContainerEnds])
    #expect(try persistence(inContainer: false, "ext4") == [.permanent])
  }
}
