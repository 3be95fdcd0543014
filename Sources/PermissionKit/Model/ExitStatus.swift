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

  /// Creates the exit status for several accessors: 1 goes before 2, 2 before 3, and 3 before 0.
  ///
  /// - Parameters:
  ///   - statuses: The status of each accessor.
  ///   - wantsAll: Whether `limited` counts as refused.
  ///   - skipsUnavailable: Whether to ignore unavailable accessors; 77 if all are unavailable.
  package init(_ statuses: [AuthorizationStatus], wantsAll: Bool, skipsUnavailable: Bool) {
    let each = statuses.map { Self.init($0, wantsAll: wantsAll) }
    let counted = skipsUnavailable ? each.filter { $0 != .unavailable } : each
    if counted.isEmpty, !each.isEmpty {
      self = .skipped
    } else {
      self = [.refused, .notDetermined, .unavailable].first(where: counted.contains) ?? .authorized
    }
  }

  /// Creates the exit status for one accessor.
  ///
  /// - Parameters:
  ///   - status: The status of the accessor.
  ///   - wantsAll: Whether `limited` counts as refused.
  package init(_ status: AuthorizationStatus, wantsAll: Bool) {
    switch status {
    case .authorized: self = .authorized
    case .limited: self = wantsAll ? .refused : .authorized
    case .denied, .restricted: self = .refused
    case .notDetermined: self = .notDetermined
    case .unavailable: self = .unavailable
    }
  }

  /// Creates the exit status for an error that prevented every answer.
  package init(_ error: PermissionError) {
    switch error.code {
    case .unknownUser, .unknownProcess, .invalidArgument: self = .usage
    case .system, .changeFailed: self = .failure
    case .notAllowed: self = .refused
    case .notAnswering: self = .notDetermined
    }
  }
}
