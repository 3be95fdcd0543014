import PermissionKit
import PermissionKitTesting
import Testing

/// A machine in memory, as another package sets it up, and what a check of it must find.
private struct Scene: Sendable, CustomTestStringConvertible {
  enum Wanted: Sendable {
    case camera
    case microphone
    case pictures
    /// A folder or a node that the program names.
    case path(PathBytes)
  }

  var code: Reason.Code
  var status = AuthorizationStatus.denied
  var wanted = Wanted.camera
  var need: Permissions?
  var user: String?
  var setUp: @Sendable (FakeSystem) throws -> Void

  var testDescription: String { code.rawValue }

  func report() throws -> AccessReport {
    let fake = FakeSystem(user: "ada")
    try setUp(fake)
    var context = try AccessContext(for: user.map { .user($0) } ?? .current, system: fake)
    context.need = need
    switch wanted {
    case .camera: return CameraAccessor(context).currentAccess()
    case .microphone: return MicrophoneAccessor(context).currentAccess()
    case .pictures: return PhotoLibraryAccessor(context).currentAccess()
    case .path(let path):
      context.path = path
      return PhotoLibraryAccessor(context).currentAccess()
    }
  }
}

/// What a program's own tests can set up without a device and without root.
@Suite struct FakeTests {
  private static let video: PathBytes = "/dev/video0"
  private static let pictures: PathBytes = "/home/ada/Pictures"

  private static func acl(ada: Permissions, mask: Permissions) -> AccessControlList {
    AccessControlList([
      .init(.owner, [.read, .write]), .init(.user, id: 1000, ada),
      .init(.owningGroup, [.read, .write]), .init(.mask, mask), .init(.other, []),
    ])
  }

  /// What a developer of a program meets most.
  private static let scenes: [Scene] = [
    Scene(code: .notInGroup) { $0.addCamera() },
    Scene(code: .ownerBits) {
      $0.addCamera()
      $0.chown(video, uid: 1000, gid: 44)
      $0.chmod(video, 0o060)
    },
    Scene(code: .groupBits) {
      $0.addUser("ben", groups: ["video"])
      try $0.become("ben")
      $0.addCamera(mode: 0o606)
    },
    Scene(code: .otherBits) {
      $0.addCamera()
      $0.chmod(video, 0o600)
    },
    Scene(code: .aclEntry) {
      $0.addCamera()
      $0.setACL(video, acl(ada: .read, mask: [.read, .write]))
    },
    Scene(code: .aclMask) {
      $0.addCamera()
      $0.setACL(video, acl(ada: [.read, .write], mask: .read))
    },
    Scene(code: .parentSearch, wanted: .path("/srv/box/pictures")) {
      $0.add("/srv/box/pictures", FakeNode(kind: .directory))
      $0.chmod("/srv/box", 0o700)
    },
    Scene(code: .staleGroups) {
      $0.addCamera()
      try $0.addToGroup("video", "ada")
    },
    Scene(code: .noSeatACL) {
      $0.addUser("ben")
      $0.addCamera()
      try $0.setSeat("ben")
    },
    Scene(code: .readOnlyMount, status: .restricted, wanted: .pictures, need: [.read, .write]) {
      $0.mount(pictures, "ext4", options: "ro")
      $0.chown(pictures, uid: 1000, gid: 1000)
    },
    Scene(code: .nodevMount, status: .restricted) {
      $0.mount("/dev", "tmpfs", options: "rw,nodev")
      $0.addCamera(mode: 0o666)
    },
    Scene(code: .immutable, status: .restricted, wanted: .pictures, need: .write) {
      var folder = FakeNode(kind: .directory, uid: 1000, gid: 1000)
      folder.isImmutable = true
      $0.add(pictures, folder)
    },
    Scene(code: .deviceCgroup, status: .restricted) {
      $0.addCamera(mode: 0o666)
      $0.refuse(video, by: .deviceCgroup)
    },
    Scene(code: .landlockOrLSM, status: .restricted) {
      $0.addCamera(mode: 0o666)
      $0.refuse(video, by: .landlock)
    },
    Scene(code: .seccomp, status: .restricted) {
      $0.addCamera(mode: 0o666)
      $0.refuse(video, by: .seccomp)
    },
    Scene(code: .driver, status: .notDetermined) {
      $0.addCamera(mode: 0o666)
      $0.force("openat", .EIO, on: video)
      $0.force("openat2", .EIO, on: video)
    },
    Scene(code: .busy, status: .restricted) {
      $0.addCamera(mode: 0o666)
      try $0.occupy(video, by: "recorder")
    },
    Scene(code: .busy, status: .restricted, wanted: .microphone) {
      $0.addMicrophone(mode: 0o666)
      try $0.occupy("/dev/snd/pcmC0D0c", by: "recorder")
    },
    Scene(code: .noDriver, status: .unavailable, wanted: .camera) {
      $0.addCamera(mode: 0o666)
      $0.force("openat", .ENXIO, on: video)
      $0.force("openat2", .ENXIO, on: video)
      $0.remove("/sys/dev/char/81:0/uevent")
    },
    Scene(code: .noDevice, status: .unavailable) { _ in },
    Scene(code: .noDevice, status: .unavailable, wanted: .pictures) { _ in },
    Scene(code: .danglingSymlink, status: .unavailable, wanted: .path("/srv/pictures")) {
      $0.add("/srv/pictures", FakeNode(kind: .symbolicLink, target: "/mnt/disk/pictures"))
    },
    Scene(code: .rootWithoutCapability) {
      $0.addCamera(mode: 0o000)
      var root = Credentials(uid: 0, gid: 0, groups: [])
      root.effective = []
      root.permitted = []
      $0.become(root)
    },
    Scene(code: .networkFS, status: .restricted, wanted: .path("/mnt")) {
      $0.mount("/mnt", "nfs4")
      $0.force("openat", .EACCES, on: "/mnt")
      $0.force("openat2", .EACCES, on: "/mnt")
    },
    Scene(code: .notInGroup, user: "ben") {
      $0.addUser("ben", groups: ["audio"])
      $0.addCamera()
    },
  ]

