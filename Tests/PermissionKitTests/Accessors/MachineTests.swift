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

  @Test func `Groups decide`() {
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

  @Test func `An empty machine has nothing`() {
    #expect(Self.statuses(FakeSystem(user: "ada")).prefix(2) == [.unavailable, .unavailable])
  }

  @Test func `Each camera counts`() {
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
}
