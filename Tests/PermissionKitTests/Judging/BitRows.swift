@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// Refusals by mode and ACL, and by the ids of a user namespace.
@Suite struct BitRows {
  /// A file whose group a user namespace does not map, in a container of Podman with this marker.
  private static func rootless(_ name: String, _ marker: String) -> DiagnosisRow {
    DiagnosisRow(
      name: name, code: .container, question: .path("/home/anna/file", probe: .none),
      status: .notDetermined, certainty: .suspected, evidence: ["/run/.containerenv"],
      remedies: [
        Wanted(
          kind: .container, command: ["podman", "run", "--group-add=keep-groups", "IMAGE"],
          others: ["every process in the container"])
      ],
      codes: [.usernsUnmapped, .container], otherStatus: .notDetermined,
      scene: {
        unmapped($0)
        $0.add("/run/.containerenv", .file(marker))
      },
      beside: { unmapped($0) })
  }

  static let rows: [DiagnosisRow] = modes + lists + others

  private static let modes: [DiagnosisRow] = [
    DiagnosisRow(
      name: "the owner's bits", code: .ownerBits, question: .camera,
      evidence: ["c---rw-rw- anna:root"], mentions: ["anna"],
      remedies: [
        Wanted(
          kind: .mode, command: ["chmod", "u+rw", Scene.camera], persistence: .untilUdevEvent,
          outcome: .granted)
      ],
      scene: { Scene.camera($0, 0o066, uid: 1000) }, beside: { Scene.camera($0, 0o066) }),
    DiagnosisRow(
      name: "the group's bits", code: .groupBits, question: .camera,
      evidence: ["crw----rw- root:video"], mentions: ["anna"],
      remedies: [.acl("u:1000:rw-,m::rw-", on: Scene.camera)],
      scene: {
        $0.become(Scene.anna(groups: [44]))
        Scene.camera($0, 0o606, gid: 44)
      }, beside: { Scene.camera($0, 0o606, gid: 44) }),
    DiagnosisRow(
      name: "the bits of others", code: .otherBits, question: .camera,
      evidence: ["crw------- root:video"], mentions: ["anna"],
      remedies: [.acl("u:1000:rw-,m::rw-", on: Scene.camera)],
      scene: { Scene.camera($0, 0o600, gid: 44) },
      beside: { Scene.camera($0, 0o606, gid: 44) }),
    DiagnosisRow(
      name: "not in the group", code: .notInGroup, question: .camera,
      evidence: ["crw-rw---- root:video"], mentions: ["video"],
      remedies: [.acl("u:1000:rw-,m::rw-", on: Scene.camera)],
      scene: { Scene.camera($0, 0o660, gid: 44) },
      beside: {
        $0.become(Scene.anna(groups: [44]))
        Scene.camera($0, 0o660, gid: 44)
      }),
    DiagnosisRow(
      name: "a closed directory on the way", code: .parentSearch, question: .path("/srv/box/file"),
      evidence: ["drwx------ root:root"], mentions: ["/srv/box"],
      scene: {
        $0.add("/srv/box", FakeNode(kind: .directory, mode: 0o700))
        $0.add("/srv/box/file")
      },
      beside: {
        $0.add("/srv/box", FakeNode(kind: .directory, mode: 0o711))
        $0.add("/srv/box/file")
      }),
    DiagnosisRow(
      name: "a directory of one's own is closed to another", code: .parentSearch,
      question: .path("/srv/box/file").asked(for: ben), evidence: ["drwx------ anna:root"],
      mentions: ["/srv/box"],
      remedies: [
        Wanted(
          kind: .acl, command: ["setfacl", "-n", "-m", "u:1001:--x,m::--x", "/srv/box"],
          persistence: .untilReboot, outcome: .granted)
      ],
      scene: {
        $0.add("/srv/box", FakeNode(kind: .directory, mode: 0o700, uid: 1000))
        $0.add("/srv/box/file")
      },
      beside: {
        $0.add("/srv/box", FakeNode(kind: .directory, mode: 0o701, uid: 1000))
        $0.add("/srv/box/file")
      }),
  ]

