import PermissionKit
import PermissionKitTesting
import Testing

/// Which nodes belong to a family: the number that a driver registered decides, not the name.
@Suite struct MembershipTests {
  private static func isCamera(
    _ path: PathBytes, _ minor: UInt32, below root: PathBytes = "/"
  ) -> Bool {
    let fake = FakeSystem()
    fake.add("/sys/class/video4linux/video0/dev", .file("81:0\n"))
    fake.add("/sys/class/video4linux/v4l-subdev0/dev", .file("81:9\n"))
    return DeviceFamily.camera.contains(
      path, DeviceNumber(major: 81, minor: minor), below: root, fake)
  }

  @Test func `A registered number belongs under any name`() {
    #expect(Self.isCamera("/dev/video0", 0))
    #expect(Self.isCamera("/dev/front", 0))
    #expect(Self.isCamera("/dev/v4l/by-id/usb-Lens-index0", 0))
  }

  @Test func `A number that the driver registered for something else does not`() {
    #expect(!Self.isCamera("/dev/video5", 9))
    #expect(!Self.isCamera("/dev/v4l-subdev0", 9))
  }

  @Test func `A node with another number does not belong by its name`() {
    #expect(!Self.isCamera("/dev/video0", 5))
  }

  @Test func `An unknown number belongs in its place`() {
    #expect(Self.isCamera("/dev/video7", 7))
    #expect(!Self.isCamera("/tmp/video7", 7))
    #expect(!Self.isCamera("/dev/front", 7))
  }

  @Test func `An unknown number needs a range of numbers`() {
    let family = DeviceFamily(
      noun: "gate array", subsystem: "fpga", nodePatterns: ["fpga#"], opening: .harmless)
    let fake = FakeSystem()
    fake.add("/sys/class/fpga/fpga0/dev", .file("10:120\n"))
    func isMember(_ path: PathBytes, _ minor: UInt32) -> Bool {
      family.contains(path, DeviceNumber(major: 10, minor: minor), below: "/", fake)
    }
    #expect(isMember("/dev/fpga0", 120))
    #expect(!isMember("/dev/fpga1", 229))
  }

  @Test func `A node with another major number never belongs`() {
    let number = DeviceNumber(major: 1, minor: 3)
    #expect(!DeviceFamily.camera.contains("/dev/video0", number, below: "/", FakeSystem()))
  }

  @Test func `Below a root without sysfs the place decides`() {
    #expect(Self.isCamera("/srv/dev/video0", 3, below: "/srv"))
    #expect(!Self.isCamera("/srv/dev/null", 3, below: "/srv"))
    let fake = FakeSystem()
    let standIn = DeviceNumber(major: 1, minor: 3)
    #expect(DeviceFamily.camera.contains("/srv/dev/video0", standIn, below: "/srv", fake))
    fake.add("/srv/sys/class/video4linux/video1/dev", .file("81:1\n"))
    #expect(!DeviceFamily.camera.contains("/srv/dev/video0", standIn, below: "/srv", fake))
  }
}
