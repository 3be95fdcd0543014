import PermissionKit
import PermissionKitTesting
import Testing

/// What the kernel contradicts is asked again once: a change in between is no sandbox.
@Suite struct RaceTests {
  static let node: PathBytes = "/dev/video0"

  static func system(mode: UInt16) -> FakeSystem {
    let fake = FakeSystem()
    put(fake, mode)
    return fake
  }

  static func put(_ fake: FakeSystem, _ mode: UInt16) {
    fake.add(node, FakeNode(kind: .characterDevice, mode: mode, device: .init(major: 81, minor: 0)))
  }

  func checked(_ fake: FakeSystem, _ changes: [@Sendable (FakeSystem) -> Void]) -> ResourceReport? {
    fake.change(beforeOpening: Self.node, changes)
    var context = AccessContext(system: fake)
    context.path = Self.node
    return CameraAccessor(context, analytics: .inMemory).checkAccess().resources.first
  }

  @Test func `Access that is removed during a check is not authorized`() throws {
    let report = try #require(checked(Self.system(mode: 0o666), [{ Self.put($0, 0o600) }]))
    #expect(report.status == .denied && report.reasons.map(\.code) == [.otherBits])
  }

  @Test func `Access that is given during a check is found`() throws {
    let report = try #require(checked(Self.system(mode: 0o600), [{ Self.put($0, 0o666) }]))
    #expect(report.status == .authorized && report.reasons.isEmpty)
  }

  @Test func `A file that is removed during a check is reported`() throws {
    let report = try #require(checked(Self.system(mode: 0o666), [{ $0.remove(Self.node) }]))
    #expect(report.status == .unavailable && report.reasons.first?.code == .noDevice)
  }

  /// Once is enough: what never holds still is suspected, and proven is nothing.
  @Test func `Answers that keep changing are not determined`() throws {
    let closing: @Sendable (FakeSystem) -> Void = { Self.put($0, 0o600) }
    let opening: @Sendable (FakeSystem) -> Void = { Self.put($0, 0o666) }
    let report = try #require(
      checked(Self.system(mode: 0o600), [opening, closing, opening, closing]))
    #expect(report.reasons.allSatisfy { $0.certainty == .suspected })
  }

  /// Nothing is asked twice, nor anything else, where the kernel says what the facts say.
  @Test func `No further call is made if kernel and facts agree`() throws {
    let fake = Self.system(mode: 0o666)
    _ = checked(fake, [])
    let granted = fake.calls.count { $0 == "openat" }
    #expect(!fake.calls.contains("openat2") && !fake.calls.contains("lsm_list_modules"))
    let other = Self.system(mode: 0o600)
    _ = checked(other, [])
    #expect(!other.calls.contains("openat2"))
    // Whether udev gives the device to the seat, which seats there are, whether /proc shows the descriptor, and the files
    // of users and groups, for each name; a cached system reads them once.
    #expect(other.calls.count { $0 == "openat" } <= granted + 17)
  }

  /// A video node that captures for somebody else opens, and is not usable all the same.
  @Test func `A stream in use is seen by the driver's answer`() throws {
    let fake = FakeSystem()
    fake.add(
      Self.node, FakeNode(kind: .characterDevice, mode: 0o666, device: .init(major: 81, minor: 0)))
    fake.add("/sys/dev/char/81:0", FakeNode(contents: ""))
    let free = try #require(checked(fake, []))
    #expect(free.status == .authorized)
    fake.force("reqbufs", .EBUSY)
    let busy = try #require(checked(fake, []))
    #expect(busy.status == .restricted && busy.reasons.map(\.code) == [.busy])
    #expect(busy.probe?.isBusy == true && busy.probe?.errno == nil)
    fake.force("reqbufs", .EINVAL)
    #expect(checked(fake, [])?.status == .authorized)
  }

  /// A filter that lets open(2) pass and refuses ioctl(2) leaves nothing to use.
  @Test(arguments: [
    (Errno.EPERM, 2, Reason.Code.seccomp), (.ENOSYS, 2, .seccomp),
    (.EACCES, 0, .landlockOrLSM),
  ])
  func `What can be opened and not used is no access`(
    _ errno: Errno, _ filter: Int, _ code: Reason.Code
  ) throws {
    let fake = FakeSystem()
    fake.add(
      Self.node, FakeNode(kind: .characterDevice, mode: 0o666, device: .init(major: 81, minor: 0)))
    fake.add("/sys/dev/char/81:0", FakeNode(contents: ""))
    fake.add("/proc/self/status", .file(Scene.status("permcheck", 1000, seccomp: filter)))
    fake.force("reqbufs", errno)
    let report = try #require(checked(fake, []))
    #expect(report.status == .restricted)
    #expect(report.reasons.map(\.code) == [code], "\(report.reasons)")
    #expect(report.reasons[0].message.contains("ioctl(2) on it fails (\(errno))"))
    #expect(report.probe?.call == "ioctl")
  }
}
