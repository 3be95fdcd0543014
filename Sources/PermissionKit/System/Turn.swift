internal import Glibc

/// A lock of the threads of this process that is held beyond one closure, see pthread_mutex_lock(3).
@safe package final class Turn: Sendable {
  private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// Creates a lock that nobody holds.
  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Waits for the lock; the same thread must call `end`, and not begin again before that.
  package func begin() { unsafe _ = pthread_mutex_lock(mutex) }

  /// Releases the lock.
  package func end() { unsafe _ = pthread_mutex_unlock(mutex) }
}
