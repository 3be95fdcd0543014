import Foundation
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
    // What blocks cannot be cancelled, so a test that never ends takes the run with it, with words.
    let guardian = DispatchWorkItem {
      let place = test.sourceLocation
      FileHandle.standardError.write(
        Data("\(place.fileID):\(place.line): \(test.name) has not ended within 20 minutes\n".utf8))
      exit(70)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + 1200, execute: guardian)
    defer { guardian.cancel() }
    try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
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
    for number in 0..<count {
      let thread = Thread { [unowned self] in run() }
      thread.name = "blocking \(number)"
      thread.stackSize = 8 << 20
      thread.start()
    }
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
