import PermissionKit
import PermissionKitTesting
import Testing

/// Units of systemd, whose files say what is taken away.
@Suite struct ServiceRows {
  static let rows: [DiagnosisRow] = settings + places

  /// Puts this process into the service, with these files.
  private static func service(
    _ files: [(PathBytes, String)], cgroup: String = "/system.slice/cam.service"
  ) -> DiagnosisRow.Setting {
    { fake in
      fake.add("/proc/self/cgroup", .file("0::\(cgroup)\n"))
      for (path, text) in files { fake.add(path, .file("[Service]\n\(text)\n")) }
    }
  }

  private static let unit: PathBytes = "/etc/systemd/system/cam.service"
  private static let packaged: PathBytes = "/usr/lib/systemd/system/cam.service"
  private static let edited: PathBytes = "/etc/systemd/system/cam.service.d/override.conf"

  private static func edit(_ line: String, _ unit: PathBytes = "cam.service") -> Wanted {
    Wanted(
      kind: .service, command: ["systemctl", "edit", unit], needsRoot: true,
      line: "[Service]\n" + line)
  }

  private static let allowed = Wanted(
    kind: .service,
    command: ["systemctl", "set-property", "cam.service", "DeviceAllow=char-video4linux rw"],
    needsRoot: true)

  private static func row(
    _ name: String, _ question: Question = .camera, evidence: [String], _ line: String?,
    _ scene: @escaping DiagnosisRow.Setting, beside: @escaping DiagnosisRow.Setting
  ) -> DiagnosisRow {
    DiagnosisRow(
      name: name, code: .sandbox, question: question, status: .unavailable,
      certainty: .suspected, evidence: evidence, mentions: ["cam.service"],
      remedies: line.map { [edit($0)] } ?? [], codes: [.noDevice, .sandbox],
      otherStatus: .unavailable,
      scene: scene, beside: beside)
  }

  private static let cameraLine = "PrivateDevices=no\nDeviceAllow=char-video4linux rw"

  private static let settings: [DiagnosisRow] = [
    row(
      "PrivateDevices, no camera", evidence: ["unit cam.service", "PrivateDevices=yes"],
      cameraLine, service([(unit, "User=cam\nPrivateDevices=yes")]),
      beside: service([(unit, "User=cam\nPrivateDevices=no")])),
    row(
      "PrivateDevices, no microphone", .microphone, evidence: ["PrivateDevices=true"],
      "PrivateDevices=no\nDeviceAllow=char-alsa rw", service([(unit, "PrivateDevices=true")]),
      beside: service([(unit, "PrivateDevices=false")])),
    row(
      "a device policy alone", evidence: ["DevicePolicy=closed"],
      nil, service([(unit, "DevicePolicy=closed")]),
      beside: service([(unit, "DevicePolicy=auto")])
    ).omitting("PrivateDevices"),
    row(
      "a setting of a drop-in", evidence: ["DeviceAllow=/dev/null rw"],
      nil,
      service([(unit, "User=cam"), (edited, "DeviceAllow=/dev/null rw")]),
      beside: service([(unit, "User=cam"), (edited, "Nice=5")])),
    row(
      "a drop-in takes a setting back", evidence: ["PrivateDevices=yes"], cameraLine,
      service([(unit, "PrivateDevices=yes"), (edited, "Nice=5")]),
      beside: service([(unit, "PrivateDevices=yes"), (edited, "PrivateDevices=no")])),
    row(
      "an empty assignment clears a list", evidence: ["DeviceAllow=/dev/null rw"],
      nil, service([(unit, "DeviceAllow=/dev/null rw")]),
      beside: service([(unit, "DeviceAllow=/dev/null rw"), (edited, "DeviceAllow=")])),
    row(
      "the later drop-in counts", evidence: ["DevicePolicy=strict"],
      nil,
      service([
        (unit, ""), ("/etc/systemd/system/cam.service.d/10.conf", "DevicePolicy=closed"),
        ("/run/systemd/system/cam.service.d/20.conf", "DevicePolicy=strict"),
      ]),
      beside: service([
        (unit, ""), ("/run/systemd/system/cam.service.d/10.conf", "DevicePolicy=closed"),
        ("/etc/systemd/system/cam.service.d/20.conf", "DevicePolicy=auto"),
      ])
    ).omitting("DevicePolicy=closed"),
    row(
      "a file of the administrator hides the package's", evidence: ["DevicePolicy=closed"],
      nil,
      service([(unit, "DevicePolicy=closed"), (packaged, "PrivateDevices=yes")]),
      beside: service([(unit, "User=cam"), (packaged, "PrivateDevices=yes")])
    ).omitting("PrivateDevices"),
    row(
      "the package's file", evidence: ["PrivateDevices=yes"], cameraLine,
      service([(packaged, "PrivateDevices=yes")]), beside: service([(packaged, "User=cam")])),
  ]

  private static let tmpfs: DiagnosisRow.Setting = { $0.mount("/dev", "tmpfs") }

  private static func folder(
    _ name: String, _ setting: String, _ line: String
  ) -> DiagnosisRow {
    let lacks: DiagnosisRow.Setting = {
      Scene.pictures($0, 0o700)
      Scene.refuse($0, .EACCES, "/home/anna/Pictures")
    }
    return DiagnosisRow(
      name: name, code: .serviceSandbox, question: .photos, status: .restricted,
      certainty: .suspected,
      evidence: [setting], mentions: ["cam.service"], remedies: [edit(line)],
      codes: [.landlockOrLSM, .serviceSandbox], otherStatus: .restricted,
      scene: {
        lacks($0)
        service([(unit, setting)])($0)
      },
      beside: {
        lacks($0)
        service([(unit, "User=cam")])($0)
      })
  }

  private static let places: [DiagnosisRow] = [
    folder("ProtectHome, folder", "ProtectHome=read-only", "ReadWritePaths=/home/anna/Pictures"),
    folder("InaccessiblePaths, folder", "InaccessiblePaths=/home", "InaccessiblePaths="),
    row(
      "a /dev of its own, the files hidden",
      evidence: ["unit cam.service", "devtmpfs", "not visible: the files of cam.service"],
      nil,
      {
        service([])($0)
        tmpfs($0)
      }, beside: service([])),
    row(
      "the manager of a user is no such service", evidence: ["PrivateDevices=yes"], cameraLine,
      service([(unit, "PrivateDevices=yes")]),
      beside: service(
        [("/etc/systemd/system/user@1000.service", "PrivateDevices=yes")],
        cgroup: "/user.slice/user-1000.slice/user@1000.service/app.slice/cam.scope")),
    DiagnosisRow(
      name: "a service that was not given the camera", code: .sandbox, question: .camera,
      status: .restricted, certainty: .suspected, evidence: ["DevicePolicy=closed"],
      mentions: ["cam.service"], remedies: [allowed],
      codes: [.deviceCgroup, .sandbox], otherStatus: .restricted,
      scene: {
        refusing($0)
        service([(unit, "DevicePolicy=closed")])($0)
      },
      beside: {
        refusing($0)
        service([(unit, "User=cam")])($0)
      }),
  ]

  private static func refusing(_ fake: FakeSystem) {
    Scene.camera(fake, 0o666)
    Scene.refuseDevice(fake, Scene.camera)
  }

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }
}
