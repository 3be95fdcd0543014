internal import Dispatch

/// A thread that watches an accessor of its own, until this object is released.
final class AccessorFollower: Sendable {
  private let bell: Bell

  private init(_ bell: Bell) { self.bell = bell }

  deinit { bell.ring() }

  /// Starts the thread.
  ///
  /// - Parameter make: Creates the accessor, on the thread.
  /// - Returns: The object that keeps the thread alive, and a stream of the status after each
  ///   check. The stream ends with the object, or at once if nothing can be watched.
  static func begin(
    _ make: @escaping @Sendable () -> PermissionAccessor
  ) -> (AccessorFollower?, AsyncStream<Heard>) {
    let (statuses, continuation) = AsyncStream.makeStream(
      of: Heard.self, bufferingPolicy: .bufferingNewest(1))
    let thread = DispatchQueue(label: "PermissionGate.following")
    // What is watched is the system that the accessor checks.
    let system = (make() as? ResourceAccessor)?.context.system ?? LinuxSystem()
    guard let bell = Bell(system) else {
      continuation.finish()
      return (nil, statuses)
    }
    thread.async {
      watch(make, until: bell) { continuation.yield($0) }
      continuation.finish()
    }
    return (AccessorFollower(bell), statuses)
  }

  private static func watch(
    _ make: @escaping @Sendable () -> PermissionAccessor, until bell: Bell,
    _ tell: (Heard) -> Void
  ) {
    do throws(PermissionError) {
      let watcher = try AccessWatcher(bell.system, stoppedBy: [bell.request], logs: false, [make])
      for report in watcher.reports { tell(Heard(status: report.status)) }
      while case .checked(let changes) = try watcher.next() {
        for report in watcher.reports {
          let change = changes.last { $0.new.accessor == report.accessor }
          tell(Heard(status: report.status, cause: change?.cause))
        }
      }
    } catch {
      // Without inotify there are no events; a check on demand still works.
    }
  }
}

/// What was seen outside.
struct Heard: Sendable {
  var status: AuthorizationStatus
  /// What changed; nil at the start.
  var cause: ChangeCause?
}

/// An eventfd(2) that wakes a waiting thread.
private final class Bell: Sendable {
  let system: any System
  private let descriptor: Descriptor

  init?(_ system: any System) {
    guard let descriptor = try? system.eventfd() else { return nil }
    self.system = system
    self.descriptor = descriptor
  }

  deinit { system.close(descriptor) }

  var request: PollRequest { PollRequest(descriptor, .readable) }

  func ring() { _ = try? system.write(descriptor, [1, 0, 0, 0, 0, 0, 0, 0]) }
}
