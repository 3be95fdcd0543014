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

  @Test("Groups decide") func groupsDecide() {
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

  @Test("An empty machine has nothing") func anEmptyMachineHasNothing() {
    #expect(Self.statuses(FakeSystem(user: "ada")).prefix(2) == [.unavailable, .unavailable])
  }

  @Test("Each camera counts") func eachCameraCounts() {
    let fake = FakeSystem(user: "ada", groups: ["video"])
    fake.addCamera()
    fake.addCamera(1, name: "Locked", mode: 0o600)
    #expect(Self.statuses(fake)[0] == .limited)
  }

  @Test("The contract holds in one line") func theContractHoldsInOneLine() {
    let fake = FakeSystem(user: "ada", groups: ["video"])
    fake.addCamera()
    let context = AccessContext(system: fake)
    #expect(AccessorContract.violations { CameraAccessor(context, analytics: $0) } == [])
  }
}
