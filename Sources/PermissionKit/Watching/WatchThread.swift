/// A thread that watches an accessor of its own, until this object is released.
package final class WatchThread: Sendable {
  private let stop: EventFD

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - system: The system to watch.
  ///   - make: Creates the accessor, on the thread, and again for each check.
  ///   - tell: Called on the thread with the report of each check and what changed outside, nil if nothing
  ///     did; or with the error that ends the thread.
  ///   - end: Called on the thread, after everything else.
  /// - Throws: The errno of eventfd(2), or EAGAIN of pthread_create(3).
  package convenience init(
    _ system: any System,
    _ make: @escaping @Sendable () throws(PermissionError) -> PermissionAccessor,
    tell: @escaping @Sendable (Result<(AccessReport, ChangeCause?), PermissionError>) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) throws(Errno) {
    let stop = try EventFD(system)
    self.init(stop)
    let isStarted = DetachedThread.start(takesSignals: false) {
      do throws(PermissionError) {
        let watcher = try AccessWatcher(system, stoppedBy: [stop.request], logs: false, [make])
        tell(.success((watcher.reports[0], nil)))
        while case .checked(let changes) = try watcher.next() {
          tell(.success((watcher.reports[0], changes.last?.cause)))
        }
      } catch {
        tell(.failure(error))
      }
      end()
    }
    guard isStarted else { throw .EAGAIN }
  }

  /// Stores the value.
  ///
  /// All work is in the convenience initializer, because a program links the
  /// designated one even if it does not call it.
  private init(_ stop: EventFD) { self.stop = stop }

  deinit { stop.signal() }
}
