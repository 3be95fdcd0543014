import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

/// The machine of a few lines that authors of accessors test with.
@Suite(.blocking) struct MachineTests {
  private static func statuses(_ fake: FakeSystem) -> [AuthorizationStatus] {
    let context = AccessContext(system: fake)
    return [
      CameraAccessor(context, analytics: .inMemory).checkAccess().status,
      MicrophoneAccessor(context, analytics: .inMemory).checkAccess().status,
      PhotoLibraryAccessor(context, analytics: .inMemory).checkAccess().status,
    ]
  }

  @Test func `The groups of the user decide`() {
    for (groups, wanted) in [
      ([], [.denied, .denied]), (["video"], [.authorized, .denied]),
      (["games", "audio", "video"], [.authorized, .authorized]),
    ] as [([String], [AuthorizationStatus])] {
      let fake = FakeSystem(user: "ada", groups: groups)
      fake.addCamera()
      fake.addMicrophone()
      fake.addPictures()
      #expect(Self.statuses(fake) == wanted + [.authorized], "\(groups)")
    }
  }

  @Test func `An empty machine has no devices`() {
    #expect(Self.statuses(FakeSystem(user: "ada")).prefix(2) == [.unavailable, .unavailable])
  }

  @Test func `Each camera is judged`() {
    let fake = FakeSystem(user: "ada", groups: ["video"])
    fake.addCamera()
    fake.addCamera(1, name: "Locked", mode: 0o600)
    #expect(Self.statuses(fake)[0] == .limited)
  }

  @Test func `The contract holds in one line`() {
    let fake = FakeSystem(user: "ada", groups: ["video"])
    fake.addCamera()
    let context = AccessContext(system: fake)
    #expect(AccessorContract.violations { CameraAccessor(context, analytics: $0) } == [])
  }

  @Test func `FakeSystem's root has every capability`() throws {
    let system = FakeSystem(user: "root")
    system.addCamera(mode: 0o000)
    system.addPictures(mode: 0o000)
    for accessor in [
      CameraAccessor(AccessContext(system: system), analytics: .inMemory),
      PhotoLibraryAccessor(AccessContext(system: system), analytics: .inMemory),
    ] {
      #expect(accessor.hasAccess(), "\(accessor.currentAccess().explanation)")
      #expect(accessor.currentAccess().subject?.credentials.user.effective == 0)
    }
  }
}