  private static let ben = Subject(
    source: .user, credentials: Credentials(uid: 1001, gid: 1001, groups: []), name: "ben")

  private static let lists: [DiagnosisRow] = [
    DiagnosisRow(
      name: "the ACL's entry of the user", code: .aclEntry, question: .camera,
      evidence: ["crw-rw-rw-+ root:root", "user:1000:---"], mentions: ["anna"],
      remedies: [.acl("u:1000:rw-", on: Scene.camera)],
      scene: {
        let acl = Scene.acl(user: (1000, []), other: [.read, .write])
        Scene.camera($0, 0o666, acl: acl)
      },
      beside: {
        let acl = Scene.acl(user: (1001, []), other: [.read, .write])
        Scene.camera($0, 0o666, acl: acl)
      }),
    DiagnosisRow(
      name: "the ACL's entry of a group", code: .aclEntry, question: .camera,
      evidence: ["group:44:r--"], mentions: ["video"],
      remedies: [.acl("u:1000:rw-", on: Scene.camera)],
      scene: {
        $0.become(Scene.anna(groups: [44]))
        Scene.camera($0, 0o660, acl: Scene.acl(named: (44, .read)))
      },
      beside: {
        $0.become(Scene.anna(groups: [44]))
        Scene.camera($0, 0o660, acl: Scene.acl(named: (44, [.read, .write])))
      }),
    DiagnosisRow(
      name: "the ACL's mask", code: .aclMask, question: .camera,
      evidence: ["user:1000:rw-", "mask::r--"], mentions: ["anna"],
      remedies: [.acl("m::rw-", on: Scene.camera)],
      scene: {
        Scene.camera($0, 0o640, acl: Scene.acl(user: (1000, [.read, .write]), mask: .read))
      },
      beside: { Scene.camera($0, 0o660, acl: Scene.acl(user: (1000, [.read, .write]))) }),
    DiagnosisRow(
      name: "the mask keeps what others had", code: .aclMask, question: .camera,
      evidence: ["group:44:rw-", "mask::r--"], mentions: ["anna"],
      remedies: [.acl("g:44:r--,m::rw-", on: Scene.camera)],
      scene: {
        let acl = Scene.acl(
          user: (1000, [.read, .write]), named: (44, [.read, .write]), mask: .read)
        Scene.camera($0, 0o640, acl: acl)
      },
      beside: { Scene.camera($0, 0o660, acl: Scene.acl(user: (1000, [.read, .write]))) }),
    DiagnosisRow(
      name: "the ACL's empty mask", code: .aclMask, question: .camera,
      evidence: ["user:1000:rw-", "mask::---"], mentions: ["anna"],
      remedies: [.acl("m::rw-", on: Scene.camera)],
      scene: {
        Scene.camera($0, 0o600, acl: Scene.acl(user: (1000, [.read, .write]), mask: []))
      },
      beside: { Scene.camera($0, 0o660, acl: Scene.acl(user: (1000, [.read, .write]))) }),
    DiagnosisRow(
      name: "in no group of the ACL", code: .notInGroup, question: .camera,
      evidence: ["group:44:rw-"], mentions: ["anna"],
      remedies: [.acl("u:1000:rw-", on: Scene.camera)],
      scene: { Scene.camera($0, 0o660, acl: Scene.acl(named: (44, [.read, .write]))) },
      beside: {
        $0.become(Scene.anna(groups: [44]))
        Scene.camera($0, 0o660, acl: Scene.acl(named: (44, [.read, .write])))
      }),
    DiagnosisRow(
      name: "others of the ACL", code: .otherBits, question: .camera,
      evidence: ["user:1001:rw-", "other::---"], mentions: ["anna"],
      remedies: [.acl("u:1000:rw-", on: Scene.camera)],
      scene: { Scene.camera($0, 0o660, acl: Scene.acl(user: (1001, [.read, .write]))) },
      beside: {
        let acl = Scene.acl(user: (1001, []), other: [.read, .write])
        Scene.camera($0, 0o666, acl: acl)
      }),
  ]

  /// Root in a container has no CAP_DAC_OVERRIDE, see capabilities(7).
  private static let weakRoot = Credentials(
    user: .init(0), group: .init(0), groups: [], effective: .fowner)

