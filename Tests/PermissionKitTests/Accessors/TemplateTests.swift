import Foundation
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

  override func willReceiveAccess() { note("will") }
  override func didHaveAccess() { note("had") }
  override func didReceiveAccess() { note("did") }
  override func didRejectAccess() { note("reject") }

  /// What each hook could read.
  var seen: [AccessReport?] = []

  private func note(_ call: String) {
    calls.append(call)
    seen.append(latestReport)
  }
}

@Suite struct TemplateTests {
  @Test func `Authorized completes without a request`() throws {
    let accessor = ScriptedAccessor([.authorized], isRequestable: true)
    let report = try accessor.requestAccessIfNeeded { _ in accessor.calls.append("complete") }
    #expect(accessor.calls == ["check", "had", "complete"])
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

  /// The rows of the table in the guide: what happens, and what is called.
  static func rows() throws -> [String: [String]] {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
    let guide = try String(
      contentsOf: root.appending(path: "Documentation/guide/swift-accessors.md"), encoding: .utf8)
    let lines = guide.split(separator: "\n").filter { $0.contains("| `checkAccess` ") }
    let rows = lines.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return (cells[0], cells[1].split(separator: " ").map { $0.filter { $0 != "`" } })
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  @Test func `The order is that of the table in the guide`() throws {
    let short = [
      "checkAccess": "check", "didHaveAccess": "had", "willReceiveAccess": "will",
      "requestAccess": "request", "didReceiveAccess": "did", "didRejectAccess": "reject",
    ]
    let failure = PermissionError(.changeFailed, "no")
    let cases: [String: ScriptedAccessor] = [
      "access is there": ScriptedAccessor([.authorized], isRequestable: true),
      "nothing can be requested": ScriptedAccessor([.denied]),
      "the request gives access": ScriptedAccessor([.denied, .authorized], isRequestable: true),
      "the request gives none": ScriptedAccessor([.denied], isRequestable: true),
      "the request throws": ScriptedAccessor([.denied], isRequestable: true, failure: failure),
    ]
    let rows = try Self.rows()
    #expect(Set(rows.keys) == Set(cases.keys))
    for (name, accessor) in cases {
      _ = try? accessor.requestAccessIfNeeded()
      #expect(accessor.calls == rows[name]?.compactMap { short[$0] }, "\(name)")
      #expect(accessor.seen.last??.status == accessor.latestReport?.status, "\(name)")
    }
  }

  @Test func `A hook sees the report that decides`() throws {
    let given = ScriptedAccessor([.denied, .authorized], isRequestable: true)
    let final = try given.requestAccessIfNeeded()
    #expect(given.seen.map { $0?.status } == [.denied, .authorized])
    #expect(given.seen.last == final && final.requestOutcome == .granted)
    #expect(given.seen.first??.requestOutcome == nil)

    let there = ScriptedAccessor([.limited])
    let found = try there.requestAccessIfNeeded()
    #expect(there.seen == [found])
    #expect(ScriptedAccessor([.denied]).latestReport == nil)
  }

  @Test func `A hook sees what a request would change`() throws {
    final class Camera: CameraAccessor {
      var plans: [GrantPlan?] = []
      override func willReceiveAccess() { plans.append(latestPlan) }
      override func didRejectAccess() { plans.append(latestPlan) }
    }
    let system = FakeSystem(credentials: .init(uid: 1000, gid: 1000, groups: []))
    system.addCamera(mode: 0o600)
    let camera = Camera(AccessContext(system: system), analytics: .inMemory)
    let report = try camera.requestAccessIfNeeded()
    #expect(report.requestOutcome == .needsRoot && camera.latestPlan?.needsRoot == true)
    #expect(camera.plans == [camera.latestPlan, camera.latestPlan])
  }

  @Test func `A report has a description in one line`() {
    let denied = AccessReport(
      accessor: "door", status: .denied, message: "the door is\nshut", isRequestable: true)
    #expect("\(denied)" == "door: denied, the door is\\nshut")
    #expect("\(denied.resources[0])" == "/: denied, the door is\\nshut")
    #expect(denied.isRequestable && denied.explanation.contains("the door is"))
    #expect(
      "\(AccessReport(accessor: "door", status: .authorized, message: "open"))"
        == "door: authorized")
  }

  @Test func `A report on one node is short`() {
    for accessor in [
      CameraAccessor(path: "/nowhere/1"), MicrophoneAccessor(path: "/nowhere/1"),
      PhotoLibraryAccessor(path: "/nowhere/1"),
    ] {
      #expect(accessor.context.path == "/nowhere/1" && accessor.context.root == "/")
    }
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

  @Test func `An accessor without an override is denied`() throws {
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

  @Test func `The contract finds an accessor that lies`() {
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
  @Test func `A program that uses the library runs`() throws {
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
