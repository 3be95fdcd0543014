import PermissionKit
import Testing

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

  @Test("State is of its kind", arguments: Kind.allCases) func stateIsOfItsKind(_ kind: Kind) {
    #expect(kind.state.kind == kind)
  }

  @Test(
    "A check decides unless a request is under way", arguments: Kind.allCases,
    AuthorizationStatus.allCases)
  func aCheckDecidesUnlessARequestIsUnderWay(_ kind: Kind, _ status: AuthorizationStatus) {
    let next = kind.state.checked(status).kind
    #expect(next == (kind == .requesting ? .requesting : Self.kind(status)))
  }

  @Test("Only a request under way finishes", arguments: Kind.allCases, AuthorizationStatus.allCases)
  func onlyARequestUnderWayFinishes(_ kind: Kind, _ status: AuthorizationStatus) {
    let next = kind.state.finished(status).kind
    #expect(next == (kind == .requesting ? Self.kind(status) : kind))
  }

  @Test(
    "A request begins where it could help",
    arguments: [
      (Kind.unchecked, Kind.requesting), (.authorized, .authorized), (.limited, .requesting),
      (.denied, .requesting), (.requesting, .requesting), (.restricted, .restricted),
      (.unavailable, .unavailable), (.notDetermined, .requesting),
    ])
  func aRequestBeginsWhereItCouldHelp(_ pair: (Kind, Kind)) {
    #expect(pair.0.state.requested().kind == pair.1)
  }

  @Test("A change forgets all but a request", arguments: Kind.allCases)
  func aChangeForgetsAllButARequest(_ kind: Kind) {
    #expect(kind.state.invalidated().kind == (kind == .requesting ? .requesting : .unchecked))
  }
}
