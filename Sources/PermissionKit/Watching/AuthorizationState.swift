/// The state of a permission between checks and requests: the State pattern.
///
/// Each state is a type. Each operation returns the next state. An operation that a state does not
/// support returns the same state.
protocol AuthorizationState: Sendable {
  /// The kind of this state.
  var kind: AuthorizationStateKind { get }
  /// Returns the state after a check with this status.
  func checked(_ status: AuthorizationStatus) -> any AuthorizationState
  /// Returns the state after a request is asked for: `requesting` if a request could help.
  func requested() -> any AuthorizationState
  /// Returns the state after the request ended, with the status of the check that followed.
  func finished(_ status: AuthorizationStatus) -> any AuthorizationState
  /// Returns the state after a change outside, which makes the known status invalid.
  func invalidated() -> any AuthorizationState
}

/// The kinds of states.
public enum AuthorizationStateKind: String, Hashable, Sendable, CaseIterable,
  CustomStringConvertible
{
  /// No check was made yet, or the last one is no longer valid.
  case unchecked
  /// Every resource is usable.
  case authorized
  /// Some resources are usable, or all resources are usable only in part.
  case limited
  /// Access is refused; a request could help.
  case denied
  /// A request is under way.
  case requesting
  /// Access is refused by something that no request can change.
  case restricted
  /// There is no such device or directory.
  case unavailable
  /// The check cannot determine whether there is access.
  case notDetermined

  /// The name of the kind: `requesting`.
  public var description: String { rawValue }

  /// A state of this kind.
  var state: any AuthorizationState {
    switch self {
    case .unchecked: UncheckedState()
    case .authorized: AuthorizedState()
    case .limited: LimitedState()
    case .denied: DeniedState()
    case .requesting: RequestingState()
    case .restricted: RestrictedState()
    case .unavailable: UnavailableState()
    case .notDetermined: NotDeterminedState()
    }
  }
}

extension AuthorizationState {
  /// Returns the state of the status.
  func checked(_ status: AuthorizationStatus) -> any AuthorizationState { status.state }
  /// Returns the same state, because by default there is nothing to request.
  func requested() -> any AuthorizationState { self }
  /// Returns the same state, because by default no request is under way.
  func finished(_ status: AuthorizationStatus) -> any AuthorizationState { self }
  /// Returns `unchecked`, because the known status is no longer valid.
  func invalidated() -> any AuthorizationState { UncheckedState() }
}

extension AuthorizationStatus {
  /// The state of a permission with this status.
  var state: any AuthorizationState {
    switch self {
    case .authorized: AuthorizedState()
    case .limited: LimitedState()
    case .denied: DeniedState()
    case .restricted: RestrictedState()
    case .unavailable: UnavailableState()
    case .notDetermined: NotDeterminedState()
    }
  }
}

/// The state in which no check was made yet, or the last one is no longer valid.
struct UncheckedState: AuthorizationState {
  var kind: AuthorizationStateKind { .unchecked }
  /// Begins a request, which makes its own check first.
  func requested() -> any AuthorizationState { RequestingState() }
  /// Returns the same state, because nothing is known.
  func invalidated() -> any AuthorizationState { self }
}

/// The state in which every resource is usable; there is nothing to request.
struct AuthorizedState: AuthorizationState {
  var kind: AuthorizationStateKind { .authorized }
}

/// The state in which some resources are usable; a request can ask for the others.
struct LimitedState: AuthorizationState {
  var kind: AuthorizationStateKind { .limited }
  /// Begins a request for the other resources.
  func requested() -> any AuthorizationState { RequestingState() }
}

/// The state in which access is refused and a request could help.
struct DeniedState: AuthorizationState {
  var kind: AuthorizationStateKind { .denied }
  /// Begins a request.
  func requested() -> any AuthorizationState { RequestingState() }
}

/// The state in which a request is under way.
///
/// Checks and outside changes wait for the end of the request. Another request joins this one.
struct RequestingState: AuthorizationState {
  var kind: AuthorizationStateKind { .requesting }
  /// Returns the same state, because only the end of the request counts.
  func checked(_ status: AuthorizationStatus) -> any AuthorizationState { self }
  /// Returns the state of the check that followed the request.
  func finished(_ status: AuthorizationStatus) -> any AuthorizationState { status.state }
  /// Returns the same state, because the check after the request will include the change.
  func invalidated() -> any AuthorizationState { self }
}

/// The state in which access is refused by something that no request can change.
struct RestrictedState: AuthorizationState {
  var kind: AuthorizationStateKind { .restricted }
}

/// The state in which there is no such device or directory.
struct UnavailableState: AuthorizationState {
  var kind: AuthorizationStateKind { .unavailable }
}

/// The state in which access is unknown; a request may determine it.
struct NotDeterminedState: AuthorizationState {
  var kind: AuthorizationStateKind { .notDetermined }
  /// Begins a request, which may find out.
  func requested() -> any AuthorizationState { RequestingState() }
}
