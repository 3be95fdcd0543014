import Foundation
import Glibc
import Synchronization
package import Testing

/// Runs each test of a suite on a thread that may block.
///
/// Swift's own threads are as few as the cores. A test that waits for a command there keeps every
/// other test waiting too.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
  /// Whether the tests of nested suites block too.
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await withTaskExecutorPreference(BlockingThreads.shared) {
      // All tests begin at once and wait here for a thread, so the clock starts with the thread.
      let watch = HangWatch(test)
      defer { watch.end() }
      try await function()
    }
  }
}

/// Ends the run if a test never ends: what blocks cannot be cancelled.
private final class HangWatch: Sendable {
  /// The seconds that one test may work, with all the load of the others beside it; PERMISSIONKIT_LIMIT is
  /// another number, for tests that a sanitizer slows down.
  private static let limit =
    Variables.value("PERMISSIONKIT_LIMIT").flatMap(Double.init) ?? (Effort.isFull ? 1200 : 120)
  /// The tests that work, and those of them that hang.
  private static let working = Mutex<(count: Int, hanging: Int)>((0, 0))

  private let test: Test
  private let began = ContinuousClock.now
  private let isHanging = Mutex(false)

  init(_ test: Test) {
    self.test = test
    Self.working.withLock { $0.count += 1 }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.limit) { [weak self] in self?.report()
    }
  }

  func end() {
    let wasHanging = isHanging.withLock { $0 }
    Self.working.withLock {
      $0.count -= 1
      if wasHanging { $0.hanging -= 1 }
    }
    Self.log(test, began.duration(to: .now))
  }

  /// Names the test, gives the others a thread in its place, and ends the run when nothing else works.
  private func report() {
    isHanging.withLock { $0 = true }
    Self.working.withLock { $0.hanging += 1 }
    let place = test.sourceLocation
    let text =
      "\(place.fileID):\(place.line): \(test.name) has not ended within \(Int(Self.limit)) s\n"
    FileHandle.standardError.write(Data(text.utf8))
    BlockingThreads.shared.addThread()
    Self.endWhenOthersHave(quietChecks: 0)
  }

  private static func endWhenOthersHave(quietChecks: Int) {
    let (count, hanging) = working.withLock { $0 }
    if hanging == 0 { return }
    let quiet = count == hanging && BlockingThreads.shared.isIdle ? quietChecks + 1 : 0
    // The results of the others are in the file of events by now.
    if quiet == 3 { exit(70) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 1) {
      endWhenOthersHave(quietChecks: quiet)
    }
  }

  /// Adds a line with the seconds and the test's id to the file PERMISSIONKIT_TIMES, for `Scripts/test --times`.
  private static func log(_ test: Test, _ time: Duration) {
    guard let path = Variables.value("PERMISSIONKIT_TIMES") else { return }
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    defer { close(file) }
    let line = Array("\(time / .seconds(1))\t\(test.id)\n".utf8)
    _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  }
}

extension Trait where Self == BlockingTrait {
  /// The tests wait for commands, files or the clock.
  package static var blocking: BlockingTrait { BlockingTrait() }
}

/// Threads for tests that block; what was begun goes on before another test begins.
private final class BlockingThreads: TaskExecutor {
  static let shared = BlockingThreads(count: max(4, ProcessInfo.processInfo.processorCount * 2))

  private let jobs = Mutex<[UnownedJob]>([])
  private let waiting = DispatchSemaphore(value: 0)

  init(count: Int) {
    for _ in 0..<count { addThread() }
  }

  /// Whether no test waits for a thread.
  var isIdle: Bool { jobs.withLock { $0.isEmpty } }

  func addThread() {
    let thread = Thread { [unowned self] in run() }
    thread.name = "blocking"
    thread.stackSize = 8 << 20
    thread.start()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    waiting.signal()
  }

  private func run() {
    while true {
      waiting.wait()
      let job = jobs.withLock { $0.removeLast() }
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
