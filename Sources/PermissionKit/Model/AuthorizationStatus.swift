/// The status of an accessor or of one of its resources.
public enum AuthorizationStatus: String, Hashable, Sendable, CaseIterable, Codable,
  CustomStringConvertible
{
  /// Every resource is usable.
  case authorized
  /// Some resources are usable, or all resources are usable only in part.
  case limited
  /// Access is refused, and a request could help.
  case denied
  /// Access is refused by something that no request of this library can change.
  case restricted
  /// There is no such device or directory.
  case unavailable
  /// The check cannot determine whether there is access.
  case notDetermined

  /// The name of the status: `notDetermined`.
  public var description: String { rawValue }

  /// Returns whether the status counts as access.
  ///
  /// - Parameter acceptsLimited: Whether `limited` counts too.
  /// - Returns: True for `authorized`, and for `limited` if it is accepted.
  package func isAccess(acceptsLimited: Bool = true) -> Bool {
    self == .authorized || acceptsLimited && self == .limited
  }

  /// The rank of the status in a set, which takes the status of its worst member.
  ///
  /// The order follows the exit statuses: 1 before 2 before 3 before 0.
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

  /// Replaces this status by `other` if `other` is worse.
  mutating func worsen(to other: AuthorizationStatus) {
    if severity < other.severity { self = other }
  }

  /// Returns the worst of `statuses`; nil if there are none.
  public static func worst(_ statuses: [AuthorizationStatus]) -> AuthorizationStatus? {
    var worst: AuthorizationStatus?
    for status in statuses where status.severity > worst?.severity ?? -1 { worst = status }
    return worst
  }

  /// Returns the status of several devices, each of which can replace the others.
  ///
  /// - Returns: `authorized` if every device is, `limited` if only some devices are usable or one
  ///   is only limited, `notDetermined` if one may be, otherwise the worst status.
  static func any(of statuses: [AuthorizationStatus]) -> AuthorizationStatus {
    let usable = statuses.filter { $0.isAccess() }
    if usable.isEmpty {
      return statuses.contains(.notDetermined)
        ? .notDetermined : worst(statuses) ?? .unavailable
    }
    return usable.count == statuses.count && !usable.contains(.limited) ? .authorized : .limited
  }
}
