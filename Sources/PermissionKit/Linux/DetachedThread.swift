internal import Glibc
internal import Synchronization

/// A thread that nobody joins, see pthread_detach(3).
package final class DetachedThread: Sendable {
  private let body: @Sendable () -> Void

  private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  /// Starts a thread.
  ///
  /// - Returns: False if pthread_create(3) failed, so that `body` is never called.
  package static func start(
    takesSignals: Bool = true, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    if !takesSignals {
      unsafe sigfillset(&all)
      unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
    }
    defer { if !takesSignals { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) } }
    let thread = unsafe Unmanaged.passRetained(DetachedThread(body))
    var id = pthread_t()
    let result = unsafe pthread_create(
      &id, nil,
      { argument in
        if let argument = unsafe argument {
          unsafe Unmanaged<DetachedThread>.fromOpaque(argument).takeRetainedValue().body()
        }
        return nil
      }, thread.toOpaque())
    if result != 0 { unsafe thread.release() } else { pthread_detach(id) }
    return result == 0
  }

  /// Calls a closure for each number from 0, in several threads at the same time.
  ///
  /// The calling thread is one of them. Where no thread can be started, it does everything.
  ///
  /// - Parameters:
  ///   - count: The numbers are 0 to `count` - 1; each is passed once.
  ///   - threads: The largest number of threads, at least 1.
  ///   - body: The closure.
  package static func forEach(
    _ count: Int, threads: Int, _ body: @escaping @Sendable (Int) -> Void
  ) {
    let next = SharedCounter()
    @Sendable func work() {
      while true {
        let index = next.take()
        guard index < count else { return }
        body(index)
      }
    }
    let system = LinuxSystem()
    guard threads > 1, count > 1, let ends = try? EventFD(system) else { return work() }
    var running = 0
    for _ in 1..<min(threads, count) {
      let isStarted = start {
        work()
        ends.signal()
      }
      guard isStarted else { break }
      running += 1
    }
    work()
    while running > 0 {
      _ = try? system.poll([ends.request], timeout: nil)
      running -= ends.take()
    }
  }
}

/// A number that several threads count up.
private final class SharedCounter: Sendable {
  private let value = Atomic(0)

  func take() -> Int { value.add(1, ordering: .relaxed).oldValue }
}
