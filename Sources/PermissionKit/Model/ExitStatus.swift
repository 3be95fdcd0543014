/// The exit status of permcheck, which JSON documents repeat.
package enum ExitStatus: Int32, Sendable {
  case authorized = 0
  case refused = 1
  case notDetermined = 2
  case unavailable = 3
  /// EX_USAGE of sysexits.h.
  case usage = 64
  /// EX_SOFTWARE of sysexits.h.
  case failure = 70
  /// "Skipped", as in automake; a command of `PermissionOptions` ends with it as EX_NOPERM.
  case skipped = 77

  /// Creates the exit status for several accessors, the worst one: first 1, then 2, 3 and 0.
  ///
  /// - Parameters:
  ///   - reports: The report of each accessor.
  ///   - skipsAbsent: Whether to ignore devices that are not there; 77 if there is nothing else.
  package init(_ reports: [AccessReport], skipsAbsent: Bool = false) {
    let counted = reports.filter { !(skipsAbsent && $0.isOfAbsentDevice) }.map(Self.init)
    if counted.isEmpty, !reports.isEmpty {
      self = .skipped
    } else {
      self = [.refused, .notDetermined, .unavailable].first(where: counted.contains) ?? .authorized
    }
  }

  /// Creates the exit status for one accessor.
  package init(_ report: AccessReport) {
    switch report.status {
    case .authorized: self = .authorized
    case .limited: self = report.isGranted ? .authorized : .refused
    case .denied, .restricted: self = .refused
    case .notDetermined: self = .notDetermined
    case .unavailable: self = .unavailable
    }
  }

  /// Creates the exit status for an error that prevented every answer.
  package init(_ error: PermissionError) {
    switch error.code {
    case .unknownUser, .unknownProcess, .invalidArgument: self = .usage
    case .system, .changeFailed, .withdrawn: self = .failure
    case .notAllowed: self = .refused
    case .notAnswering: self = .notDetermined
    }
  }
}
