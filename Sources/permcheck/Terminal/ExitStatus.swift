import PermissionKit

/// What permcheck exits with.
enum ExitStatus: Int32 {
  case authorized = 0
  case refused = 1
  case notDetermined = 2
  case unavailable = 3
  case usage = 64
  case failure = 70
  case skipped = 77

  /// What the reports of one run come to: 1 before 2 before 3 before 0.
  ///
  /// - Parameters:
  ///   - statuses: One for each accessor that was asked for.
  ///   - wantsAll: `limited` is not enough.
  ///   - skipsUnavailable: What is unavailable does not count; 77 when nothing else is left.
  init(_ statuses: [AuthorizationStatus], wantsAll: Bool, skipsUnavailable: Bool) {
    let each = statuses.map { Self.init($0, wantsAll: wantsAll) }
    let counted = skipsUnavailable ? each.filter { $0 != .unavailable } : each
    if counted.isEmpty, !each.isEmpty {
      self = .skipped
    } else {
      self = [.refused, .notDetermined, .unavailable].first(where: counted.contains) ?? .authorized
    }
  }

  private init(_ status: AuthorizationStatus, wantsAll: Bool) {
    switch status {
    case .authorized: self = .authorized
    case .limited: self = wantsAll ? .refused : .authorized
    case .denied, .restricted: self = .refused
    case .notDetermined: self = .notDetermined
    case .unavailable: self = .unavailable
    }
  }

  /// What a failure before any answer comes to.
  init(_ error: PermissionError) {
    switch error.code {
    case .unknownUser, .unknownProcess, .invalidArgument: self = .usage
    case .system, .changeFailed: self = .failure
    }
  }
}
