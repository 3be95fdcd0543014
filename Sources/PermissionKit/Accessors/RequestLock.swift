internal import Synchronization

/// A lock that the accessors of a batch share, so that one request is made at a time.
package final class RequestLock: Sendable {
  private let mutex = Mutex(())

  /// Creates a lock that nobody holds.
  package init() {}

  /// Calls `body` while no other thread does; `body` must not take the same lock again.
  package func withLock<Result: Sendable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { (_) throws(Failure) -> Result in try body() }
  }
}
