extension AccessWatcher {
  /// Waits until the reports are good enough, or the time is over.
  ///
  /// The checks of the wait write no event to the analytics log.
  ///
  /// - Parameters:
  ///   - time: The longest wait; nil for no end.
  ///   - system: The system to watch.
  ///   - makers: Create the accessors.
  ///   - stops: Descriptors that end the wait if one of them is ready.
  ///   - isEnough: Whether these reports end the wait.
  /// - Returns: The reports of the last check.
  /// - Throws: If an accessor cannot be created, or the kernel refuses to watch files.
  @discardableResult
  package static func wait(
    _ time: TimeSpan?, _ system: any System, _ makers: [Factory],
    stoppedBy stops: [PollRequest] = [],
    until isEnough: ([AccessReport]) -> Bool
  ) throws(PermissionError) -> [AccessReport] {
    let end = time.map { system.monotonic() + $0.microseconds }
    var reports: [AccessReport] = []
    for make in makers { reports.append(try make().judgedAccess()) }
    if isEnough(reports) { return reports }
    let watcher = try AccessWatcher(system, stoppedBy: stops, logs: false, makers)
    while !isEnough(watcher.reports) {
      guard case .checked = try watcher.next(until: end) else { break }
    }
    return watcher.reports
  }
}
