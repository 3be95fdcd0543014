/// An eventfd(2) that wakes a waiting thread.
package final class EventFD: Sendable {
  /// The system that has the descriptor.
  package let system: any System
  private let descriptor: Descriptor

  /// Opens it.
  package init(_ system: any System) throws(Errno) {
    self.system = system
    descriptor = try system.eventfd()
  }

  deinit { system.close(descriptor) }

  /// Waits for a signal.
  package var request: PollRequest { PollRequest(descriptor, .readable) }

  /// Ends each wait, also one that begins later.
  package func signal() { _ = try? system.write(descriptor, [1, 0, 0, 0, 0, 0, 0, 0]) }

  /// Returns how many signals there were since the last call; does not wait.
  @discardableResult package func take() -> Int {
    // The counter is a number of the machine; of less than 256, it is in one byte.
    ((try? system.read(descriptor, 8)) ?? []).reduce(0) { $0 + Int($1) }
  }
}
