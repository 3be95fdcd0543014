@_spi(SystemCalls) internal import PermissionKit
internal import Synchronization

/// The object behind a `pk_cancellation`, which ends the calls that were given it.
final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    /// The requests that run.
    var requests: [Withdrawal] = []
  }

  private let state = Mutex(State())
  /// Readable after `cancel()`; nil if the process has no descriptor left.
  let event = try? EventFD(LinuxSystem())

  /// Whether `cancel()` was called.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends the calls that run, and every later one.
  func cancel() {
    let requests = state.withLock { state in
      state.isCancelled = true
      return state.requests
    }
    for request in requests { _ = request.withdraw() }
    event?.signal()
  }

  /// Carries out a request that `cancel()` withdraws, unless its change has begun.
  func during<Result>(_ body: () -> Result) -> Result {
    let request = Withdrawal()
    let isCancelled = state.withLock { state in
      state.requests.append(request)
      return state.isCancelled
    }
    if isCancelled { _ = request.withdraw() }
    defer { state.withLock { state in state.requests.removeAll { $0 === request } } }
    return request.asCurrent(body)
  }
}
