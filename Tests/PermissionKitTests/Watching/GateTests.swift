import Dispatch
import PermissionKit
import Synchronization
import TestSupport
import Testing

/// An accessor whose request ends when the test lets it.
final class HeldAccessor: PermissionAccessor {
  final class Hold: Sendable {
    let requests = Mutex(0)
    let checks = Mutex(0)
    let granted = Mutex(false)
    let release = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)

    func wait(for signal: DispatchSemaphore, _ what: String) {
      if signal.wait(timeout: .now() + 60) == .timedOut {
        Issue.record("waited 60 s in vain for \(what)")
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
  @Test func `Fifty requests are one`() async throws {
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

  @Test func `What cannot be requested is checked`() async throws {
    let gate = PermissionGate { PermissionAccessor(name: "base", analytics: .discard) }
    #expect(try await gate.requestAccessIfNeeded().status == .notDetermined)
    #expect(await gate.current == .notDetermined)
    #expect(await gate.report?.accessor == "base")
  }
}
