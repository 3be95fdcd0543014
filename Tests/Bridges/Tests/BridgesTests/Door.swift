import PermissionKit

/// An accessor whose report says what a test wants, and whose request changes nothing.
final class Door: PermissionAccessor {
  var report: AccessReport

  init(
    _ status: AuthorizationStatus, name: String = "door", reason: Reason.Code? = nil,
    _ strategy: any LoggingStrategy
  ) {
    let resource = ResourceReport(
      path: "/door", label: "door", device: "door", need: [], status: status,
      reasons: reason.map { [Reason($0, .proven, "closed")] } ?? [])
    report = AccessReport(
      accessor: name, status: status, isRequestable: true, resources: [resource])
    super.init(name: name, analytics: AnalyticsLog(strategy))
  }

  override func checkAccess() -> AccessReport { report }
}

/// Text that would begin a line, colour a terminal, or turn itself around.
let hostile = "a\nlevel=critical\r\u{1b}[31m\u{0}\u{85}\u{202e}\u{2028}b"
let tamed = #"a\nlevel=critical\r\u{1b}[31m\u{0}\u{85}\u{202e}\u{2028}b"#
