import PermissionKit
import PermissionKitTesting
import Testing

/// Containers and application sandboxes, which are told by what they leave: for a device of each
/// family, and for a folder.
@Suite struct ConfinementRows {
  static let rows: [DiagnosisRow] = containers + flatpaks + snaps + others + groups

  /// What is kept from the process.
  private static func lacksCamera(_ fake: FakeSystem) {
    Scene.camera(fake, 0o666)
    Scene.refuseDevice(fake, Scene.camera)
  }

  private static func lacksFolder(_ fake: FakeSystem) {
    Scene.pictures(fake, 0o700)
    Scene.refuse(fake, .EACCES, "/home/anna/Pictures")
  }

  /// A row about a device that is missing; `place` is the deciding fact.
  private static func missing(
    _ name: String, _ code: Reason.Code, _ question: Question = .camera, evidence: [String],
    _ remedies: [Wanted], place: @escaping DiagnosisRow.Setting
  ) -> DiagnosisRow {
    DiagnosisRow(
      name: name, code: code, question: question, status: .unavailable, certainty: .suspected,
      evidence: evidence, remedies: remedies, codes: [.noDevice, code],
      otherStatus: .unavailable, scene: place, beside: { _ in })
  }

  /// A row about the camera, which the device cgroup refuses, or a folder that Landlock does.
  private static func refused(
    _ name: String, _ code: Reason.Code, _ question: Question = .camera, evidence: [String],
    _ remedies: [Wanted], place: @escaping DiagnosisRow.Setting
  ) -> DiagnosisRow {
    var isFolder = false
    if case .photos = question.what { isFolder = true }
    let lacks: DiagnosisRow.Setting = isFolder ? lacksFolder : lacksCamera
    return DiagnosisRow(
      name: name, code: code, question: question, status: .restricted, certainty: .suspected,
      evidence: evidence, remedies: remedies,
      codes: [isFolder ? .landlockOrLSM : .deviceCgroup, code], otherStatus: .restricted,
      scene: {
        lacks($0)
        place($0)
      }, beside: lacks)
  }

  // MARK: - Containers

  private static let docker: DiagnosisRow.Setting = { $0.add("/.dockerenv") }
  private static func podman(rootless: Bool) -> DiagnosisRow.Setting {
    { fake in
      let file = "engine=\"podman-5.4\"\nrootless=\(rootless ? 1 : 0)\n"
      fake.add("/run/.containerenv", .file(file))
    }
  }
  private static let keep: PathBytes = "--group-add=keep-groups"
  private static let volume: PathBytes = "--volume=HOSTPATH:/home/anna/Pictures"

  private static let containers: [DiagnosisRow] = [
    missing(
      "Docker, no camera", .container, evidence: ["/.dockerenv"],
      [.run("docker", "--device=/dev/video0")], place: docker),
    missing(
      "Docker, no microphone", .container, .microphone, evidence: ["/.dockerenv"],
      [.run("docker", "--device=/dev/snd")], place: docker),
    missing(
      "Docker, no node of this name", .container, .node("/dev/video3"), evidence: ["/.dockerenv"],
      [.run("docker", "--device=/dev/video3")], place: docker),
    refused(
      "Docker, device cgroup", .container, evidence: ["/.dockerenv"],
      [.run("docker", "--device=/dev/video0")], place: docker),
    refused(
      "Docker, folder", .container, .photos, evidence: ["/.dockerenv"], [.run("docker", volume)],
      place: docker),
    DiagnosisRow(
      name: "Docker, a camera known to sysfs", code: .container, question: .camera,
      status: .unavailable, certainty: .suspected, evidence: ["/.dockerenv"],
      remedies: [.run("docker", "--device=/dev/video0")], codes: [.noCaptureNode, .container],
      scene: {
        Scene.camera($0, 0o666)
        $0.remove(Scene.camera)
        docker($0)
      },
      beside: {
        Scene.camera($0, 0o666)
        docker($0)
      }),
    missing(
      "Podman, no camera", .container, evidence: ["/run/.containerenv"],
      [.run("podman", "--device=/dev/video0")], place: podman(rootless: false)),
    missing(
      "rootless Podman, no microphone", .container, .microphone, evidence: ["/run/.containerenv"],
      [.run("podman", "--device=/dev/snd", keep)], place: podman(rootless: true)),
    refused(
      "Podman, folder", .container, .photos, evidence: ["/run/.containerenv"],
      [.run("podman", volume, keep)], place: podman(rootless: true)),
    missing(
      "systemd-nspawn", .container, evidence: ["systemd-nspawn"],
      [
        Wanted(
          kind: .container,
          command: [
            "systemd-nspawn", "--bind=/dev/video0", "--property=DeviceAllow=char-video4linux rw",
            "…",
          ], others: ["in the container"])
      ],
      place: { $0.add("/run/systemd/container", .file("systemd-nspawn\n")) }),
    missing(
      "Kubernetes", .container, evidence: ["KUBERNETES_SERVICE_HOST"], [],
      place: { $0.setEnvironment("KUBERNETES_SERVICE_HOST", "10.0.0.1") }),
    missing(
      "WSL, no camera", .container, evidence: ["5.15.167.4-microsoft-standard-WSL2"],
      [
        Wanted(kind: .driver, command: ["usbipd", "attach", "--wsl", "--busid", "BUSID"])
      ], place: windows),
    missing(
      "WSL, no microphone", .container, .microphone, evidence: ["microsoft"], [], place: windows),
  ]

