/// The order in which an `AccessBatch` runs its accessors: the Strategy pattern.
///
/// The library has `sequential`, `failFast` and `concurrent`.
public protocol BatchStrategy: Sendable {
  /// Runs the steps of a batch, each at most once; returns when all that it began have ended.
  func run(_ steps: BatchSteps)
}

/// The steps of a batch: one for each accessor, in the order in which they were added.
public struct BatchSteps: Sendable {
  /// The number of accessors.
  public let count: Int
  private let step: @Sendable (Int) -> Bool

  init(count: Int, _ step: @escaping @Sendable (Int) -> Bool) {
    self.count = count
    self.step = step
  }

  /// Runs one accessor; several threads may run different ones.
  ///
  /// - Parameter index: The number of the accessor, from 0 to `count` - 1.
  /// - Returns: Whether there is access. False, and nothing runs, if the step was run before, and after an
  ///   error.
  @discardableResult
  public func run(_ index: Int) -> Bool { step(index) }
}

/// A strategy that runs one accessor after the other, all of them.
public struct SequentialBatch: BatchStrategy {
  /// Creates the strategy, which has no state.
  public init() {}

  /// Runs every step in order.
  public func run(_ steps: BatchSteps) {
    for index in 0..<steps.count { steps.run(index) }
  }
}

/// A strategy that runs one accessor after the other, until one has no access.
public struct FailFastBatch: BatchStrategy {
  /// Creates the strategy, which has no state.
  public init() {}

  /// Runs the steps in order, and none after the first without access.
  public func run(_ steps: BatchSteps) {
    for index in 0..<steps.count where !steps.run(index) { return }
  }
}

/// A strategy that runs accessors at the same time, useful where servers or slow disks answer.
///
/// Requests wait for one another, since a person answers one question at a time.
public struct ConcurrentBatch: BatchStrategy {
  private let threads: Int

  /// Creates the strategy.
  ///
  /// - Parameter threads: The largest number of accessors that run at the same time, at least 1.
  public init(threads: Int = 4) { self.threads = max(1, threads) }

  /// Runs every step, several at a time.
  public func run(_ steps: BatchSteps) {
    DetachedThread.forEach(steps.count, threads: threads) { steps.run($0) }
  }
}

extension BatchStrategy where Self == SequentialBatch {
  /// One accessor after the other, all of them.
  public static var sequential: SequentialBatch { SequentialBatch() }
}

extension BatchStrategy where Self == FailFastBatch {
  /// One accessor after the other, until one has no access.
  public static var failFast: FailFastBatch { FailFastBatch() }
}

extension BatchStrategy where Self == ConcurrentBatch {
  /// Up to four accessors at the same time.
  public static var concurrent: ConcurrentBatch { ConcurrentBatch() }
}
