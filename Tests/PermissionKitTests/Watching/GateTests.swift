import Dispatch
import PermissionKitTesting
import Synchronization
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// An accessor whose request ends when the test lets it.
final class HeldAccessor: PermissionAccessor {
  final class Hold: Sendable {
    let requests = Mutex(0)
    let checks = Mutex(0)
    let granted = Mutex(false)
    let release = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)

    func wait(for signal: DispatchSemaphore, _ what: String) {
      // Beside all other tests a thread of the cooperative pool may be free only after minutes.
      if signal.wait(timeout: .now() + 1200) == .timedOut {
        Issue.record("waited 20 minutes in vain for \(what)")
      }
    }
  }

  let hold: Hold

  init(_ hold: Hold) {
    self.hold = hold
    super.init(name: "held", analytics: .discard)
  }

  override func checkAccess() -> AccessReport {
    hold.checks.withLock { $0 += 1 }
    let granted = hold.granted.withLock { $0 }
    return AccessReport(
      accessor: name, status: granted ? .authorized : .denied, isRequestable: !granted)
  }

  override func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
    hold.requests.withLock { $0 += 1 }
    hold.begun.signal()
    hold.wait(for: hold.release, "the release of the request")
    hold.granted.withLock { $0 = true }
    return report
  }
}

