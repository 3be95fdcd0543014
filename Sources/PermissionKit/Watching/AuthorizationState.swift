/// Where a permission stands between its checks and requests: the State pattern.
///
/// Each state is a type, and answers each operation with the state that follows. An operation that
/// a state does not support does nothing: it answers itself.
public protocol AuthorizationState: Sendable {
  /// Which state this is.
  var kind: AuthorizationStateKind { get }
  /// The outcome of a check arrived.
  func checked(_ status: AuthorizationStatus) -> any AuthorizationState
  /// A request is wanted; `requesting` follows where one could help.
  func requested() -> any AuthorizationState
  /// The request under way ended, and a check says so.
  func finished(_ status: AuthorizationStatus) -> any AuthorizationState
  /// Something outside changed, so that what was known no longer counts.
  func invalidated() -> any AuthorizationState
}

/// The states by name.
public enum AuthorizationStateKind: String, Hashable, Sendable, CaseIterable {
  /// Not looked at yet, or no longer known.
  case unchecked
  /// Every resource is usable.
  case authorized
  /// Some resources are usable, or all of them only in part.
  case limited
  /// Refused; a request could help.
  case denied
  /// A request is under way.
  case requesting
  /// Refused by something that no request can change.
  case restricted
  /// There is no such device or directory.
  case unavailable
  /// Cannot be told.
  case notDetermined

  /// The state of this kind.
  public var state: any AuthorizationState {
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
  /// Moves to the state of the status.
  public func checked(_ status: AuthorizationStatus) -> any AuthorizationState { status.state }
  /// Stays: by default there is nothing to request.
  public func requested() -> any AuthorizationState { self }
  /// Stays: no request of this state is under way.
  public func finished(_ status: AuthorizationStatus) -> any AuthorizationState { self }
  /// Forgets what was known.
  public func invalidated() -> any AuthorizationState { UncheckedState() }
}

extension AuthorizationStatus {
  /// The state that a status puts a permission in.
  public var state: any AuthorizationState {
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

/// Nothing is known yet, or no longer.
package struct UncheckedState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `unchecked`.
  package var kind: AuthorizationStateKind { .unchecked }
  /// A request checks first, so it may begin before any check.
  package func requested() -> any AuthorizationState { RequestingState() }
  /// Stays: nothing is known that could be forgotten.
  package func invalidated() -> any AuthorizationState { self }
}

/// Every resource is usable; there is nothing to request.
package struct AuthorizedState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `authorized`.
  package var kind: AuthorizationStateKind { .authorized }
}

/// Some resources are usable; a request may ask for the rest.
package struct LimitedState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `limited`.
  package var kind: AuthorizationStateKind { .limited }
  /// Begins a request for the rest.
  package func requested() -> any AuthorizationState { RequestingState() }
}

/// Refused; a request could help.
package struct DeniedState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `denied`.
  package var kind: AuthorizationStateKind { .denied }
  /// Begins a request.
  package func requested() -> any AuthorizationState { RequestingState() }
}

/// A request is under way.
///
/// Checks and changes wait for its end; another request joins it.
package struct RequestingState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `requesting`.
  package var kind: AuthorizationStateKind { .requesting }
  /// Stays: only the end of the request counts.
  package func checked(_ status: AuthorizationStatus) -> any AuthorizationState { self }
  /// Moves to the state of the check that followed the request.
  package func finished(_ status: AuthorizationStatus) -> any AuthorizationState { status.state }
  /// Stays: the check that follows the request will see the change.
  package func invalidated() -> any AuthorizationState { self }
}

/// Refused by something that no request can change.
package struct RestrictedState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `restricted`.
  package var kind: AuthorizationStateKind { .restricted }
}

/// There is no such device or directory.
package struct UnavailableState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `unavailable`.
  package var kind: AuthorizationStateKind { .unavailable }
}

/// Cannot be told; a request may find out.
package struct NotDeterminedState: AuthorizationState {
  /// Makes the state, which holds no data.
  package init() {}
  /// Always `notDetermined`.
  package var kind: AuthorizationStateKind { .notDetermined }
  /// Begins a request, which may find out.
  package func requested() -> any AuthorizationState { RequestingState() }
}
