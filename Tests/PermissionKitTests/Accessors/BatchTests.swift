import Glibc
import PermissionKit
import PermissionKitTesting
import Synchronization
import Testing

/// What a batch told of its progress, in order.
private final class Notes: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ progress: BatchProgress) {
    let status = progress.status.map { " \($0.rawValue)" } ?? ""
    lines.withLock { $0.append("\(progress)\(status) \(progress.granted)+\(progress.refused)") }
  }

  var all: [String] { lines.withLock { $0 } }
}

/// A strategy of somebody else's: the last accessor first.
private struct BackwardsBatch: BatchStrategy {
  func run(_ steps: BatchSteps) { for index in (0..<steps.count).reversed() { steps.run(index) } }
}

/// A strategy that runs the first accessor again and again, and no other.
private struct StutteringBatch: BatchStrategy {
  func run(_ steps: BatchSteps) {
    for _ in 0..<steps.count { steps.run(0) }
  }
}

@Suite struct BatchTests {
  private static func batch(
    _ statuses: [AuthorizationStatus], _ strategy: any BatchStrategy = .sequential
  ) -> AccessBatch {
    var batch = AccessBatch(strategy)
    for (index, status) in statuses.enumerated() {
      batch.add(index == 0 ? nil : "number \(index + 1)") { ScriptedAccessor([status]) }
    }
    return batch
  }

