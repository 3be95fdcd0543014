internal import Dispatch

/// A thread that watches an accessor of its own, until this object is gone.
final class AccessorFollower: Sendable {
  private let bell: Bell

  private init(_ bell: Bell) { self.bell = bell }

  deinit { bell.ring() }

  /// Starts the thread.
  ///
  /// - Returns: What keeps it going, and the newest status after each of its checks. The statuses
  ///   end with it, and at once where nothing can be watched.
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
      // Without inotify nothing is followed; a check when it is asked for is as good as ever.
    }
  }
}

/// What wakes a thread that waits, by eventfd(2).
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
