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
  case unchecked
  case authorized
  case limited
  case denied
  case requesting
  case restricted
  case unavailable
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
  public func checked(_ status: AuthorizationStatus) -> any AuthorizationState { status.state }
  public func requested() -> any AuthorizationState { self }
  public func finished(_ status: AuthorizationStatus) -> any AuthorizationState { self }
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
public struct UncheckedState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .unchecked }
  /// A request checks first, so it may begin before any check.
  public func requested() -> any AuthorizationState { RequestingState() }
  public func invalidated() -> any AuthorizationState { self }
}

/// Every resource is usable; there is nothing to request.
public struct AuthorizedState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .authorized }
}

/// Some resources are usable; a request may ask for the rest.
public struct LimitedState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .limited }
  public func requested() -> any AuthorizationState { RequestingState() }
}

/// Refused; a request could help.
public struct DeniedState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .denied }
  public func requested() -> any AuthorizationState { RequestingState() }
}

/// A request is under way. Checks and changes wait for its end; another request joins it.
public struct RequestingState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .requesting }
  public func checked(_ status: AuthorizationStatus) -> any AuthorizationState { self }
  public func finished(_ status: AuthorizationStatus) -> any AuthorizationState { status.state }
  public func invalidated() -> any AuthorizationState { self }
}

/// Refused by something that no request can change.
public struct RestrictedState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .restricted }
}

/// There is no such device or directory.
public struct UnavailableState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .unavailable }
}

/// Cannot be told; a request may find out.
public struct NotDeterminedState: AuthorizationState {
  public init() {}
  public var kind: AuthorizationStateKind { .notDetermined }
  public func requested() -> any AuthorizationState { RequestingState() }
}
