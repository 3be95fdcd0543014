internal import Synchronization

/// Whether a caller still waits for a request: shared by a gate and the request that it runs.
package final class Withdrawal: Sendable {
  private static let local = TaskLocal<Withdrawal?>(wrappedValue: nil)

  /// The withdrawal of the request that this task carries out; nil outside of a gate.
  package static var current: Withdrawal? { local.get() }

  private enum Stage {
    case open
    case withdrawn
    case changing
  }

  private struct State {
    var stage = Stage.open
    /// Wakes the thread that waits for an answer; nil if none does.
    var wake: EventFD?
  }

  private let state = Mutex(State())

  package init() {}

  /// Withdraws the request: from now on it changes nothing.
  ///
  /// - Returns: False if the change has begun, so that its end must be awaited.
  package func withdraw() -> Bool {
    state.withLock { state in
      if state.stage == .changing { return false }
      state.stage = .withdrawn
      state.wake?.signal()
      return true
    }
  }

  /// Calls `body` with this withdrawal as the current one.
  package func asCurrent<Result>(_ body: () -> Result) -> Result {
    Self.local.withValue(self, operation: body)
  }

  /// Throws `withdrawn` if no caller waits any more.
  package func checkIsOpen() throws(PermissionError) {
    if state.withLock({ $0.stage == .withdrawn }) { throw .withdrawn }
  }

  /// Begins the change; from now on the request cannot be withdrawn.
  ///
  /// - Throws: `withdrawn` if nobody waits for it.
  package func beginChange() throws(PermissionError) {
    let isWithdrawn = state.withLock { state in
      if state.stage == .open { state.stage = .changing }
      return state.stage == .withdrawn
    }
    if isWithdrawn { throw .withdrawn }
  }

  /// Returns a descriptor that becomes readable when the request is withdrawn; nil if no descriptor
  /// is free.
  func request(_ system: any System) -> PollRequest? {
    state.withLock { state in
      if state.wake == nil {
        state.wake = try? EventFD(system)
        if state.stage == .withdrawn { state.wake?.signal() }
      }
      return state.wake?.request
    }
  }
}

extension PermissionError {
  /// The error of a withdrawn request.
  package static var withdrawn: PermissionError {
    PermissionError(.withdrawn, "the request was withdrawn before it changed anything")
  }
}
