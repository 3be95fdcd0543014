import PermissionKit
import PermissionKitTesting
import Testing

// The tests in the article "Test an accessor" of the library's documentation.
private final class ShelfAccessor: ResourceAccessor {
  override func resources(for subject: Subject) -> ResourceSet {
    ResourceSet(resources: [
      Resource(path: "/srv/shelf", label: "shelf", device: "shelf", need: .read, kind: .directory)
    ])
  }
}

struct ArticleTests {
  @Test func `A closed shelf is denied`() {
    let fake = FakeSystem(user: "ada")
    fake.add("/srv", FakeNode(kind: .directory, mode: 0o755))
    fake.add("/srv/shelf", FakeNode(kind: .directory, mode: 0o700))
    let make = { ShelfAccessor(name: "shelf", context: AccessContext(system: fake), analytics: $0) }
    #expect(make(.inMemory).currentAccess().status == .denied)
    #expect(AccessorContract.violations(of: make) == [])
  }

  @Test func `The camera is busy`() throws {
    let fake = FakeSystem(user: "ada", groups: ["video"])
    fake.addCamera()
    let camera = CameraAccessor(AccessContext(system: fake), analytics: .inMemory)
    #expect(camera.currentAccess().status == .authorized)
    try fake.occupy("/dev/video0", by: "cheese")
    #expect(camera.currentAccess().mainReason?.code == .busy)
  }

  @Test func `The owner gets the folder`() throws {
    let fake = FakeSystem(user: "ada")
    fake.addPictures(mode: 0)
    let photos = PhotoLibraryAccessor(AccessContext(system: fake), analytics: .inMemory)
    photos.grants.consent = { _ in true }
    #expect(try photos.requestAccessIfNeeded().isGranted)
    #expect(photos.latestReport?.requestOutcome == .granted)
    #expect(try photos.revokeAccess())
    #expect(photos.currentAccess().status == .denied)
  }
}