@Suite struct GateTests {
  @Test func `Fifty requests ask once`() async throws {
    let hold = HeldAccessor.Hold()
    let gate = PermissionGate { HeldAccessor(hold) }
    let statuses = try await withThrowingTaskGroup(of: AuthorizationStatus.self) { group in
      for _ in 0..<50 {
        group.addTask { try await gate.requestAccessIfNeeded().status }
      }
      // The request is under way and blocks: the gate must still answer, and the others join.
      group.addTask {
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            hold.wait(for: hold.begun, "the request to begin")
            continuation.resume()
          }
        }
        for _ in 0..<1000 {
          #expect(await gate.current == .requesting)
          await Task.yield()
        }
        hold.release.signal()
        return .authorized
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == Array(repeating: .authorized, count: 51))
    #expect(hold.requests.withLock { $0 } == 1)
    #expect(await gate.current == .authorized)
  }

  @Test func `Changes are published`() async throws {
    let hold = HeldAccessor.Hold()
    hold.release.signal()
    let gate = PermissionGate { HeldAccessor(hold) }
    let changes = await gate.changes()
    _ = await gate.check()
    _ = try await gate.requestAccessIfNeeded()
    await gate.invalidate()
    var seen: [AuthorizationStateKind] = []
    for await change in changes {
      seen.append(change.to)
      if seen.count == 4 { break }
    }
    #expect(seen == [.denied, .requesting, .authorized, .unchecked])
  }

  @Test func `A request that cannot help only checks`() async throws {
    let gate = PermissionGate { PermissionAccessor(name: "base", analytics: .discard) }
    #expect(try await gate.requestAccessIfNeeded().status == .notDetermined)
    #expect(await gate.current == .notDetermined)
    #expect(await gate.report?.accessor == "base")
  }

  /// A camera that one change would open, and a person who thinks about it until the test lets them agree.
  static func camera(_ hold: HeldAccessor.Hold) -> CameraAccessor {
    let system = FakeSystem(credentials: .init(uid: 0, gid: 0, groups: []))
    system.addCamera(mode: 0o600)
    system.addUser(UserRecord(name: "ada", uid: 1000, gid: 1000, home: "/home/ada"))
    let context = try? AccessContext(for: .user("ada"), system: system)
    let camera = CameraAccessor(context ?? AccessContext(), analytics: .discard)
    camera.grants.consent = { (_: GrantPlan) throws(PermissionError) -> Bool in
      hold.requests.withLock { $0 += 1 }
      hold.begun.signal()
      hold.wait(for: hold.release, "the person who agrees")
      return true
    }
    return camera
  }

  @Test func `A cancelled request waits no longer and changes nothing`() async throws {
    let hold = HeldAccessor.Hold()
    let gate = PermissionGate { Self.camera(hold) }
    let task = Task { try await gate.requestAccessIfNeeded() }
    await Self.signal(hold.begun, hold)
    task.cancel()
    // The person has not answered yet, so only the cancellation can end this.
    await #expect(throws: PermissionError.withdrawn) { try await task.value }
    #expect(await gate.current != .requesting)
    hold.release.signal()
    #expect(await gate.check().status == .denied)
  }

  @Test func `The remaining callers still get the answer`() async throws {
    let hold = HeldAccessor.Hold()
    let gate = PermissionGate { Self.camera(hold) }
    let first = Task { try await gate.requestAccessIfNeeded() }
    await Self.signal(hold.begun, hold)
    let second = Task { try await gate.requestAccessIfNeeded() }
    while await gate.waiting < 2 { await Task.yield() }
    first.cancel()
    await #expect(throws: PermissionError.self) { try await first.value }
    hold.release.signal()
    #expect(try await second.value.status == .authorized)
    #expect(hold.requests.withLock { $0 } == 1)
  }

  @Test func `A request has a time limit`() async throws {
    let hold = HeldAccessor.Hold()
    let gate = PermissionGate { Self.camera(hold) }
    await #expect(throws: PermissionError.withdrawn) {
      try await gate.requestAccessIfNeeded(within: .milliseconds(50))
    }
    hold.release.signal()
    #expect(await gate.check().status == .denied)
    // The next one is asked anew.
    hold.release.signal()
    #expect(try await gate.requestAccessIfNeeded(within: .seconds(60)).isGranted)
  }

  @Test func `A change that has begun is waited for`() async throws {
    /// Begins its change, then lets the test look.
    final class Slow: PermissionAccessor {
      let hold: HeldAccessor.Hold
      init(_ hold: HeldAccessor.Hold) {
        self.hold = hold
        super.init(name: "slow", analytics: .discard)
      }
      override func checkAccess() -> AccessReport {
        let isGranted = hold.granted.withLock { $0 }
        return AccessReport(
          accessor: name, status: isGranted ? .authorized : .denied, message: "the door is closed",
          isRequestable: !isGranted)
      }
      override func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
        try beginChange()
        hold.begun.signal()
        hold.wait(for: hold.release, "the end of the change")
        hold.granted.withLock { $0 = true }
        return report
      }
    }
    let hold = HeldAccessor.Hold()
    let gate = PermissionGate { Slow(hold) }
    let task = Task { try await gate.requestAccessIfNeeded() }
    await Self.signal(hold.begun, hold)
    task.cancel()
    await Task.yield()
    #expect(await gate.current == .requesting)
    hold.release.signal()
    #expect(try await task.value.isGranted)
  }

  @Test func `The checks of many tasks are one check`() async throws {
    let hold = HeldAccessor.Hold()
    let release = DispatchSemaphore(value: 0)
    final class Slow: PermissionAccessor {
      let (hold, release): (HeldAccessor.Hold, DispatchSemaphore)
      init(_ hold: HeldAccessor.Hold, _ release: DispatchSemaphore) {
        (self.hold, self.release) = (hold, release)
        super.init(name: "slow", analytics: .discard)
      }
      override func checkAccess() -> AccessReport {
        hold.checks.withLock { $0 += 1 }
        hold.begun.signal()
        hold.wait(for: release, "the end of the check")
        return AccessReport(accessor: name, status: .authorized)
      }
    }
    let gate = PermissionGate { Slow(hold, release) }
    let first = Task { await gate.check() }
    await Self.signal(hold.begun, hold)
    let others = (0..<50).map { _ in Task { await gate.check() } }
    while await gate.waiting < 51 { await Task.yield() }
    release.signal()
    #expect(await first.value.isGranted)
    for other in others { #expect(await other.value.isGranted) }
    #expect(hold.checks.withLock { $0 } == 1)
  }

  @Test func `The error of a factory is reported, and the factory is called again`() async throws {
    let tries = Mutex(0)
    let failure = PermissionError(.unknownUser, "there is no user nobody-here")
    let gate = PermissionGate { () throws(PermissionError) -> PermissionAccessor in
      let count = tries.withLock { tries in
        tries += 1
        return tries
      }
      if count < 3 { throw failure }
      return ScriptedAccessor([.authorized], log: .discard)
    }
    let report = await gate.check()
    #expect(report.status == .notDetermined && !report.isGranted)
    #expect(report.mainReason?.message == failure.description)
    await #expect(throws: failure) { try await gate.requestAccessIfNeeded() }
    #expect(await gate.check().isGranted)
  }

  @Test func `A late subscriber gets the present state`() async throws {
    let gate = PermissionGate { ScriptedAccessor([.denied], log: .discard) }
    let report = await gate.check()
    var changes = await gate.changes().makeAsyncIterator()
    let first = await changes.next()
    #expect(first?.from == .denied && first?.to == .denied && first?.report == report)
  }

  @Test func `The default consent never asks at the terminal`() async throws {
    let system = FakeSystem(credentials: .init(uid: 0, gid: 0, groups: []))
    system.addCamera(mode: 0o600)
    system.addUser(UserRecord(name: "ada", uid: 1000, gid: 1000, home: "/home/ada"))
    let context = try AccessContext(for: .user("ada"), system: system)
    let gate = PermissionGate { CameraAccessor(context, analytics: .discard) }
    #expect(try await gate.requestAccessIfNeeded().requestOutcome == .declined)
    #expect(GrantOptions().consent == nil)
  }

  /// Waits for a signal without blocking a thread of the cooperative pool.
  private static func signal(_ semaphore: DispatchSemaphore, _ hold: HeldAccessor.Hold) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        hold.wait(for: semaphore, "a signal")
        continuation.resume()
      }
    }
  }
}
