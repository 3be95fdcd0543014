/// How an accessor, or one of its resources, stands.
public enum AuthorizationStatus: String, Hashable, Sendable, CaseIterable {
  /// Every resource is usable.
  case authorized
  /// Some resources are usable, or all of them only in part.
  case limited
  /// Refused, and a request could help.
  case denied
  /// Refused by something that no request made here can change.
  case restricted
  /// There is no such device or directory.
  case unavailable
  /// Cannot be told.
  case notDetermined

  /// How bad it is in a set, which takes its worst member.
  ///
  /// The order is that of the exit statuses, 1 before 2 before 3 before 0.
  var severity: Int {
    switch self {
    case .authorized: 0
    case .limited: 1
    case .unavailable: 2
    case .notDetermined: 3
    case .restricted: 4
    case .denied: 5
    }
  }

  /// Becomes the other where that is the worse.
  mutating func worsen(to other: AuthorizationStatus) {
    if severity < other.severity { self = other }
  }

  /// The worst of `statuses`; nil when there are none.
  public static func worst(_ statuses: some Sequence<AuthorizationStatus>) -> AuthorizationStatus? {
    statuses.max { $0.severity < $1.severity }
  }

  /// What `statuses` of devices that can stand in for one another come to: as good as the best
  /// when all are, `limited` when only some are usable, otherwise the worst.
  static func any(of statuses: [AuthorizationStatus]) -> AuthorizationStatus {
    let usable = statuses.filter { $0 == .authorized || $0 == .limited }
    if usable.isEmpty { return worst(statuses) ?? .unavailable }
    return usable.count == statuses.count && !usable.contains(.limited) ? .authorized : .limited
  }
}
