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
  ) -> (AccessorFollower?, AsyncStream<AuthorizationStatus>) {
    let (statuses, continuation) = AsyncStream.makeStream(
      of: AuthorizationStatus.self, bufferingPolicy: .bufferingNewest(1))
    let thread = DispatchQueue(label: "PermissionGate.following")
    guard let bell = Bell(LinuxSystem()) else {
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
    _ tell: (AuthorizationStatus) -> Void
  ) {
    do throws(PermissionError) {
      let watcher = try AccessWatcher(bell.system, stoppedBy: [bell.request], logs: false, [make])
      repeat {
        for report in watcher.reports { tell(report.status) }
      } while try watcher.next() != .stopped
    } catch {
      // Without inotify there are no events; a check on demand still works.
    }
  }
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
