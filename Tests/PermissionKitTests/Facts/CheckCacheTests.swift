import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// What one command remembers.
@Suite(.blocking) struct CheckCacheTests {
  @Test func `The cache of a command ends with the command`() throws {
    for context in [
      AccessContext(), try AccessContext(for: .user("root")), try AccessContext(for: .process(1)),
    ] {
      weak var cache: CheckCache?
      do {
        var context = context
        let system = LinuxSystem.cached()
        context.system = system
        cache = system.cached
        for resource in [
          CameraAccessor(context, analytics: .inMemory),
          PhotoLibraryAccessor(context, analytics: .inMemory),
        ] as [PermissionAccessor] {
          #expect(resource.checkAccess().status != .notDetermined)
        }
        #expect(cache != nil)
      }
      #expect(cache == nil, "\(context.subject)")
    }
  }
}
