import PermissionKit
import PermissionKitTesting
import Testing

/// Rules about places that are no reason of their own: CI services, devices of no family, another
/// root, several walls at once.
@Suite struct DiagnosisPlaceTests {
  private static let fuse: PathBytes = "/dev/fuse"

  private static func resource(_ question: Question, _ fake: FakeSystem) throws -> ResourceReport {
    try #require(try question.report(fake).resources.first)
  }

  @Test(arguments: [
    ("GITHUB_ACTIONS", "GitHub Actions"), ("GITLAB_CI", "GitLab CI"), ("CIRCLECI", "CircleCI"),
    ("TRAVIS", "Travis CI"), ("TF_BUILD", "Azure Pipelines"), ("BUILDKITE", "Buildkite"),
    ("JENKINS_URL", "Jenkins"), ("CI", "CI"),
  ]) func `A CI service is recognised by its variable`(_ variable: String, _ name: String) throws {
    for (question, module) in [(Question.camera, "vivid"), (.microphone, "snd-aloop")] {
      let fake = Scene.system()
      let elsewhere = try Self.resource(question, fake)
      #expect(elsewhere.remedies.isEmpty)
      #expect(!elsewhere.reasons[0].evidence.contains { $0.contains(name) })
      fake.setEnvironment(variable, "true")
      let there = try Self.resource(question, fake)
      #expect(there.reasons.map(\.code) == [.noDevice])
      #expect(there.reasons[0].evidence.contains { $0.contains(name) })
      let driver = Wanted(
        kind: .driver, command: ["modprobe", PathBytes(module)], persistence: .untilReboot,
        needsRoot: true)
      try #require(there.remedies.count == 1)
      driver.check(there.remedies[0], variable)
    }
  }

  /// A device that is refused is none that the runner lacks.
  @Test func `A CI service is not named as the cause of a refusal`() throws {
    let fake = Scene.system()
    fake.setEnvironment("CI", "true")
    Scene.camera(fake, 0o600)
    let report = try Self.resource(.camera, fake)
    #expect(report.reasons.map(\.code) == [.otherBits])
    #expect(report.remedies.map(\.kind) == [.acl])
  }

  private static let places: [(name: String, place: DiagnosisRow.Setting)] = [
    ("Docker", { $0.add("/.dockerenv") }),
    ("Flatpak", { $0.add("/.flatpak-info", .file("[Application]\nname=org.x.Cam\n")) }),
    ("WSL", { $0.add("/proc/sys/kernel/osrelease", .file("5.15-microsoft\n")) }),
    (
      "snap",
      {
        $0.setEnvironment("SNAP", "/snap/cam/x1")
        $0.setEnvironment("SNAP_NAME", "cam")
      }
    ),
    (
      "a service",
      {
        $0.add("/proc/self/cgroup", .file("0::/system.slice/cam.service\n"))
        $0.add("/etc/systemd/system/cam.service", .file("PrivateDevices=yes\n"))
      }
    ),
    ("CI", { $0.setEnvironment("CI", "true") }),
  ]

