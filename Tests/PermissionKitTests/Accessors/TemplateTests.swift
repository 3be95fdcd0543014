import PermissionKit
import PermissionKitTesting
import Testing

/// An accessor that does what the test says, and notes what the template calls.
final class ScriptedAccessor: PermissionAccessor {
  var statuses: [AuthorizationStatus]
  var isRequestable: Bool
  var failure: PermissionError?
  var calls: [String] = []

  init(
    _ statuses: [AuthorizationStatus], isRequestable: Bool = false,
    failure: PermissionError? = nil, log: AnalyticsLog = .inMemory
  ) {
    self.statuses = statuses
    self.isRequestable = isRequestable
    self.failure = failure
    super.init(name: "scripted", analytics: log)
  }

  override func checkAccess() -> AccessReport {
    calls.append("check")
    let status = statuses.count > 1 ? statuses.removeFirst() : statuses[0]
    return AccessReport(
      accessor: name, status: status, isRequestable: isRequestable && status == .denied)
  }

  override func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
    calls.append("request")
    if let failure { throw failure }
    // A lie: the template must check for itself.
    return AccessReport(accessor: name, status: .authorized)
  }

  override func willReceiveAccess() { calls.append("will") }
  override func didReceiveAccess() { calls.append("did") }
  override func didRejectAccess() { calls.append("reject") }
}

@Suite struct TemplateTests {
  @Test func `Authorized completes without hooks`() throws {
    let accessor = ScriptedAccessor([.authorized], isRequestable: true)
    let report = try accessor.requestAccessIfNeeded { _ in accessor.calls.append("complete") }
    #expect(accessor.calls == ["check", "complete"])
    #expect(report.status == .authorized)
    #expect(try accessor.analytics.loggedEvents().map(\.event) == [.check])
  }

  @Test(arguments: [AuthorizationStatus.denied, .restricted, .unavailable, .notDetermined])
  func `Not requestable is rejected`(_ status: AuthorizationStatus) throws {
    let accessor = ScriptedAccessor([status])
    try accessor.requestAccessIfNeeded { _ in accessor.calls.append("complete") }
    #expect(accessor.calls == ["check", "reject", "complete"])
    #expect(try accessor.analytics.loggedEvents().map(\.event) == [.check, .didRejectAccess])
  }

  @Test func `Granted request is received`() throws {
    let accessor = ScriptedAccessor([.denied, .authorized], isRequestable: true)
    let report = try accessor.requestAccessIfNeeded { _ in accessor.calls.append("complete") }
    #expect(accessor.calls == ["check", "will", "request", "check", "did", "complete"])
    #expect(report.status == .authorized)
    let events = try accessor.analytics.loggedEvents()
    #expect(events.map(\.event) == [.check, .willReceiveAccess, .didReceiveAccess])
    #expect(events.map(\.status) == [.denied, .denied, .authorized])
  }

  @Test func `Refused request is rejected whatever it says of itself`() throws {
    let accessor = ScriptedAccessor([.denied], isRequestable: true)
    let report = try accessor.requestAccessIfNeeded { _ in accessor.calls.append("complete") }
    #expect(accessor.calls == ["check", "will", "request", "check", "reject", "complete"])
    #expect(report.status == .denied)
    #expect(
      try accessor.analytics.loggedEvents().map(\.event)
        == [.check, .willReceiveAccess, .didRejectAccess])
  }

  @Test func `Failed request rejects and throws`() {
    let failure = PermissionError(.changeFailed, "no")
    let accessor = ScriptedAccessor([.denied], isRequestable: true, failure: failure)
    #expect(throws: failure) {
      try accessor.requestAccessIfNeeded { _ in accessor.calls.append("complete") }
    }
    #expect(accessor.calls == ["check", "will", "request", "reject"])
  }

  @Test func `Limited is access by policy`() throws {
    let accessor = ScriptedAccessor([.limited])
    #expect(accessor.hasAccess())
    accessor.acceptsLimited = false
    #expect(!accessor.hasAccess())
    accessor.calls = []
    try accessor.requestAccessIfNeeded()
    #expect(accessor.calls == ["check", "reject"])
  }

  @Test func `What is not overridden is denied`() throws {
    let accessor = PermissionAccessor(name: "base", analytics: .inMemory)
    #expect(!accessor.hasAccess())
    #expect(try accessor.requestAccessIfNeeded().status == .notDetermined)
    #expect(accessor.description == "base")
  }

  @Test func `Library accessors keep the contract`() {
    for entry in AccessorRegistry.standard.entries {
      let system = FakeSystem()
      let violations = AccessorContract.violations {
        entry.make(AccessContext(system: system), $0)
      }
      #expect(violations.isEmpty, "\(entry.name): \(violations)")
    }
  }

  @Test func `Contract catches a liar`() {
    final class Liar: PermissionAccessor {
      override func checkAccess() -> AccessReport {
        AccessReport(accessor: "other", status: .authorized, isRequestable: true)
      }
    }
    let violations = AccessorContract.violations { Liar(name: "liar", analytics: $0) }
    #expect(violations.count == 2)
  }
}

/// The pattern's client, as the guide has it.
@Suite struct ClientTests {
  @Test func `Client runs`() throws {
    var statuses: [AuthorizationStatus] = []
    let system = FakeSystem(credentials: .init(uid: 1000, gid: 1000, groups: []))
    system.addCamera(mode: 0o666)
    system.addMicrophone(mode: 0o600)
    system.addUser(UserRecord(name: "ada", uid: 1000, gid: 1000, home: "/home/ada"))
    let context = AccessContext(system: system)
    for accessor in [
      CameraAccessor(context), MicrophoneAccessor(context), PhotoLibraryAccessor(context),
    ] {
      try accessor.requestAccessIfNeeded { report in
        statuses.append(report.status)
      }
    }
    #expect(statuses == [.authorized, .denied, .unavailable])
  }

  @Test func `Another module registers its own`() throws {
    var registry = AccessorRegistry.standard
    registry.add("scripted", aliases: ["script"], summary: "for tests") { _, log in
      ScriptedAccessor([.limited], log: log)
    }
    let entry = try #require(registry["script"])
    #expect(entry.make(AccessContext(), .inMemory).hasAccess())
    #expect(registry["microphone"]?.name == registry["mic"]?.name)
    #expect(AccessorRegistry.standard["script"] == nil)
    #expect(registry["nonsense"] == nil)
  }
}
