import PermissionKit
import PermissionKitTesting
import Testing

/// Devices that somebody else uses: who that is, as far as /proc shows.
@Suite struct HolderRows {
  static let rows: [DiagnosisRow] = videos + sounds + servers

  /// Adds a process that has files open; `isHidden` where /proc shows them to root alone.
  private static func process(
    _ fake: FakeSystem, _ pid: Int32, _ name: String, uid: UInt32 = 1000,
    open paths: [PathBytes] = [], isHidden: Bool = false
  ) {
    let folder = PathBytes("/proc/\(pid)")
    fake.add(folder.appending("status"), .file(Scene.status(name, uid)))
    fake.add(
      folder.appending("fd"), FakeNode(kind: .directory, mode: isHidden ? 0o500 : 0o555))
    for (number, path) in paths.enumerated() {
      let link = folder.appending(PathBytes("fd/\(number + 3)"))
      fake.add(link, FakeNode(kind: .symbolicLink, target: path))
    }
  }

  /// A camera from which another descriptor captures.
  private static func captured(_ fake: FakeSystem) {
    Scene.camera(fake, 0o666)
    fake.force("reqbufs", .EBUSY)
  }

  private static func maps(_ fake: FakeSystem, _ pid: Int32, _ path: PathBytes) {
    let lines = "7f00-7f01 r-xp 0 00:01 1 /lib/x\n7f02-7f03 rw-s 0 00:05 9 \(path)\n"
    fake.add(PathBytes("/proc/\(pid)/maps"), .file(lines))
  }

  private static func row(
    _ name: String, evidence: [String], mentions: [String] = [], omits: [String] = [],
    _ holders: @escaping DiagnosisRow.Setting
  ) -> DiagnosisRow {
    DiagnosisRow(
      name: name, code: .busy, question: .camera, status: .restricted,
      evidence: ["open: granted", "EBUSY"] + evidence, mentions: mentions, omits: omits,
      scene: {
        captured($0)
        holders($0)
      },
      beside: {
        captured($0)
        holders($0)
        $0.force("reqbufs", nil)
      })
  }

  private static let videos: [DiagnosisRow] = [
    row(
      "a process has the camera open", evidence: ["recorder (pid 77, user ben)"],
      mentions: ["recorder (pid 77, user ben)"], omits: ["editor"],
      {
        process($0, 77, "recorder", uid: 1001, open: ["/dev/null", Scene.camera])
        process($0, 78, "editor", open: ["/dev/null"])
      }),
    row(
      "the one that streams is meant",
      evidence: ["watcher (pid 77, user anna)", "recorder (pid 78, user anna)"],
      mentions: ["recorder (pid 78, user anna) "],
      {
        process($0, 77, "watcher", open: [Scene.camera])
        process($0, 78, "recorder", open: [Scene.camera])
        maps($0, 77, "/dev/null")
        maps($0, 78, Scene.camera)
      }),
    row(
      "since when it runs", evidence: ["running since 2023-11-14T22:13:50"],
      mentions: ["recorder"],
      {
        process($0, 77, "recorder", open: [Scene.camera])
        // 30 s after the start of the system; the name in parentheses may hold anything.
        let stat = "77 (rec) (x) S " + String(repeating: "0 ", count: 18) + "3000 0 0\n"
        $0.add("/proc/77/stat", .file(stat))
        $0.add("/proc/stat", .file("cpu 1 2 3\nbtime 1700000000\n"))
      }),
    row(
      "the media server", evidence: ["pipewire, "], mentions: ["pipewire, "],
      { process($0, 77, "pipewire", open: [Scene.camera]) }),
    row(
      "nobody is to be seen", evidence: ["visible"], mentions: ["/dev/video0"],
      omits: ["root alone"],
      { process($0, 77, "editor", open: ["/dev/null"]) }),
    row(
      "somebody hides it", evidence: ["not visible", "only root"], mentions: ["/dev/video0"],
      omits: ["daemon"], { process($0, 77, "daemon", uid: 0, isHidden: true) }),
    row(
      "one is seen, and others are hidden", evidence: ["recorder (pid 78", "not visible"],
      mentions: ["recorder"],
      {
        process($0, 77, "daemon", uid: 0, isHidden: true)
        process($0, 78, "recorder", open: [Scene.camera])
      }),
    row(
      "this process itself is no other", evidence: ["visible"], omits: ["permcheck", "4242"],
      { process($0, 4242, "permcheck", open: [Scene.camera]) }),
    row(
      "another camera is another device", evidence: ["visible"], omits: ["recorder"],
      {
        Scene.device($0, "/dev/video1", DeviceNumber(major: 81, minor: 1), mode: 0o666)
        process($0, 77, "recorder", open: ["/dev/video1"])
      }),
    DiagnosisRow(
      name: "a driver that opens for one alone", code: .busy, question: .camera,
      status: .restricted, evidence: ["open: EBUSY", "recorder (pid 77, user anna)"],
      mentions: ["recorder"],
      scene: {
        Scene.camera($0, 0o666, driver: .EBUSY)
        process($0, 77, "recorder", open: [Scene.camera])
      },
      beside: {
        Scene.camera($0, 0o666)
        process($0, 77, "recorder", open: [Scene.camera])
      }),
  ]