  /// What is given to a container for a camera is no help for another device.
  @Test(arguments: 0..<6)
  func `A device of no family gets no advice about cameras`(_ index: Int) throws {
    let fake = Scene.system()
    Self.places[index].place(fake)
    // An entry of sysfs lists the cameras, and this is none of them.
    fake.add("/sys/class/video4linux/video0/dev", .file("81:0\n"))
    Scene.device(fake, Self.fuse, DeviceNumber(major: 10, minor: 229), mode: 0o666)
    Scene.refuseDevice(fake, Self.fuse)
    let report = try Self.resource(.path(Self.fuse), fake)
    let isService = Self.places[index].name == "a service"
    #expect(report.status == .restricted)
    #expect(report.reasons.map(\.code) == [.deviceCgroup] + (isService ? [.sandbox] : []))
    let device: [PathBytes] = [
      "systemctl", "set-property", "cam.service", "DeviceAllow=/dev/fuse rw",
    ]
    #expect(
      report.remedies.map(\.command) == (isService ? [device] : []), "\(Self.places[index].name)")
    let words = report.reasons.flatMap { [$0.message] + $0.evidence }.joined()
    #expect(!words.contains("camera") && !words.contains("video"))
  }

  /// The same, named as a camera's node: then there is advice.
  @Test func `Advice about cameras is given for a camera`() throws {
    let fake = Scene.system()
    Self.places[0].place(fake)
    Scene.camera(fake, 0o666)
    Scene.refuseDevice(fake, Scene.camera)
    let report = try Self.resource(.path(Scene.camera), fake)
    #expect(report.reasons.map(\.code) == [.deviceCgroup, .container])
    #expect(report.remedies.map(\.command) == [["docker", "run", "--device=/dev/video0", "IMAGE"]])
  }

  /// A family that a plug-in adds has the node itself as its advice, and no plug or USB of cameras.
  @Test func `A family of a plug-in has its own advice`() throws {
    let serial = DeviceFamily(
      noun: "serial port", subsystem: "tty", nodePatterns: ["ttyUSB#"], majors: [188],
      opening: .disturbs)
    for (name, place) in Self.places where name != "CI" {
      let fake = Scene.system()
      place(fake)
      Scene.device(fake, "/dev/ttyUSB0", DeviceNumber(major: 188, minor: 0), mode: 0o666)
      fake.force("faccessat2", .EPERM, on: "/dev/ttyUSB0")
      var context = AccessContext(system: fake)
      context.families.append(serial)
      let given = context
      let explanation = Explanation(
        try Inspection(given) { _ in [Inspection.Target(path: "/dev/ttyUSB0", in: given)] })
      let report = try #require(explanation.reports.first?.resources.first)
      #expect(report.probe?.method == .access, "\(name)")
      #expect(report.reasons.first?.code == .deviceCgroup, "\(name)")
      let texts = report.remedies.map { remedy in
        (remedy.command.map(\.description) + [remedy.line ?? ""]).joined(separator: " ")
      }
      let wanted = [
        "Docker": ["docker run --device=/dev/ttyUSB0 IMAGE "],
        "a service": [
          "systemctl set-property cam.service DeviceAllow=/dev/ttyUSB0 rw "
        ],
      ]
      #expect(texts == wanted[name] ?? [], "\(name)")
    }
  }

  /// Each wall is named, the innermost first, and each has its own way out.
  @Test func `Several layers that refuse are all named`() throws {
    let fake = Scene.system()
    Self.places[1].place(fake)
    Self.places[0].place(fake)
    Self.places[2].place(fake)
    let report = try Self.resource(.camera, fake)
    #expect(report.reasons.map(\.code) == [.noDevice, .sandbox, .container, .container])
    #expect(report.remedies.map { $0.command.first } == ["flatpak", "docker", "usbipd"])
    #expect(report.remedies.allSatisfy { !$0.command.contains("--privileged") })
  }

  /// Below another root its markers count, and what this process is in does not.
  @Test func `Marker files below the root of a process are found`() throws {
    let fake = Scene.system()
    fake.setEnvironment("CI", "true")
    fake.setEnvironment("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    fake.mount("/dev", "tmpfs")
    fake.add("/tree/dev/null")
    let context = AccessContext(system: fake, root: "/tree", probe: .none)
    func report() throws -> ResourceReport {
      let accessor = CameraAccessor(context, analytics: .inMemory)
      return try #require(accessor.checkAccess().resources.first)
    }
    let bare = try report()
    #expect(bare.reasons.map(\.code) == [.noDevice] && bare.remedies.isEmpty)
    fake.add("/tree/.dockerenv")
    #expect(try report().reasons.map(\.code) == [.noDevice, .container])
  }
}
