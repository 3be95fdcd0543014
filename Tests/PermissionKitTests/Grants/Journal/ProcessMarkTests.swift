import Glibc
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

@Suite(.blocking) struct ProcessMarkTests {
  /// A grant that lives as long as a process ends with it, whether or not its parent asks how.
  @Test func `A process that has ended has no mark`() throws {
    let system = LinuxSystem()
    #expect(system.mark(of: system.getpid()) != nil)
    let pid = try system.spawn(["sleep", "60"], output: Descriptor(rawValue: 1))
    #expect(system.mark(of: pid) != nil)
    try system.kill(pid, 9)
    let end = system.monotonic() + 60_000_000
    while system.mark(of: pid) != nil, system.monotonic() < end { usleep(1000) }
    #expect(system.mark(of: pid) == nil, "a process killed 60 s ago still counts as running")
    // It is still there, and nobody else has its number.
    #expect(throws: Never.self) { try system.status(of: PathBytes("/proc/\(pid)")) }
    #expect(try system.waitpid(pid, waits: true) == .signalled(9))
  }
}