  private static let windows: DiagnosisRow.Setting = {
    $0.add("/proc/sys/kernel/osrelease", .file("5.15.167.4-microsoft-standard-WSL2\n"))
  }

  // MARK: - Flatpak

  private static let flatpak: DiagnosisRow.Setting = {
    $0.add("/.flatpak-info", .file("[Application]\nname=org.x.Cam\nruntime=org.x.Run\n"))
  }
  private static func override(_ permission: PathBytes) -> Wanted {
    Wanted(
      kind: .sandbox, command: ["flatpak", "override", "--user", permission, "org.x.Cam"])
  }

  private static let flatpaks: [DiagnosisRow] = [
    missing(
      "Flatpak, no camera", .sandbox, evidence: ["/.flatpak-info"], [override("--device=all")],
      place: flatpak),
    missing(
      "Flatpak, no microphone", .sandbox, .microphone, evidence: ["/.flatpak-info"],
      [override("--socket=pulseaudio")], place: flatpak),
    refused(
      "Flatpak, folder", .sandbox, .photos, evidence: ["/.flatpak-info"],
      [override("--filesystem=/home/anna/Pictures")], place: flatpak),
  ]

  // MARK: - Snap

  private static func snap(_ yaml: String?) -> DiagnosisRow.Setting {
    { fake in
      fake.setEnvironment("SNAP", "/snap/cam/x1")
      fake.setEnvironment("SNAP_NAME", "cam")
      if let yaml { fake.add("/snap/cam/x1/meta/snap.yaml", .file(yaml)) }
    }
  }
  private static let yaml = """
    name: cam
    confinement: strict
    plugs:
      audio-record:
    apps:
      cam:
        command: bin/cam
        plugs: [home, camera]

    """
  private static func connect(_ plug: PathBytes) -> Wanted {
    Wanted(kind: .sandbox, command: ["snap", "connect", plug], needsRoot: true)
  }

  private static let snaps: [DiagnosisRow] = [
    missing(
      "snap with the plug, no camera", .sandbox, evidence: ["SNAP=/snap/cam/x1"],
      [connect("cam:camera")], place: snap(yaml)),
    missing(
      "snap with the plug, no microphone", .sandbox, .microphone, evidence: ["SNAP=/snap/cam/x1"],
      [connect("cam:audio-record")], place: snap(yaml)),
    refused(
      "snap with the plug, folder", .sandbox, .photos, evidence: ["SNAP=/snap/cam/x1"],
      [connect("cam:home")], place: snap(yaml)),
    missing(
      "snap without the plug", .sandbox, evidence: ["SNAP=/snap/cam/x1"],
      [Wanted(kind: .sandbox, command: [], line: "plugs: [camera]")],
      place: snap("name: cam\napps:\n  cam:\n    plugs:\n    - home\n")),
    missing(
      "snap, whose file is hidden", .sandbox,
      evidence: ["not visible: /snap/cam/x1/meta/snap.yaml"], [connect("cam:camera")],
      place: snap(nil)),
    missing(
      "another instance of a snap", .sandbox, evidence: ["SNAP=/snap/cam/x1"],
      [connect("cam_two:camera")],
      place: {
        snap(yaml)($0)
        $0.setEnvironment("SNAP_INSTANCE_NAME", "cam_two")
      }),
    DiagnosisRow(
      name: "a classic snap is not confined", code: .sandbox, question: .camera,
      status: .unavailable, certainty: .suspected, evidence: ["SNAP"],
      remedies: [connect("cam:camera")], codes: [.noDevice, .sandbox],
      otherStatus: .unavailable, scene: snap(yaml),
      beside: snap("name: cam\nconfinement: classic\n")),
  ]

