import PermissionKit
import PermissionKitTesting
import Testing

/// Refusals by mounts, attributes of the inode and file systems with rules of their own.
@Suite struct LayerRows {
  static let rows: [DiagnosisRow] = mounts + attributes + fileSystems

  private static let write = Question.path("/mnt/file", .write)

  private static func remount(
    _ options: PathBytes, _ outcome: Remedy.Outcome = .granted
  ) -> Wanted {
    Wanted(
      kind: .mount, command: ["mount", "-o", options, "/mnt"], persistence: .untilReboot,
      needsRoot: true, outcome: outcome, others: ["/mnt"])
  }

  private static let ownMode = Wanted(
    kind: .mode, command: ["chmod", "u+w", "/mnt/file"], outcome: .granted)

  private static func node(_ fake: FakeSystem, _ options: String, mode: UInt16 = 0o666) {
    fake.mount("/mnt", "ext4", options: options)
    Scene.device(fake, "/mnt/null", DeviceNumber(major: 1, minor: 3), mode: mode)
  }

  private static let mounts: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a read-only mount", code: .readOnlyMount, question: write, status: .restricted,
      evidence: ["-rwxr-xr-x anna:anna"], mentions: ["/mnt"],
      remedies: [remount("remount,bind,rw")], scene: { Scene.mounted($0, "ext4", "ro") },
      beside: { Scene.mounted($0) }),
    DiagnosisRow(
      name: "a read-only superblock", code: .readOnlyMount, question: write, status: .restricted,
      evidence: ["-rwxr-xr-x anna:anna"], mentions: ["/mnt"], remedies: [remount("remount,rw")],
      scene: { Scene.mounted($0, "ext4", "rw", superblock: "ro,errors=remount-ro") },
      beside: { Scene.mounted($0, superblock: "rw,errors=remount-ro") }),
    DiagnosisRow(
      name: "a read-only superblock, and bits that refuse as well", code: .readOnlyMount,
      question: write, status: .restricted, evidence: ["-r-xr-xr-x anna:anna"], mentions: ["/mnt"],
      remedies: [remount("remount,rw"), ownMode], otherStatus: .denied,
      scene: { Scene.mounted($0, "ext4", "rw", superblock: "ro", mode: 0o555) },
      beside: { Scene.mounted($0, mode: 0o555) }),
    DiagnosisRow(
      name: "bits that refuse come before a read-only mount", code: .readOnlyMount,
      question: write, status: .restricted, mentions: ["/mnt"],
      remedies: [remount("remount,bind,rw")], otherStatus: .denied,
      scene: { Scene.mounted($0, "ext4", "ro") },
      beside: { Scene.mounted($0, "ext4", "ro", mode: 0o555) }),
    DiagnosisRow(
      name: "the kernel says read-only where the mount does not", code: .readOnlyMount,
      question: write, status: .restricted, certainty: .suspected,
      evidence: ["open: EROFS", "faccessat2: granted"], mentions: ["/mnt/file"],
      scene: {
        Scene.mounted($0)
        Scene.refuse($0, .EROFS, "/mnt/file")
      }, beside: { Scene.mounted($0) }),
    DiagnosisRow(
      name: "a mount without devices", code: .nodevMount,
      question: .path("/mnt/null", [.read, .write]), status: .restricted,
      evidence: ["crw-rw-rw- root:root"], mentions: ["/mnt"],
      remedies: [remount("remount,bind,dev")], scene: { node($0, "rw,nosuid,nodev") },
      beside: { node($0, "rw,nosuid") }),
    DiagnosisRow(
      name: "a mount without devices, and bits that refuse as well", code: .nodevMount,
      question: .path("/mnt/null", [.read, .write]), status: .restricted,
      evidence: ["crw-r--r-- root:root"], mentions: ["/mnt"],
      remedies: [
        remount("remount,bind,dev"),
        Wanted(
          kind: .acl, command: ["setfacl", "-n", "-m", "u:1000:rw-,m::rw-", "/mnt/null"],
          needsRoot: true, outcome: .granted),
      ], otherStatus: .denied,
      scene: { node($0, "rw,nodev", mode: 0o644) }, beside: { node($0, "rw", mode: 0o644) }),
    DiagnosisRow(
      name: "a mount without executing", code: .noexecMount,
      question: .path("/mnt/file", .execute), status: .restricted,
      evidence: ["-rwxr-xr-x anna:anna"], mentions: ["/mnt"],
      remedies: [remount("remount,bind,exec")], scene: { Scene.mounted($0, "ext4", "rw,noexec") },
      beside: { Scene.mounted($0) }),
  ]

  private static let attributes: [DiagnosisRow] = [
    DiagnosisRow(
      name: "immutable", code: .immutable, question: write, status: .restricted,
      evidence: ["-rw-r--r-- anna:root"], mentions: ["/mnt/file"],
      remedies: [
        Wanted(
          kind: .file, command: ["chattr", "-i", "/mnt/file"], needsRoot: true, outcome: .granted,
          others: ["/mnt/file"])
      ], scene: { file($0) { $0.isImmutable = true } }, beside: { file($0) { _ in } }),
    DiagnosisRow(
      name: "immutable, and bits that refuse as well", code: .immutable, question: write,
      status: .restricted, evidence: ["-r--r--r-- anna:root"], mentions: ["/mnt/file"],
      remedies: [
        Wanted(
          kind: .file, command: ["chattr", "-i", "/mnt/file"], needsRoot: true, outcome: .granted,
          others: ["/mnt/file"]),
        ownMode,
      ], otherStatus: .denied,
      scene: {
        file($0) {
          $0.mode = 0o444
          $0.isImmutable = true
        }
      }, beside: { file($0) { $0.mode = 0o444 } }),
    DiagnosisRow(
      name: "append-only", code: .appendOnly, question: write, status: .restricted,
      evidence: ["-rw-r--r-- anna:root"], mentions: ["/mnt/file"],
      remedies: [
        Wanted(
          kind: .file, command: ["chattr", "-a", "/mnt/file"], needsRoot: true, outcome: .granted,
          others: ["/mnt/file"])
      ], otherStatus: .restricted, scene: { file($0) { $0.isAppendOnly = true } },
      beside: { file($0) { $0.isImmutable = true } }),
    DiagnosisRow(
      name: "append-only folder", code: .appendOnly, question: write, status: .limited,
      evidence: ["drwxr-xr-x anna:root"], mentions: ["/mnt/file"],
      scene: { file($0) { ($0.kind, $0.isAppendOnly) = (.directory, true) } },
      beside: { file($0) { $0.kind = .directory } }),
  ]

  private static func file(_ fake: FakeSystem, _ change: (inout FakeNode) -> Void) {
    var node = FakeNode(uid: 1000)
    change(&node)
    fake.mount("/mnt", "ext4")
    fake.add("/mnt/file", node)
  }

  private static let allowOther = Wanted(
    kind: .mount, command: [], needsRoot: true, others: ["daemon"], line: "user_allow_other")

  /// Adds a file whose ACL lets anna in, on a mount of this type.
  private static func entry(_ fake: FakeSystem, on fileSystem: String) {
    Scene.mounted(fake, fileSystem)
    var file = FakeNode(mode: 0o640)
    file.acl = AccessControlList([
      .init(.owner, [.read, .write]), .init(.user, id: 1000, .read), .init(.owningGroup, []),
      .init(.mask, .read), .init(.other, []),
    ])
    fake.add("/mnt/other", file)
  }

  /// Adds anna's encrypted folder.
  private static func vault(_ fake: FakeSystem, isLocked: Bool) {
    var folder = FakeNode(kind: .directory, mode: 0o755, uid: 1000, gid: 1000)
    folder.isLocked = isLocked
    fake.add("/vault", folder)
    var file = FakeNode(mode: 0o644, uid: 1000, gid: 1000)
    file.isLocked = isLocked
    fake.add("/vault/file", file)
  }

  private static let fileSystems: [DiagnosisRow] = [
    DiagnosisRow(
      name: "FUSE of another user", code: .networkFS, question: .path("/mnt/file"),
      status: .restricted, evidence: ["drwxr-xr-x root:root"], mentions: ["/mnt"],
      remedies: [allowOther],
      scene: { Scene.mounted($0, "fuse.sshfs", superblock: fuse(1001)) },
      beside: { Scene.mounted($0, "fuse.sshfs", superblock: fuse(1000)) }),
    DiagnosisRow(
      name: "FUSE of another user, with allow_other", code: .networkFS,
      question: .path("/mnt/file"), status: .restricted, mentions: ["/mnt"],
      remedies: [allowOther],
      scene: { Scene.mounted($0, "fuse.sshfs", superblock: fuse(1001)) },
      beside: { Scene.mounted($0, "fuse.sshfs", superblock: fuse(1001) + ",allow_other") }),
    DiagnosisRow(
      name: "FUSE that not even statx may look at", code: .networkFS,
      question: .path("/mnt/file"), status: .restricted,
      evidence: ["fuse.sshfs rw,user_id=1001"], mentions: ["/mnt", "ben"],
      remedies: [allowOther], otherStatus: .authorized,
      scene: {
        Scene.mounted($0, "fuse.sshfs", superblock: fuse(1001))
        $0.force("statx", .EACCES, on: "/mnt")
      }, beside: { Scene.mounted($0, "fuse.sshfs", superblock: fuse(1000)) }),
    DiagnosisRow(
      name: "a server that leaves it open", code: .networkFS,
      question: .path("/mnt/file", probe: .none), status: .notDetermined,
      evidence: ["/mnt: rw,vers=4.2"], mentions: ["/mnt"],
      scene: { Scene.mounted($0, "nfs4", superblock: "rw,vers=4.2") },
      beside: { Scene.mounted($0, "ext4", superblock: "rw,vers=4.2") }),
    DiagnosisRow(
      name: "a server that refuses", code: .networkFS, question: .path("/mnt/file"),
      status: .restricted, evidence: ["open: EACCES"], mentions: ["/mnt/file"],
      scene: {
        Scene.mounted($0, "nfs4")
        Scene.refuse($0, .EACCES, "/mnt/file")
      }, beside: { Scene.mounted($0, "nfs4") }),
    DiagnosisRow(
      name: "an automount that is refused", code: .networkFS,
      question: .path("/mnt/file", probe: .none), status: .notDetermined,
      evidence: ["autofs", "mnt: EACCES"], mentions: ["/mnt"], otherStatus: .notDetermined,
      scene: {
        Scene.mounted($0, "autofs")
        $0.force("statx", .EACCES, on: "/mnt")
      }, beside: { Scene.mounted($0, "autofs") }),
    DiagnosisRow(
      name: "an automount that is not mounted", code: .automount, question: .path("/mnt/file"),
      status: .notDetermined, mentions: ["/mnt is"],
      scene: { Scene.mounted($0, "autofs", superblock: "rw,fd=5,direct") },
      beside: { Scene.mounted($0, "ext4") }),
    DiagnosisRow(
      name: "the server has the last word", code: .serverDecides,
      question: .path("/mnt/file", probe: .none), status: .notDetermined,
      evidence: ["/mnt: 9p rw,trans=virtio"], mentions: ["/mnt/file"],
      scene: { Scene.mounted($0, "9p", superblock: "rw,trans=virtio") },
      beside: { Scene.mounted($0, "ext4", superblock: "rw,trans=virtio") }),
    DiagnosisRow(
      name: "the client refuses before the server does", code: .ownerBits,
      question: .path("/mnt/file", probe: .none), evidence: ["----------"],
      scene: { Scene.mounted($0, "9p", mode: 0) },
      beside: { Scene.mounted($0, "ext4") }),
    DiagnosisRow(
      name: "an ACL that nobody knows to be heeded", code: .aclNotHonoured,
      question: .path("/mnt/other", probe: .none), status: .notDetermined, mentions: ["/mnt/other"],
      scene: { entry($0, on: "virtiofs") }, beside: { entry($0, on: "ext4") }),
    DiagnosisRow(
      name: "an ACL that the kernel does not heed", code: .aclNotHonoured,
      question: .path("/mnt/other", probe: .none), evidence: ["-rw-r-----"],
      scene: { entry($0, on: "9p") }, beside: { entry($0, on: "ext4") }),
    DiagnosisRow(
      name: "the server does not answer", code: .notAnswering, question: .path("/mnt/file"),
      status: .notDetermined, mentions: ["/mnt "],
      scene: {
        Scene.mounted($0, "nfs4")
        $0.makeUnresponsive("/mnt")
      }, beside: { Scene.mounted($0, "nfs4") }),
    DiagnosisRow(
      name: "an encrypted file without its key", code: .locked, question: .path("/vault/file"),
      status: .restricted, mentions: ["/vault/file"],
      scene: { vault($0, isLocked: true) }, beside: { vault($0, isLocked: false) }),
    DiagnosisRow(
      name: "an encrypted folder without its key", code: .locked,
      question: .path("/vault", [.read, .write, .execute]), status: .restricted,
      mentions: ["/vault "],
      scene: { vault($0, isLocked: true) }, beside: { vault($0, isLocked: false) }),
    DiagnosisRow(
      name: "vfat, mounted for another", code: .otherBits, question: .path("/mnt/file"),
      evidence: ["-rwx------ root:root"], mentions: ["anna"],
      remedies: [
        Wanted(
          kind: .mount, command: ["umount", "/mnt"], needsRoot: true, outcome: .granted,
          line: "uid=1000,gid=0,umask=077")
      ], scene: { vfat($0, uid: 0) }, beside: { vfat($0, uid: 1000) }),
    DiagnosisRow(
      name: "ext4 has owners, and an entry is enough", code: .otherBits,
      question: .path("/mnt/file"), evidence: ["-rwx------ root:root"], mentions: ["anna"],
      remedies: [
        Wanted(
          kind: .acl, command: ["setfacl", "-n", "-m", "u:1000:r--,m::r--", "/mnt/file"],
          needsRoot: true, outcome: .granted)
      ], scene: { vfat($0, uid: 0, type: "ext4") }, beside: { vfat($0, uid: 1000, type: "ext4") }),
    DiagnosisRow(
      name: "without ACLs the group of the user is given the file", code: .otherBits,
      question: .path("/mnt/file"), evidence: ["-rwx------ root:root"], mentions: ["anna"],
      remedies: [
        Wanted(
          kind: .file, command: ["chgrp", "anna", "/mnt/file"], needsRoot: true, outcome: .granted),
        Wanted(
          kind: .mode, command: ["chmod", "g+r", "/mnt/file"], needsRoot: true, outcome: .granted),
      ],
      scene: {
        vfat($0, uid: 0, type: "ext4")
        $0.force("getxattr", .EOPNOTSUPP)
      }, beside: { vfat($0, uid: 1000, type: "ext4") }),
    DiagnosisRow(
      name: "without ACLs a bit of the group is the way", code: .groupBits,
      question: .path("/mnt/file"), evidence: ["-rwx---r-- root:anna"], mentions: ["anna"],
      remedies: [
        Wanted(
          kind: .mode, command: ["chmod", "g+r", "/mnt/file"], needsRoot: true, outcome: .granted,
          others: ["members of anna"])
      ],
      scene: {
        $0.mount("/mnt", "ext4")
        $0.add("/mnt/file", FakeNode(mode: 0o704, gid: 1000))
        $0.addUser(UserRecord(name: "bert", uid: 1002, gid: 1000, home: "/"))
        $0.force("getxattr", .EOPNOTSUPP)
      },
      beside: {
        $0.mount("/mnt", "ext4")
        $0.add("/mnt/file", FakeNode(mode: 0o704))
        $0.force("getxattr", .EOPNOTSUPP)
      }),
  ]

  private static func fuse(_ uid: UInt32) -> String { "rw,user_id=\(uid),group_id=\(uid)" }

  private static func vfat(_ fake: FakeSystem, uid: UInt32, type: String = "vfat") {
    fake.mount("/mnt", type)
    fake.add("/mnt/file", FakeNode(mode: 0o700, uid: uid))
  }

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }
}