  @Test(arguments: scenes) private func `The reason is reached`(_ scene: Scene) throws {
    let report = try scene.report()
    let reasons = report.resources.flatMap(\.reasons)
    #expect(report.status == scene.status, "\(report): \(reasons)")
    #expect(reasons.contains { $0.code == scene.code }, "\(report): \(reasons)")
  }

  @Test func `Twenty reasons and every status are covered`() throws {
    let reports = try Self.scenes.map { try $0.report() }
    #expect(Set(Self.scenes.map(\.code)).count >= 20)
    var statuses = Set(reports.map(\.status))
    statuses.insert(report { $0.addCamera(mode: 0o666) }.status)
    statuses.insert(
      report {
        $0.addCamera(mode: 0o666)
        $0.addCamera(1, mode: 0o600)
      }.status)
    statuses.insert(
      report {
        $0.addCamera(mode: 0o666)
        $0.force("statx", .EIO, on: Self.video)
      }.status)
    #expect(statuses == Set(AuthorizationStatus.allCases))
  }

  private func report(_ setUp: (FakeSystem) throws -> Void) rethrows -> AccessReport {
    let fake = FakeSystem(user: "ada")
    try setUp(fake)
    return CameraAccessor(AccessContext(system: fake)).currentAccess()
  }

  @Test func `The active user of the seat has the devices`() throws {
    let fake = FakeSystem(user: "ada")
    fake.addUser("ben")
    fake.addCamera()
    fake.addMicrophone()
    for user in ["ada", "ben", nil] {
      try fake.setSeat(user)
      for name in ["ada", "ben"] {
        let context = try AccessContext(for: .user(name), system: fake)
        #expect(CameraAccessor(context).hasAccess() == (name == user), "\(name), \(user ?? "")")
        #expect(MicrophoneAccessor(context).hasAccess() == (name == user), "\(name)")
      }
    }
  }

  @Test func `A process that becomes another user has that user's access`() throws {
    let fake = FakeSystem(user: "ada", groups: ["video"])
    fake.addUser("ben")
    fake.addCamera()
    let camera = CameraAccessor(AccessContext(system: fake))
    #expect(camera.hasAccess())
    try fake.become("ben")
    #expect(!camera.hasAccess())
    try fake.become("root")
    #expect(camera.hasAccess())
    try fake.become("ada")
    #expect(camera.hasAccess())
  }

  @Test func `An unknown user is an error that does not end the process`() {
    let fake = FakeSystem(user: "ada")
    for call in [
      { try fake.become("eve") }, { try fake.setSeat("eve") },
      { try fake.addToGroup("video", "eve") },
      { try fake.occupy(Self.video, by: "recorder", user: "eve") },
    ] as [() throws -> Void] {
      let error = #expect(throws: PermissionError.self) { try call() }
      #expect(error?.code == .unknownUser)
    }
  }

  @Test func `A released device is not busy`() throws {
    let fake = FakeSystem(user: "ada", groups: ["video", "audio"])
    fake.addCamera()
    fake.addMicrophone()
    for (path, accessor) in [
      (Self.video, CameraAccessor(AccessContext(system: fake)) as ResourceAccessor),
      ("/dev/snd/pcmC0D0c", MicrophoneAccessor(AccessContext(system: fake))),
    ] {
      try fake.occupy(path, by: "recorder")
      let busy = accessor.currentAccess()
      #expect(busy.resources.flatMap(\.reasons).contains { $0.message.contains("recorder") })
      fake.release(path)
      #expect(accessor.hasAccess())
    }
  }
}