  // MARK: - A /dev of one's own

  private static func privateDevices(below program: String) -> DiagnosisRow.Setting {
    { fake in
      fake.mount("/dev", "tmpfs")
      fake.add("/proc/4242/status", .file(Scene.status("permcheck", 1000, parent: 70)))
      fake.add("/proc/70/status", .file(Scene.status(program, 1000)))
      fake.add("/proc/1/status", .file(Scene.status("systemd", 0, parent: 0)))
    }
  }
  private static func bind(_ node: PathBytes) -> Wanted {
    Wanted(kind: .sandbox, command: ["bwrap", "…", "--dev-bind", node, node, "PROGRAM"])
  }

  private static let others: [DiagnosisRow] = [
    missing(
      "bubblewrap, no camera", .sandbox, evidence: ["devtmpfs", "bwrap"], [bind("/dev/video0")],
      place: privateDevices(below: "bwrap")),
    missing(
      "bubblewrap, no microphone", .sandbox, .microphone, evidence: ["bwrap"], [bind("/dev/snd")],
      place: privateDevices(below: "bwrap")),
    DiagnosisRow(
      name: "bwrap with the machine's own /dev", code: .sandbox, question: .camera,
      status: .unavailable, certainty: .suspected, evidence: ["bwrap"],
      remedies: [bind("/dev/video0")], codes: [.noDevice, .sandbox], otherStatus: .unavailable,
      scene: privateDevices(below: "bwrap"),
      beside: {
        privateDevices(below: "bwrap")($0)
        $0.mount("/dev", "devtmpfs")
      }),
    missing(
      "a /dev of nobody that is known", .sandbox, evidence: ["devtmpfs"], [],
      place: privateDevices(below: "bash")),
    DiagnosisRow(
      name: "no wall is named where nothing is refused", code: .container, question: .camera,
      status: .unavailable, certainty: .suspected,
      remedies: [.run("docker", "--device=/dev/video0")], codes: [.noDevice, .container],
      scene: docker,
      beside: {
        docker($0)
        Scene.camera($0, 0o666)
      }),
  ]

  // MARK: - The group of a node

  private static func grouped(_ fake: FakeSystem, _ path: PathBytes) {
    let number = DeviceNumber(major: 81, minor: 7)
    fake.add("/sys/dev/char/81:7/uevent")
    fake.add(path, FakeNode(kind: .characterDevice, mode: 0o660, gid: 44, device: number))
  }

  private static func group(
    _ name: String, at path: PathBytes = "/dev/video7", hasEntry: Bool = true, _ flags: [Wanted],
    place: @escaping DiagnosisRow.Setting
  ) -> DiagnosisRow {
    var entry = Wanted.acl("u:1000:rw-,m::rw-", on: path)
    entry.persistence = path.parent == "/dev" ? .untilUdevEvent : .untilReboot
    // The node is that of the machine.
    var host = entry
    (host.kind, host.needsRoot) = (.container, true)
    let ofHost = flags.isEmpty ? [] : [host]
    return DiagnosisRow(
      name: name, code: .notInGroup, question: .node(path), mentions: ["video"],
      remedies: flags + (hasEntry ? ofHost + [entry] : []),
      scene: {
        grouped($0, path)
        place($0)
      },
      beside: {
        $0.become(Scene.anna(groups: [44]))
        grouped($0, path)
        place($0)
      })
  }

  private static let groups: [DiagnosisRow] = [
    group(
      "Docker adds the group by number", [.run("docker", "--group-add=44")],
      place: docker),
    group(
      "Podman keeps the groups", [.run("podman", keep)],
      place: podman(rootless: true)),
    group(
      "Kubernetes adds it in the manifest", hasEntry: false,
      [
        Wanted(
          kind: .container, command: [], others: ["every process in the pod"],
          line: "supplementalGroups: [44]")
      ], place: { $0.setEnvironment("KUBERNETES_SERVICE_HOST", "10.0.0.1") }),
    group("no container has no flag", [], place: { _ in }),
    group("nor has a node elsewhere", at: "/srv/video7", [], place: docker),
  ]

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }
}
