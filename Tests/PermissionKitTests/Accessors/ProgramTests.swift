@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Synchronization
import TestSupport
import Testing

/// What the author of a program does with the library.
@Suite struct ProgramTests {
  /// A camera of the program's own, with the hooks of the template.
  final class MyCamera: CameraAccessor {
    var calls: [String] = []
    override func willReceiveAccess() { calls.append("will") }
    override func didReceiveAccess() { calls.append("received") }
    override func didRejectAccess() { calls.append("rejected") }
  }

  private static func refused() -> FakeSystem {
    let fake = Scene.system()
    Scene.camera(fake, 0o600)
    return fake
  }

  @Test func `Hooks of a built in accessor are called`() throws {
    let camera = MyCamera(AccessContext(system: Self.refused()), analytics: .inMemory)
    let asked = Mutex(0)
    camera.grants.consent = { (_: GrantPlan) throws(PermissionError) -> Bool in
      asked.withLock { $0 += 1 }
      return true
    }
    // Only root may change the node, and there is no way to root: nobody is asked, and nothing thrown.
    let report = try camera.requestAccessIfNeeded()
    #expect(report.status == .denied && report.requestOutcome == .needsRoot)
    #expect(asked.withLock { $0 } == 0)
    #expect(camera.calls == ["will", "rejected"])
  }

  @Test func `A report explains itself`() {
    let report = CameraAccessor(AccessContext(system: Self.refused()), analytics: .inMemory)
      .checkAccess()
    #expect(!report.isGranted && !report.remedies.isEmpty)
    let lines = report.explanation.split(separator: "\n").map(String.init)
    #expect(lines.first == "camera: denied, Webcam (/dev/video0)")
    #expect(lines.contains { $0.contains(report.mainReason?.description ?? "nothing") })
    #expect(lines.last?.contains("setfacl -n -m") == true)
  }

  @Test func `A report says each thing once`() {
    let report = CameraAccessor(AccessContext(system: FakeSystem()), analytics: .inMemory)
      .checkAccess()
    let lines = report.explanation.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && Set(lines).count == 2, "\(lines)")
    #expect(lines.first == "camera: \(report.status.rawValue)")
  }

  @Test func `Another subject and path are named in words`()
    throws
  {
    let fake = Self.refused()
    fake.addUser(UserRecord(name: "ada", uid: 1003, gid: 1003, home: "/home/ada"))
    let context = try AccessContext(for: .user("ada"), path: "/dev/video0", system: fake)
    let report = CameraAccessor(context, analytics: .inMemory).checkAccess()
    #expect(report.subject?.name == "ada" && report.resources.map(\.path) == ["/dev/video0"])
    #expect(throws: PermissionError.self) {
      _ = try AccessContext(for: .user("nobody-at-all"), system: fake)
    }
  }

  @Test func `The purpose is shown with the question`() throws {
    let fake = Scene.system()
    fake.add("/home/anna", FakeNode(kind: .directory, mode: 0o755, uid: 1000))
    fake.add("/home/anna/Pictures", FakeNode(kind: .directory, mode: 0o055, uid: 1000))
    let photos = PhotoLibraryAccessor(AccessContext(system: fake), analytics: .inMemory)
    let purpose = Mutex<String?>(nil)
    photos.grants.purpose = "snapshot keeps its pictures there"
    photos.grants.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      purpose.withLock { $0 = plan.purpose }
      return false
    }
    #expect(try photos.requestAccessIfNeeded().requestOutcome == .declined)
    #expect(purpose.withLock { $0 } == "snapshot keeps its pictures there")
  }

  @Test func `Several are requested in order`() throws {
    let context = AccessContext(system: Self.refused())
    let accessors = [
      MicrophoneAccessor(context, analytics: .inMemory),
      CameraAccessor(context, analytics: .inMemory),
      PhotoLibraryAccessor(context, analytics: .inMemory),
    ]
    var seen: [String] = []
    let reports = try accessors.requestAccessIfNeeded { seen.append($0.accessor) }
    #expect(seen == ["microphone", "camera", "photos"] && reports.map(\.accessor) == seen)
  }

  /// What is followed is the system of the accessor, not that of the machine.
  @Test func `A stream follows changes of any system`() async throws {
    let fake = Self.refused()
    let gate = PermissionGate {
      CameraAccessor(AccessContext(system: fake), analytics: .discard)
    }
    let changes = await gate.changes(following: true)
    var seen: [AuthorizationChange] = []
    for await change in changes {
      seen.append(change)
      if change.to == .denied {
        Scene.camera(fake, 0o666)
        fake.notify([.attributes], "/dev/video0")
      } else if change.to == .authorized {
        break
      }
    }
    #expect(seen.map(\.to).suffix(2) == [.denied, .authorized])
    #expect(seen.last?.report?.status == .authorized && seen.last?.cause != nil)
  }
}

/// Accessors that contradict themselves do not pass.
@Suite struct ContractTests {
  final class Scripted: PermissionAccessor {
    let report: AccessReport
    init(_ report: AccessReport, _ log: AnalyticsLog) {
      self.report = report
      super.init(name: report.accessor, analytics: log)
    }
    override func checkAccess() -> AccessReport { report }
  }

  private static func report(
    _ status: AuthorizationStatus, _ devices: [(String, AuthorizationStatus)],
    isRequestable: Bool = false
  ) -> AccessReport {
    AccessReport(
      accessor: "scripted", status: status, isRequestable: isRequestable,
      resources: devices.enumerated().map { index, device in
        ResourceReport(
          path: PathBytes("/dev/x\(index)"), label: device.0, device: device.0, need: .read,
          status: device.1)
      })
  }

  static let honest = [
    report(.authorized, [("a", .authorized)]), report(.authorized, []), report(.denied, []),
    report(.denied, [("a", .denied)], isRequestable: true),
    report(.limited, [("a", .authorized), ("b", .denied)], isRequestable: true),
    report(.limited, [("a", .limited)]), report(.denied, [("a", .authorized), ("a", .denied)]),
    report(.unavailable, [("a", .unavailable)]),
    report(.notDetermined, [("a", .unavailable), ("b", .notDetermined)]),
  ]

  static let liars = [
    report(.denied, [("a", .authorized)]), report(.authorized, [("a", .denied)]),
    report(.authorized, [("a", .authorized), ("b", .denied)]),
    report(.authorized, [("a", .authorized), ("a", .denied)]),
    report(.limited, [("a", .authorized)]), report(.limited, [("a", .denied)]),
    report(.restricted, [("a", .denied)]), report(.unavailable, [("a", .limited)]),
    report(.notDetermined, [("a", .authorized), ("b", .notDetermined)]),
    report(.authorized, [("a", .authorized)], isRequestable: true),
    report(.restricted, [("a", .restricted)], isRequestable: true),
    report(.unavailable, [], isRequestable: true),
  ]

  @Test(arguments: honest) func `An honest accessor keeps the contract`(_ report: AccessReport) {
    let violations = AccessorContract.violations { Scripted(report, $0) }
    #expect(violations.isEmpty, "\(report.status): \(violations)")
  }

  @Test(arguments: liars) func `A lying accessor violates the contract`(_ report: AccessReport) {
    #expect(!AccessorContract.violations { Scripted(report, $0) }.isEmpty, "\(report)")
  }
}
