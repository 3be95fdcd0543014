internal import Synchronization

/// What is the same for every accessor of one command, so that it is found once.
///
/// A command that checks again, such as a watch, has no surroundings: they may have changed.
package final class Surroundings: Sendable {
  private let values = Mutex<[any Sendable]>([])

  /// Creates surroundings of which nothing is known.
  package init() {}

  /// Returns the value of this type, which the first call finds.
  func value<Value: Sendable>(_ find: () -> Value) -> Value {
    if let known = values.withLock({ $0.lazy.compactMap { $0 as? Value }.first }) { return known }
    let value = find()
    values.withLock { $0.append(value) }
    return value
  }
}
