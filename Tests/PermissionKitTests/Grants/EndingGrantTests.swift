@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Synchronization
import TestSupport
import Testing

/// A request while an earlier grant, which gives the same access, comes to its end.
@Suite struct EndingGrantTests {
  /// A system in which something happens before the n-th file is opened, if no lock is held yet.
  private final class Interrupted: ForwardingSystem {
    private struct State {
      var opens = 0
      var isLocked = false
    }
    private let state = Mutex(State())
    private let number: Int
    private let happens: @Sendable () -> Void
    let base: any System

    init(_ base: any System, before number: Int, _ happens: @escaping @Sendable () -> Void) {
      (self.base, self.number, self.happens) = (base, number, happens)
    }

    func openat(
      _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
    ) throws(Errno) -> Descriptor {
      let isNow = state.withLock { state in
        state.opens += 1
        return state.opens == number && !state.isLocked
      }
      if isNow { happens() }
      return try base.openat(directory, path, flags, mode: mode)
    }
    func flock(_ descriptor: Descriptor) throws(Errno) {
      state.withLock { $0.isLocked = true }
      try base.flock(descriptor)
    }
    /// How many files were opened before the lock.
    var opens: Int { state.withLock(\.opens) }
  }

  /// Returns how often the request opened files, and whether the access that it reports is there.
  private func request(endingBefore number: Int) throws -> (opens: Int, isKept: Bool) {
    let system = RequestTests.system(uid: 0)
    let short = try RequestTests.camera(system, subject: "ann")
    short.grants.lifetime.expires = system.realtime() + 3_600_000_000
    #expect(try short.requestAccessIfNeeded().status == .authorized)

    let interrupted = Interrupted(system, before: number) {
      _ = try? GrantJournal.standard(system).undo { $0.lifetime.expires != nil }
    }
    var context = try RequestTests.context(system, subject: "ann")
    context.system = interrupted
    let long = RequestTests.asking(CameraAccessor(context, analytics: .inMemory))
    do {
      #expect(try long.requestAccessIfNeeded().status == .authorized)
    } catch {
      // What was agreed to, more time, is no longer what is needed; nobody is told anything else.
      #expect(error == .planChanged)
      return (interrupted.opens, true)
    }
    _ = try GrantJournal.standard(system).undo { $0.lifetime.expires != nil }
    return (
      interrupted.opens,
      try RequestTests.camera(system, subject: "ann").checkAccess().status == .authorized
    )
  }

  @Test func `Access that ends during a request is given again`() throws {
    let opens = try request(endingBefore: 0).opens
    #expect(opens > 5)
    for number in 0...opens {
      #expect(try request(endingBefore: number).isKept, "ended before open \(number) of \(opens)")
    }
  }
}
