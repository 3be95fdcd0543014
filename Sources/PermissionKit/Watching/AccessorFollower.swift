internal import Dispatch

/// A thread that watches an accessor of its own, until this object is released.
final class AccessorFollower: Sendable {
  private let eventFD: EventFD

  private init(_ eventFD: EventFD) { self.eventFD = eventFD }

  deinit { eventFD.signal() }

  /// Starts the thread.
  ///
  /// - Parameter make: Creates the accessor, on the thread.
  /// - Returns: The object that keeps the thread alive, and a stream of the status after each
  ///   check. The stream ends with the object, or at once if nothing can be watched.
  static func begin(
    _ make: @escaping @Sendable () -> PermissionAccessor
  ) -> (AccessorFollower?, AsyncStream<StatusUpdate>) {
    let (statuses, continuation) = AsyncStream.makeStream(
      of: StatusUpdate.self, bufferingPolicy: .bufferingNewest(1))
    let thread = DispatchQueue(label: "PermissionGate.following")
    // What is watched is the system that the accessor checks.
    let system = (make() as? ResourceAccessor)?.context.system ?? LinuxSystem()
    guard let eventFD = try? EventFD(system) else {
      continuation.finish()
      return (nil, statuses)
    }
    thread.async {
      watch(make, until: eventFD) { continuation.yield($0) }
      continuation.finish()
    }
    return (AccessorFollower(eventFD), statuses)
  }

  private static func watch(
    _ make: @escaping @Sendable () -> PermissionAccessor, until eventFD: EventFD,
    _ tell: (StatusUpdate) -> Void
  ) {
    do throws(PermissionError) {
      let watcher = try AccessWatcher(
        eventFD.system, stoppedBy: [eventFD.request], logs: false, [make])
      for report in watcher.reports { tell(StatusUpdate(status: report.status)) }
      while case .checked(let changes) = try watcher.next() {
        for report in watcher.reports {
          let change = changes.last { $0.new.accessor == report.accessor }
          tell(StatusUpdate(status: report.status, cause: change?.cause))
        }
      }
    } catch {
      // Without inotify there are no events; a check on demand still works.
    }
  }
}

/// The status after a change outside this program.
struct StatusUpdate: Sendable {
  var status: AuthorizationStatus
  /// What changed; nil at the start.
  var cause: ChangeCause?
}