  // MARK: - ALSA

  private static func substreams(_ fake: FakeSystem, _ owners: Int32?...) {
    for (index, owner) in owners.enumerated() {
      let text = owner.map { "state: RUNNING\nowner_pid   : \($0)\n" } ?? "closed\n"
      fake.add(PathBytes("/proc/asound/card0/pcm0c/sub\(index)/status"), .file(text))
    }
    // Not the stream that plays.
    fake.add("/proc/asound/card0/pcm0p/sub0/status", .file("owner_pid   : 99\n"))
  }

  private static let sounds: [DiagnosisRow] = [
    DiagnosisRow(
      name: "the owner of a PCM", code: .busy, question: .microphone, status: .restricted,
      evidence: ["open: EBUSY", "arecord (pid 77, user ben)"],
      mentions: ["arecord (pid 77, user ben)"], omits: ["99"],
      scene: {
        Scene.microphone($0, 0o666, driver: .EBUSY)
        substreams($0, 77)
        process($0, 77, "arecord", uid: 1001, isHidden: true)
      },
      beside: {
        Scene.microphone($0, 0o666)
        substreams($0, 77)
        process($0, 77, "arecord", uid: 1001, isHidden: true)
      }),
    DiagnosisRow(
      name: "the owner of a PCM, whom /proc does not show", code: .busy, question: .microphone,
      status: .restricted, evidence: ["open: EBUSY", "process 77"], mentions: ["process 77"],
      scene: {
        Scene.microphone($0, 0o666, driver: .EBUSY)
        substreams($0, 77)
      }, beside: { Scene.microphone($0, 0o666) }),
    DiagnosisRow(
      name: "every substream is taken, and nothing is opened", code: .busy,
      question: .microphone.probed(.access), status: .restricted,
      evidence: ["access: granted", "owner_pid 77", "owner_pid 78"], mentions: ["arecord"],
      scene: {
        Scene.microphone($0, 0o666)
        substreams($0, 77, 78)
        process($0, 77, "arecord", isHidden: true)
        process($0, 78, "arecord", isHidden: true)
      },
      beside: {
        Scene.microphone($0, 0o666)
        substreams($0, 77, nil)
        process($0, 77, "arecord", isHidden: true)
      }),
    DiagnosisRow(
      name: "nobody asks, and the facts tell", code: .busy,
      question: .microphone.probed(.none), status: .restricted, evidence: ["owner_pid 77"],
      mentions: ["process 77"],
      scene: {
        Scene.microphone($0, 0o666)
        substreams($0, 77)
      },
      beside: {
        Scene.microphone($0, 0o666)
        substreams($0, nil)
      }),
  ]

  private static func socket(_ fake: FakeSystem, uid: UInt32 = 1000) {
    fake.setEnvironment("XDG_RUNTIME_DIR", "/run/user/1000")
    fake.add("/run/user/1000/pulse/native", FakeNode(kind: .socket, mode: 0o600, uid: uid))
  }

  private static func interface(_ fake: FakeSystem) {
    fake.add(
      "/dev/tun",
      FakeNode(kind: .characterDevice, mode: 0o666, device: DeviceNumber(major: 10, minor: 200)))
    fake.add("/sys/dev/char/10:200/uevent", .file("DEVNAME=tun\n"))
  }