  private static let others: [DiagnosisRow] = [
    DiagnosisRow(
      name: "root without its capability", code: .rootWithoutCapability, question: .camera,
      evidence: ["0x8"],
      remedies: [
        Wanted(
          kind: .acl, command: ["setfacl", "-n", "-m", "u:0:rw-,m::rw-", Scene.camera],
          persistence: .untilUdevEvent, needsRoot: true, outcome: .granted),
        Wanted(
          kind: .container, command: ["docker", "run", "--cap-add=DAC_OVERRIDE", "IMAGE"],
          others: ["root"], line: "CapabilityBoundingSet=CAP_DAC_OVERRIDE"),
      ],
      codes: [.otherBits, .rootWithoutCapability],
      scene: {
        $0.become(weakRoot)
        Scene.camera($0, 0o600, uid: 1001, gid: 1001)
      },
      beside: {
        $0.become(Credentials(uid: 0, gid: 0, groups: []))
        Scene.camera($0, 0o600, uid: 1001, gid: 1001)
      }),
    DiagnosisRow(
      name: "ids of another user namespace", code: .usernsUnmapped,
      question: .path("/home/anna/file", probe: .none), status: .notDetermined,
      evidence: ["-rw-r-----"], mentions: ["/home/anna/file"],
      scene: { unmapped($0) },
      beside: {
        unmapped($0)
        for map in ["uid_map", "gid_map"] {
          $0.add(PathBytes("/proc/self/\(map)"), .file("0 0 4294967295\n"))
        }
      }),
    rootless(
      "ids of another user namespace, in rootless Podman", "engine=\"podman-5.4\"\nrootless=1\n"),
    rootless(
      "ids of another user namespace, in Podman that does not say that it is rootless", ""),
    DiagnosisRow(
      name: "a group that is mapped decides nothing", code: .usernsUnmapped,
      question: .path("/home/anna/file", probe: .none), status: .notDetermined,
      evidence: ["-rw-r-----"], mentions: ["/home/anna/file"], scene: { unmapped($0) },
      beside: { unmapped($0, gid: 1000) }),
    DiagnosisRow(
      name: "a directory that cannot be looked into", code: .unreadableFacts,
      question: .path("/srv/box/file", probe: .none), status: .notDetermined,
      evidence: ["box: EIO"], mentions: ["/srv"],
      scene: {
        $0.add("/srv/box/file")
        $0.force("statx", .EIO, on: "/srv/box")
      }, beside: { $0.add("/srv/box/file") }),
    DiagnosisRow(
      name: "and the kernel refuses", code: .unreadableFacts,
      question: .path("/srv/box/file"), status: .restricted,
      evidence: ["box: EIO", "open: EACCES"], mentions: ["/srv"],
      scene: {
        $0.add("/srv/box/file")
        $0.force("statx", .EIO, on: "/srv/box")
        Scene.refuse($0, .EACCES, "/srv/box/file")
      },
      beside: {
        $0.add("/srv/box/file")
        $0.force("statx", .EIO, on: "/srv/box")
      }),
    DiagnosisRow(
      name: "granted, though the bits refuse", code: .unreadableFacts, question: .camera,
      status: .authorized, certainty: .suspected, evidence: ["EACCES", "granted"],
      mentions: ["/dev/video0"], otherStatus: .denied,
      scene: { fake in
        // The kernel has an ACL that getxattr(2) does not show.
        let acl = Scene.acl(user: (1000, [.read, .write]))
        Scene.camera(fake, 0o660, acl: acl)
        fake.force("getxattr", .EOPNOTSUPP)
      }, beside: { Scene.camera($0, 0o660) }),
  ]

  private static func unmapped(_ fake: FakeSystem, gid: UInt32 = 65534) {
    fake.become(Scene.anna(groups: [65534]))
    fake.add("/proc/self/uid_map", .file("1000 1000 1\n"))
    fake.add("/proc/self/gid_map", .file("1000 1000 1\n"))
    fake.add("/home/anna/file", FakeNode(mode: 0o640, uid: 65534, gid: gid))
  }

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }
}
