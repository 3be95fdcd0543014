@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// Devices and folders that are not there, have no driver, or are something else.
@Suite struct DeviceRows {
  static let rows: [DiagnosisRow] = drivers + devices + captures + folders + answers

  private static func modprobe(_ module: PathBytes) -> Wanted {
    Wanted(
      kind: .driver, command: ["modprobe", module], persistence: .untilReboot, needsRoot: true)
  }

  /// A node without an entry in sysfs.
  private static func stale(
    _ fake: FakeSystem, _ path: PathBytes, _ major: UInt32, _ minor: UInt32, _ driver: Errno?
  ) {
    let number = DeviceNumber(major: major, minor: minor)
    fake.add(
      path, FakeNode(kind: .characterDevice, mode: 0o666, device: number, driver: driver))
  }

  private static let drivers: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a camera without a driver", code: .noDriver, question: .node(Scene.camera),
      status: .unavailable, evidence: ["crw-rw-rw- root:root"], mentions: ["/dev/video0"],
      remedies: [modprobe("uvcvideo")], scene: { stale($0, Scene.camera, 81, 0, .ENXIO) },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a microphone without a driver, while ALSA has the major", code: .noDriver,
      question: .node(Scene.microphone, .microphone), status: .unavailable,
      evidence: ["crw-rw-rw- root:root"], mentions: ["/dev/snd/pcmC0D0c"],
      remedies: [modprobe("snd-usb-audio")],
      scene: {
        $0.add("/proc/asound/version")
        stale($0, Scene.microphone, 116, 24, .ENODEV)
      }, beside: { Scene.microphone($0, 0o666) }),
    DiagnosisRow(
      name: "a microphone without ALSA", code: .noDriver,
      question: .node(Scene.microphone, .microphone), status: .unavailable,
      evidence: ["crw-rw-rw- root:root"], mentions: ["/dev/snd/pcmC0D0c"],
      remedies: [modprobe("snd-usb-audio")],
      scene: { stale($0, Scene.microphone, 116, 24, .ENXIO) },
      beside: { Scene.microphone($0, 0o666) }),
    DiagnosisRow(
      name: "the kernel knows no driver, though sysfs does", code: .noDriver, question: .camera,
      status: .unavailable, evidence: ["open: ENODEV"], mentions: ["/dev/video0"],
      remedies: [modprobe("uvcvideo")], scene: { Scene.camera($0, 0o666, driver: .ENODEV) },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a device of no family has no driver to name", code: .noDriver,
      question: .path("/dev/fuse"), status: .unavailable, evidence: ["open: ENXIO"],
      mentions: ["/dev/fuse"], scene: { stale($0, "/dev/fuse", 10, 229, .ENXIO) },
      beside: { stale($0, "/dev/fuse", 10, 229, nil) }),
  ]

  private static let devices: [DiagnosisRow] = [
    DiagnosisRow(
      name: "no camera", code: .noDevice, question: .camera, status: .unavailable,
      evidence: ["/dev/video"], mentions: ["camera"], scene: { _ in },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "no microphone", code: .noDevice, question: .microphone, status: .unavailable,
      evidence: ["/dev/snd/pcm"], mentions: ["microphone"], scene: { _ in },
      beside: { Scene.microphone($0, 0o666) }),
    DiagnosisRow(
      name: "no such node", code: .noDevice, question: .node(Scene.camera), status: .unavailable,
      evidence: ["drwxr-xr-x root:root"], mentions: ["/dev/video0"], scene: { _ in },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a file in the camera's place", code: .noDevice, question: .node(Scene.camera),
      status: .unavailable, evidence: ["-rw-r--r--"], mentions: ["/dev/video0"],
      scene: { $0.add(Scene.camera) }, beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a file on the way", code: .noDevice, question: .path("/srv/file/below"),
      status: .unavailable, evidence: ["-rw-r--r-- root:root"], mentions: ["/srv/file"],
      scene: { $0.add("/srv/file") }, beside: { $0.add("/srv/file/below") }),
    DiagnosisRow(
      name: "a socket in the camera's place", code: .noDevice, question: .node(Scene.camera),
      status: .unavailable, evidence: ["srw-r--r--"], mentions: ["/dev/video0"],
      scene: { $0.add(Scene.camera, FakeNode(kind: .socket)) },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a link that leads nowhere", code: .danglingSymlink, question: .node(Scene.camera),
      status: .unavailable, evidence: ["drwxr-xr-x root:root"],
      mentions: ["/dev/video0"],
      scene: { $0.add(Scene.camera, FakeNode(kind: .symbolicLink, target: "none")) },
      beside: {
        $0.add(Scene.camera, FakeNode(kind: .symbolicLink, target: "real"))
        Scene.device($0, "/dev/real", DeviceNumber(major: 81, minor: 7), mode: 0o666)
      }),
    DiagnosisRow(
      name: "links in a circle", code: .danglingSymlink, question: .path("/srv/a"),
      status: .unavailable, evidence: ["lrwxrwxrwx root:root"], mentions: ["/srv/a and /srv/b"],
      scene: {
        $0.add("/srv/a", FakeNode(kind: .symbolicLink, target: "b"))
        $0.add("/srv/b", FakeNode(kind: .symbolicLink, target: "a"))
      },
      beside: {
        $0.add("/srv/a", FakeNode(kind: .symbolicLink, target: "b"))
        $0.add("/srv/b")
      }),
  ]

  private static let captures: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a node that does not capture", code: .noCaptureNode, question: .camera,
      status: .unavailable, evidence: ["/dev/video0", "ID_V4L_CAPABILITIES=:video_output:"],
      scene: {
        Scene.camera($0, 0o666)
        $0.add("/run/udev/data/c81:0", .file("E:ID_V4L_CAPABILITIES=:video_output:\n"))
      }, beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a node whose driver says so", code: .noCaptureNode, question: .camera,
      status: .unavailable, evidence: ["/dev/video0", "0x2"],
      scene: { card($0, 0x2) }, beside: { card($0, 0x1) }),
    DiagnosisRow(
      name: "a camera without a node", code: .noCaptureNode, question: .camera,
      status: .unavailable, evidence: ["ID_V4L_CAPABILITIES=:capture:"], mentions: ["/dev/video0"],
      scene: {
        Scene.camera($0, 0o666)
        $0.remove(Scene.camera)
      }, beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "sound that is only played", code: .noCaptureNode, question: .microphone,
      status: .unavailable, evidence: ["pcmC0D0c: playback only"],
      scene: { $0.add("/proc/asound/pcm", .file("00-00: HDMI : HDMI : playback 1\n")) },
      beside: { Scene.microphone($0, 0o666) }),
    DiagnosisRow(
      name: "a folder of nodes that cannot be listed", code: .unreadableFacts, question: .camera,
      status: .notDetermined, evidence: ["EACCES"], mentions: ["/dev"],
      otherStatus: .unavailable,
      scene: { $0.add("/dev", FakeNode(kind: .directory, mode: 0o711)) },
      beside: { $0.add("/dev", FakeNode(kind: .directory, mode: 0o755)) }),
  ]

  private static func card(_ fake: FakeSystem, _ capabilities: UInt32) {
    Scene.camera(fake, 0o666)
    fake.remove("/run/udev/data/c81:0")
    fake.setCard(VideoCapability(deviceCaps: capabilities, card: "Webcam"), of: Scene.camera)
  }

  private static let file: PathBytes = "/home/anna/.config/user-dirs.dirs"

  private static let folders: [DiagnosisRow] = [
    DiagnosisRow(
      name: "pictures set to the home directory", code: .notConfigured, question: .photos,
      status: .unavailable, evidence: ["/home/anna/.config/user-dirs.dirs"],
      remedies: [
        Wanted(
          kind: .file,
          command: ["xdg-user-dirs-update", "--set", "PICTURES", "/home/anna/Pictures"])
      ],
      scene: { configure($0, "XDG_PICTURES_DIR=\"$HOME/\"\n") },
      beside: { configure($0, "XDG_PICTURES_DIR=\"$HOME/Pictures\"\n") }),
    DiagnosisRow(
      name: "a malformed line", code: .notConfigured, question: .photos, status: .notDetermined,
      mentions: ["/home/anna/.config/user-dirs.dirs"],
      scene: { configure($0, "XDG_PICTURES_DIR=Pictures\n") },
      beside: { configure($0, "# XDG_PICTURES_DIR=Pictures\n") }),
    DiagnosisRow(
      name: "nobody's home", code: .notConfigured, question: .photos, status: .notDetermined,
      mentions: ["4711"],
      scene: {
        Scene.pictures($0, 0o777)
        $0.setEnvironment("HOME", nil)
        $0.become(Credentials(uid: 4711, gid: 4711, groups: []))
      },
      beside: {
        Scene.pictures($0, 0o777)
        $0.become(Credentials(uid: 4711, gid: 4711, groups: []))
      }),
    DiagnosisRow(
      name: "a file that cannot be read", code: .unreadableFacts, question: .photos,
      status: .notDetermined, evidence: ["EACCES"], mentions: ["/home/anna/.config"],
      scene: {
        configure($0, "")
        $0.add(file, FakeNode(mode: 0o600))
      }, beside: { configure($0, "") }),
    DiagnosisRow(
      name: "pictures that can be looked at", code: .otherBits, question: .photos,
      status: .limited, evidence: ["drwxr-xr-x root:root"], mentions: ["anna"],
      remedies: [
        Wanted(
          kind: .acl,
          command: ["setfacl", "-P", "-n", "-m", "u:1000:rwx,m::rwx", "/home/anna/Pictures"],
          persistence: .untilReboot, needsRoot: true, outcome: .granted)
      ], scene: { Scene.pictures($0, 0o755, uid: 0) }, beside: { Scene.pictures($0, 0o755) }),
  ]

  private static func configure(_ fake: FakeSystem, _ text: String) {
    fake.add(file, .file(text))
    Scene.pictures(fake, 0o700)
  }

  private static let answers: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a driver with a rule of its own", code: .driver,
      question: .path("/dev/mem", probe: .access), status: .notDetermined,
      mentions: ["/dev/mem"],
      scene: { Scene.device($0, "/dev/mem", DeviceNumber(major: 1, minor: 1), mode: 0o666) },
      beside: { Scene.device($0, "/dev/mem", DeviceNumber(major: 1, minor: 5), mode: 0o666) }),
    DiagnosisRow(
      name: "a driver that refuses a capability", code: .driver, question: .camera,
      status: .restricted, certainty: .suspected,
      evidence: ["open: EPERM", "faccessat2: granted"], mentions: ["/dev/video0"],
      scene: { Scene.camera($0, 0o666, driver: .EPERM) }, beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a driver that fails", code: .driver, question: .camera, status: .notDetermined,
      certainty: .suspected, evidence: ["open: EIO"], mentions: ["/dev/video0"],
      scene: { Scene.camera($0, 0o666, driver: .EIO) }, beside: { Scene.camera($0, 0o666) }),
  ]

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }
}
