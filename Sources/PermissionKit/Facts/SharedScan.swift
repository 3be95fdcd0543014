internal import Synchronization

/// What is the same for every accessor of one command, found once: containers, sessions, modules.
///
/// A command that checks again, such as a watch, has no shared scan: the machine may have changed.
package final class SharedScan: Sendable {
  private let values = Mutex<[any Sendable]>([])

  /// Creates an empty scan.
  package init() {}

  /// Returns the value of this type, which the first call finds.
  func value<Value: Sendable>(_ find: () -> Value) -> Value {
    if let known = values.withLock({ $0.lazy.compactMap { $0 as? Value }.first }) { return known }
    let value = find()
    values.withLock { $0.append(value) }
    return value
  }
}
