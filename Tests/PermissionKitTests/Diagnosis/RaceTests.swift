import PermissionKit
import PermissionKitTesting
import Synchronization
import Testing

/// A system in which something changes just before the kernel is asked about a node.
final class ChangingSystem: System {
  let fake: FakeSystem
  private let node: PathBytes
  private let changes: Mutex<[@Sendable (FakeSystem) -> Void]>

  init(
    _ fake: FakeSystem, at node: PathBytes, _ changes: [@Sendable (FakeSystem) -> Void]
  ) {
    self.fake = fake
    self.node = node
    self.changes = Mutex(changes)
  }

  func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    if path == node, flags.contains(.readWrite) {
      let change = changes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      change?(fake)
    }
    return try fake.openat(directory, path, flags, mode: mode)
  }

  func close(_ descriptor: Descriptor) { fake.close(descriptor) }
  func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    try fake.read(descriptor, count)
  }
  func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int { throw .ENOSYS }
  func mkdirat(_ directory: Descriptor, _ path: PathBytes, mode: UInt16) throws(Errno) {
    throw .ENOSYS
  }
  func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields { try fake.statx(descriptor) }
  func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    try fake.readlinkat(descriptor)
  }
  func getxattr(_ attribute: ACLAttribute, of descriptor: Descriptor) throws(Errno) -> [UInt8] {
    try fake.getxattr(attribute, of: descriptor)
  }
  func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    try fake.statmount(descriptor)
  }
  func fstatfs(_ descriptor: Descriptor) throws(Errno) -> MountFacts {
    try fake.fstatfs(descriptor)
  }
  func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    try fake.getdents(descriptor)
  }
  func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    try fake.faccessat2(path, need)
  }
  func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability { throw .ENOTTY }
  func credentials() throws(Errno) -> Credentials { try fake.credentials() }
  func getpid() -> Int32 { fake.getpid() }
  func getenv(_ name: String) -> PathBytes? { fake.getenv(name) }
  func getcwd() throws(Errno) -> PathBytes { try fake.getcwd() }
  func isatty(_ descriptor: Descriptor) -> Bool { false }
  func columns(_ descriptor: Descriptor) -> Int? { nil }
  func getpwnam(_ name: String) throws(Errno) -> UserRecord? { try fake.getpwnam(name) }
  func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord? { try fake.getpwuid(uid) }
  func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32] { try fake.getgrouplist(user) }
  func getgrgid(_ gid: UInt32) throws(Errno) -> String? { try fake.getgrgid(gid) }
  func realtime() -> Int64 { fake.realtime() }
  func monotonic() -> Int64 { fake.monotonic() }
  func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor { try openat(directory, path, flags, mode: 0) }
  func lsm_list_modules() throws(Errno) -> [UInt64] { try fake.lsm_list_modules() }
  func reqbufs(none descriptor: Descriptor) throws(Errno) { try fake.reqbufs(none: descriptor) }
}

/// What the kernel contradicts is asked again once: a change in between is no sandbox.
@Suite struct RaceTests {
  static let node: PathBytes = "/dev/video0"

  static func system(mode: UInt16) -> FakeSystem {
    let fake = FakeSystem()
    put(fake, mode)
    return fake
  }

  static func put(_ fake: FakeSystem, _ mode: UInt16) {
    fake.add(node, kind: .characterDevice, mode: mode, device: .init(major: 1, minor: 3))
  }

  func checked(_ fake: FakeSystem, _ changes: [@Sendable (FakeSystem) -> Void]) -> ResourceReport? {
    let system = ChangingSystem(fake, at: Self.node, changes)
    var context = AccessContext(system: system)
    context.path = Self.node
    return CameraAccessor(context, analytics: .inMemory).checkAccess().resources.first
  }

  @Test func takenAwayMeanwhile() throws {
    let report = try #require(checked(Self.system(mode: 0o666), [{ Self.put($0, 0o600) }]))
    #expect(report.status == .denied && report.reasons.map(\.code) == [.otherBits])
  }

  @Test func givenMeanwhile() throws {
    let report = try #require(checked(Self.system(mode: 0o600), [{ Self.put($0, 0o666) }]))
    #expect(report.status == .authorized && report.reasons.isEmpty)
  }

  @Test func goneMeanwhile() throws {
    let report = try #require(checked(Self.system(mode: 0o666), [{ $0.remove(Self.node) }]))
    #expect(report.status == .unavailable && report.reasons.first?.code == .noDevice)
  }

  /// Once is enough: what never holds still is suspected, and proven is nothing.
  @Test func neverTheSame() throws {
    let closing: @Sendable (FakeSystem) -> Void = { Self.put($0, 0o600) }
    let opening: @Sendable (FakeSystem) -> Void = { Self.put($0, 0o666) }
    let report = try #require(
      checked(Self.system(mode: 0o600), [opening, closing, opening, closing]))
    #expect(report.reasons.allSatisfy { $0.certainty == .suspected })
  }

  /// Nothing is asked twice, nor anything else, where the kernel says what the facts say.
  @Test func agreementAsksNothingMore() throws {
    let fake = Self.system(mode: 0o666)
    _ = checked(fake, [])
    let granted = fake.calls.count { $0 == "openat" }
    #expect(!fake.calls.contains("openat2") && !fake.calls.contains("lsm_list_modules"))
    let other = Self.system(mode: 0o600)
    _ = checked(other, [])
    #expect(!other.calls.contains("openat2") && !other.calls.contains("getgrouplist"))
    #expect(other.calls.count { $0 == "openat" } <= granted + 1)
  }

  /// A video node that captures for somebody else opens, and is not usable all the same.
  @Test func aStreamIsSeenByTheDriversAnswer() throws {
    let fake = FakeSystem()
    fake.add(
      Self.node, kind: .characterDevice, mode: 0o666, device: .init(major: 81, minor: 0))
    fake.add("/sys/dev/char/81:0", contents: "")
    let free = try #require(checked(fake, []))
    #expect(free.status == .authorized)
    fake.force("reqbufs", .EBUSY)
    let busy = try #require(checked(fake, []))
    #expect(busy.status == .restricted && busy.reasons.map(\.code) == [.busy])
    #expect(busy.probe?.isBusy == true && busy.probe?.errno == nil)
    fake.force("reqbufs", .EINVAL)
    #expect(checked(fake, [])?.status == .authorized)
  }
}
