import Testing

@testable import PermissionKit

/// Every pair of state and operation.
@Suite struct StateTests {
  typealias Kind = AuthorizationStateKind

  static func kind(_ status: AuthorizationStatus) -> Kind {
    switch status {
    case .authorized: .authorized
    case .limited: .limited
    case .denied: .denied
    case .restricted: .restricted
    case .unavailable: .unavailable
    case .notDetermined: .notDetermined
    }
  }

  @Test(arguments: Kind.allCases) func `Each state has its kind`(_ kind: Kind) {
    #expect(kind.state.kind == kind)
  }

  @Test(
    arguments: Kind.allCases,
    AuthorizationStatus.allCases)
  func `A check decides unless a request is under way`(_ kind: Kind, _ status: AuthorizationStatus)
  {
    let next = kind.state.checked(status).kind
    #expect(next == (kind == .requesting ? .requesting : Self.kind(status)))
  }

  @Test(arguments: Kind.allCases, AuthorizationStatus.allCases)
  func `Only a request under way finishes`(_ kind: Kind, _ status: AuthorizationStatus) {
    let next = kind.state.finished(status).kind
    #expect(next == (kind == .requesting ? Self.kind(status) : kind))
  }

  @Test(arguments: [
    (Kind.unchecked, Kind.requesting), (.authorized, .authorized), (.limited, .requesting),
    (.denied, .requesting), (.requesting, .requesting), (.restricted, .restricted),
    (.unavailable, .unavailable), (.notDetermined, .requesting),
  ])
  func `A request begins where it could help`(_ pair: (Kind, Kind)) {
    #expect(pair.0.state.requested().kind == pair.1)
  }

  @Test(arguments: Kind.allCases)
  func `A change outside invalidates every state but a request`(_ kind: Kind) {
    #expect(kind.state.invalidated().kind == (kind == .requesting ? .requesting : .unchecked))
  }
}