  private static let servers: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a device that is of no use without a capability", code: .driver,
      question: Question(what: .interface("/dev/tun")), status: .restricted,
      mentions: ["/dev/tun", "CAP_NET_ADMIN"], otherStatus: .denied, scene: { interface($0) },
      beside: {
        interface($0)
        $0.chmod("/dev/tun", 0o600)
      }),
    DiagnosisRow(
      name: "the socket of a sound server shows nothing", code: .mediaServer, question: .sound,
      status: .notDetermined, mentions: ["no visible process listens"],
      otherStatus: .unavailable, scene: { socket($0) }, beside: { _ in }),
    DiagnosisRow(
      name: "nobody listens on a socket", code: .noListener,
      question: Question(what: .socket("/run/s")), status: .unavailable,
      evidence: ["connect: ECONNREFUSED"], mentions: ["no program listens on /run/s"],
      scene: { daemon($0, listens: false) }, beside: { daemon($0, listens: true) }),
    DiagnosisRow(
      name: "nobody is seen to listen, and nobody may connect", code: .noListener,
      question: Question(what: .socket("/run/s"), probe: .access), status: .notDetermined,
      certainty: .suspected, evidence: ["connecting was not tried"], mentions: ["/run/s"],
      scene: { daemon($0, listens: false) }, beside: { daemon($0, listens: true) }),
    DiagnosisRow(
      name: "a security module refuses connect", code: .landlockOrLSM,
      question: Question(what: .socket("/run/s")), status: .restricted, certainty: .suspected,
      evidence: ["connect: EACCES"], mentions: ["/run/s"],
      scene: {
        daemon($0, listens: true)
        $0.force("listener", .EACCES)
      }, beside: { daemon($0, listens: true) }),
    DiagnosisRow(
      name: "connect fails in another way", code: .noListener,
      question: Question(what: .socket("/run/s")), status: .notDetermined, certainty: .suspected,
      evidence: ["connect: EMFILE"], mentions: ["/run/s"],
      scene: {
        daemon($0, listens: true)
        $0.force("listener", Errno(rawValue: 24))
      }, beside: { daemon($0, listens: true) }),
  ]

  private static func daemon(_ fake: FakeSystem, listens: Bool) {
    var node = FakeNode(kind: .socket, mode: 0o666)
    node.hasListener = listens
    fake.add("/run/s", node)
  }

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }

  /// Every code has a row: a new one wants a scene.
  @Test func `Every code has a row`() {
    let rows =
      BitRows.rows + LayerRows.rows + DeviceRows.rows + ContradictionRows.rows
      + ConfinementRows.rows + ServiceRows.rows + SessionRows.rows + Self.rows
    // Programs of others give these, see ExecutableAccessorTests.
    let ofPrograms: Set<Reason.Code> = [.byAccessor, .accessorFailed]
    // What somebody else makes there later is judged, see FutureTests.
    let ofFuture: Set<Reason.Code> = [.futureFiles, .cannotCreate, .unknownUmask]
    // What is in a folder is walked, see ContentsTests.
    let ofContents: Set<Reason.Code> = [.folderContents]
    // What is done to a path is judged, see OperationTests.
    let ofOperations: Set<Reason.Code> = [
      .parentWrite, .sticky, .notOwner, .protectedHardlink, .protectedFile, .notPossible, .noSpace,
      // See ProgramRuleTests.
      .programRule,
    ]
    // A login to come is judged, see LoginPolicyTests and the lab's scenario user-login.
    let ofLogin: Set<Reason.Code> = [.loginPolicy]
    // Files of ALSA say it, see SoundDefaultTests and the lab's scenario devices.
    let ofSound: Set<Reason.Code> = [.soundDefault]
    // Of another process it is not known, see UnseenDomainTests.
    let ofProcesses: Set<Reason.Code> = [.landlockUnseen]
    // File systems and containers of their own have these, see ReasonTests.
    let ofPlaces: Set<Reason.Code> = [.readOnlySubvolume, .foreignGroup, .noUdev]
    #expect(
      Set(rows.map(\.code)).union(ofPrograms).union(ofFuture).union(ofContents)
        .union(ofOperations).union(ofLogin).union(ofProcesses).union(ofSound)
        .union(ofPlaces)
        == Set(Reason.Code.allCases))
    #expect(Set(rows.map(\.name)).count == rows.count)
  }
}