  @Test func `The sequential strategy runs all accessors in order`() throws {
    let notes = Notes()
    let result = try Self.batch([.authorized, .denied, .unavailable]).check { notes.add($0) }
    #expect(result.reports.map(\.status) == [.authorized, .denied, .unavailable])
    #expect((result.granted, result.refused, result.count) == (1, 1, 3))
    #expect(!result.isGranted)
    #expect(
      notes.all == [
        "1/3 scripted 0+0", "1/3 scripted authorized 1+0", "2/3 number 2 1+0",
        "2/3 number 2 denied 1+1", "3/3 number 3 1+1", "3/3 number 3 unavailable 1+1",
      ])
  }

  @Test func `The fail-fast strategy ends with the first refusal`()
    throws
  {
    let batch = Self.batch([.authorized, .limited, .unavailable, .authorized], .failFast)
    let result = try batch.check()
    #expect(result.reports.map(\.status) == [.authorized, .limited, .unavailable])
    #expect((result.granted, result.refused, result.count) == (2, 0, 4))
  }

  @Test func `A step runs once and is counted once`() throws {
    let notes = Notes()
    let result = try Self.batch([.authorized, .denied], StutteringBatch()).check { notes.add($0) }
    #expect(result.reports.map(\.status) == [.authorized])
    #expect((result.granted, result.refused, result.count) == (1, 0, 2))
    #expect(!result.isGranted)
    #expect(notes.all == ["1/2 scripted 0+0", "1/2 scripted authorized 1+0"])
  }

  @Test func `The strategy is exchanged between runs`() throws {
    var batch = Self.batch([.denied, .authorized], .failFast)
    #expect(try batch.check().reports.count == 1)
    batch.strategy = .concurrent
    #expect(try batch.check().reports.map(\.status) == [.denied, .authorized])
    let notes = Notes()
    batch.strategy = BackwardsBatch()
    #expect(try batch.check { notes.add($0) }.reports.map(\.status) == [.denied, .authorized])
    #expect(notes.all.first == "1/2 number 2 0+0")
  }

  @Test(arguments: [1, 2, 3, 16]) func `The concurrent strategy runs each accessor once`(
    threads: Int
  ) throws {
    let statuses = (0..<100).map { AuthorizationStatus.allCases[$0 % 6] }
    let notes = Notes()
    let batch = Self.batch(statuses, ConcurrentBatch(threads: threads))
    let result = try batch.check { notes.add($0) }
    #expect(result.reports.map(\.status) == statuses)
    #expect(notes.all.count == 200)
    #expect(notes.all.count { $0.hasPrefix("100/100 ") } == 2)
    #expect(result.granted == statuses.count { $0 == .authorized || $0 == .limited })
    #expect(result.refused == statuses.count { $0 == .denied || $0 == .restricted })
  }

  /// An accessor that waits in its check until another one is checked, too.
  final class Meeting: PermissionAccessor {
    private let present: Present

    final class Present: Sendable {
      let count = Atomic(0)
    }

    init(_ present: Present) {
      self.present = present
      super.init(name: "meeting", analytics: .inMemory)
    }

    override func checkAccess() -> AccessReport {
      present.count.add(1, ordering: .sequentiallyConsistent)
      let end = ContinuousClock.now + .seconds(60)
      while present.count.load(ordering: .sequentiallyConsistent) < 2 {
        guard ContinuousClock.now < end else {
          Issue.record("the other check did not begin within 60 s")
          return AccessReport(accessor: name, status: .notDetermined)
        }
        usleep(1000)
      }
      return AccessReport(accessor: name, status: .authorized)
    }
  }

  @Test func `Concurrent checks run at the same time`() throws {
    let present = Meeting.Present()
    var batch = AccessBatch(ConcurrentBatch(threads: 2))
    for _ in 0..<2 { batch.add { Meeting(present) } }
    #expect(try batch.check().isGranted)
  }

  /// An accessor whose request notes how many others ask at the same time.
  final class Asking: PermissionAccessor {
    private var isGranted = false

    final class Count: Sendable {
      let values = Mutex((now: 0, most: 0, total: 0))
    }

    private let count: Count

    init(_ count: Count) {
      self.count = count
      super.init(name: "asking", analytics: .inMemory)
    }

    override func checkAccess() -> AccessReport {
      AccessReport(
        accessor: name, status: isGranted ? .authorized : .denied, isRequestable: !isGranted)
    }

    override func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
      count.values.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        $0.total += 1
      }
      for _ in 0..<1000 { _ = analytics.loggedEventsOrNone }
      count.values.withLock { $0.now -= 1 }
      isGranted = true
      return report
    }
  }

  @Test func `Requests wait for one another`() throws {
    let count = Asking.Count()
    var batch = AccessBatch(ConcurrentBatch(threads: 8))
    for _ in 0..<24 { batch.add { Asking(count) } }
    let result = try batch.requestAccessIfNeeded()
    #expect(result.isGranted && result.granted == 24)
    #expect(count.values.withLock { $0.most } == 1)
    #expect(count.values.withLock { $0.total } == 24)
  }

  @Test(arguments: [0, 1, 2]) func `An error ends the batch`(
    _ strategy: Int
  ) throws {
    let strategies: [any BatchStrategy] = [.sequential, .failFast, .concurrent]
    let failure = PermissionError(.changeFailed, "no")
    var batch = AccessBatch(strategies[strategy])
    let isLaterAsked = Flag()
    batch.add { ScriptedAccessor([.denied], isRequestable: true, failure: failure) }
    if strategy < 2 {
      batch.add { () throws(PermissionError) -> PermissionAccessor in
        isLaterAsked.set()
        throw PermissionError(.invalidArgument, "never asked")
      }
    }
    #expect(throws: failure) { try batch.requestAccessIfNeeded() }
    #expect(!isLaterAsked.isSet)
  }

  @Test func `An empty batch is not granted`() throws {
    for strategy in [.sequential, .failFast, .concurrent] as [any BatchStrategy] {
      let result = try AccessBatch(strategy).check()
      #expect(!result.isGranted && result.count == 0 && result.reports.isEmpty)
    }
  }

  @Test func `Titles are safe on a terminal`() throws {
    let notes = Notes()
    var batch = AccessBatch()
    batch.add("\u{1b}[31mred\n") { ScriptedAccessor([.denied]) }
    _ = try batch.check { notes.add($0) }
    #expect(notes.all.allSatisfy { !$0.contains("\u{1b}") && !$0.contains("\n") })
  }
}

private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}

extension AnalyticsLog {
  /// Spends some time.
  fileprivate var loggedEventsOrNone: [AccessEvent] { (try? loggedEvents()) ?? [] }
}
