extension AccessWatcher {
  /// Waits until the reports are good enough, or the time is over.
  ///
  /// The checks of the wait write no event to the analytics log.
  ///
  /// - Parameters:
  ///   - time: The longest wait.
  ///   - system: The system to watch.
  ///   - makers: Create the accessors.
  ///   - isEnough: Whether these reports end the wait.
  /// - Throws: If an accessor cannot be created, or the kernel refuses to watch files.
  package static func wait(
    _ time: TimeSpan, _ system: any System, _ makers: [Factory],
    until isEnough: ([AccessReport]) -> Bool
  ) throws(PermissionError) {
    let end = system.monotonic() + time.microseconds
    var reports: [AccessReport] = []
    for make in makers { reports.append(try make().checkAccess()) }
    if isEnough(reports) { return }
    let watcher = try AccessWatcher(system, logs: false, makers)
    while !isEnough(watcher.reports) {
      guard case .checked = try watcher.next(until: end) else { return }
    }
  }
}
