@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// A login that began before its groups, and the seat that a device belongs to.
@Suite struct SessionRows {
  static let rows: [DiagnosisRow] = logins + limits + seats

  // MARK: - Groups

  /// Puts anna into these groups of the user data base, and processes above this one.
  ///
  /// - Parameters:
  ///   - fake: The machine.
  ///   - groups: The groups besides the primary one.
  ///   - above: Name, uid and groups of each process, the nearest first; their pids are 101, 102, ….
  private static func login(
    _ fake: FakeSystem, _ groups: [UInt32] = [44],
    above: [(name: String, uid: UInt32, groups: [UInt32])] = [("bash", 1000, [])]
  ) {
    fake.addUser(
      UserRecord(name: "anna", uid: 1000, gid: 1000, home: "/home/anna"), groups: groups)
    fake.add(
      "/proc/4242/status", .file(Scene.status("permcheck", 1000, parent: 101)))
    for (index, process) in above.enumerated() {
      let pid = Int32(101 + index)
      let parent = index + 1 < above.count ? pid + 1 : 1
      let status = Scene.status(
        process.name, process.uid, groups: process.groups, parent: parent)
      fake.add(PathBytes("/proc/\(pid)/status"), .file(status))
    }
    fake.add("/proc/1/status", .file(Scene.status("systemd", 0, parent: 0)))
  }

  private static func newGroup(_ outcome: Remedy.Outcome = .granted) -> Wanted {
    Wanted(
      kind: .login, command: ["newgrp", "video"], persistence: .untilLogout, outcome: outcome)
  }

  private static func stale(
    _ name: String, evidence: [String], mentions: [String], omits: [String] = [],
    above: [(name: String, uid: UInt32, groups: [UInt32])] = [("bash", 1000, [])],
    more: @escaping DiagnosisRow.Setting = { _ in }
  ) -> DiagnosisRow {
    let seen = ["anna", "(44)", "permcheck (pid 4242)", "crw-rw---- root:video"]
    return DiagnosisRow(
      name: name, code: .staleGroups, question: .camera, evidence: seen + evidence,
      mentions: mentions, omits: omits, remedies: [newGroup()], otherStatus: .denied,
      scene: {
        Scene.camera($0, 0o660, gid: 44)
        login($0, above: above)
        more($0)
      },
      beside: {
        Scene.camera($0, 0o660, gid: 44)
        login($0, [], above: above)
        more($0)
      })
  }

  private static let logins: [DiagnosisRow] = [
    stale(
      "a shell from before the group", evidence: ["bash (pid 101)", "login (pid 102)"],
      mentions: ["login (pid 102)"], omits: ["pid 1)"],
      above: [("bash", 1000, []), ("login", 1000, [])]),
    stale(
      "the walk ends at a process of another user", evidence: ["bash (pid 101)"],
      mentions: ["bash (pid 101)"], omits: ["sshd"], above: [("bash", 1000, []), ("sshd", 0, [])]),
    stale(
      "a process above has the group", evidence: ["newgrp (pid 102)"],
      mentions: ["bash (pid 101)"], omits: ["sshd"],
      above: [("bash", 1000, []), ("newgrp", 1000, [44]), ("sshd", 1000, [])]),
    stale(
      "tmux", evidence: ["tmux: server (pid 102)"], mentions: ["tmux kill-server"],
      above: [("bash", 1000, []), ("tmux: server", 1000, [])]),
    stale(
      "screen", evidence: ["SCREEN (pid 102)"], mentions: ["screen -X quit"],
      above: [("bash", 1000, []), ("SCREEN", 1000, [])]),
    stale(
      "the manager of the user", evidence: ["systemd (pid 102)"], mentions: ["user@1000.service"],
      omits: ["linger"], above: [("foot", 1000, []), ("systemd", 1000, [])]),
    stale(
      "the manager of a user that lingers", evidence: ["systemd (pid 102)"], mentions: ["linger"],
      above: [("foot", 1000, []), ("systemd", 1000, [])],
      more: { $0.add("/var/lib/systemd/linger/anna") }),
    stale(
      "a process above that is hidden", evidence: ["process 102: not visible"],
      mentions: ["bash (pid 101)"], above: [("bash", 1000, [])],
      more: { $0.add("/proc/101/status", .file(Scene.status("bash", 1000, parent: 102))) }),
    stale(
      "started by a process of another user", evidence: [], mentions: ["anna"], omits: ["sshd"],
      above: [("sshd", 0, [])]),
  ]

  private static let limits: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a group of the ACL", code: .staleGroups, question: .camera, evidence: ["group:44:rw-"],
      mentions: ["video"], remedies: [newGroup()], otherStatus: .denied,
      scene: { listed($0, [.read, .write]) }, beside: { listed($0, .read) }),
    DiagnosisRow(
      name: "a directory on the way is the group's", code: .staleGroups,
      question: .path("/srv/box/file"), evidence: ["(44)"], mentions: ["video"],
      remedies: [newGroup(.undetermined)], codes: [.staleGroups, .parentSearch],
      otherStatus: .denied,
      scene: { box($0, 0o710) }, beside: { box($0, 0o700) }),
    DiagnosisRow(
      name: "the group would not help", code: .staleGroups, question: .camera,
      mentions: ["video"], remedies: [newGroup()], otherStatus: .denied,
      scene: {
        login($0)
        Scene.camera($0, 0o660, gid: 44)
      },
      beside: {
        login($0)
        Scene.camera($0, 0o640, gid: 44)
      }),
    DiagnosisRow(
      name: "the owner's bits come before any group", code: .staleGroups, question: .camera,
      mentions: ["video"], remedies: [newGroup()], otherStatus: .denied,
      scene: {
        login($0)
        Scene.camera($0, 0o060, gid: 44)
      },
      beside: {
        login($0)
        Scene.camera($0, 0o060, uid: 1000, gid: 44)
      }),
    DiagnosisRow(
      name: "the groups of a container's image are others", code: .staleGroups,
      question: .path("/srv/file"), evidence: ["(44)"], mentions: ["video"],
      remedies: [newGroup()], otherStatus: .denied,
      scene: { shared($0) },
      beside: {
        shared($0)
        $0.add("/proc/self/uid_map", .file("0 0 100000\n"))
        $0.add("/proc/self/gid_map", .file("0 0 100000\n"))
      }),
  ]

  private static func shared(_ fake: FakeSystem) {
    login(fake)
    fake.add("/srv/file", FakeNode(mode: 0o640, gid: 44))
  }

  private static func listed(_ fake: FakeSystem, _ permissions: Permissions) {
    login(fake)
    Scene.camera(fake, 0o660, acl: Scene.acl(named: (44, permissions)))
  }

  private static func box(_ fake: FakeSystem, _ mode: UInt16) {
    login(fake)
    fake.add("/srv/box", FakeNode(kind: .directory, mode: mode, gid: 44))
    fake.add("/srv/box/file")
  }

  // MARK: - The seat

  private static func seat(
    _ fake: FakeSystem, _ line: String?, tagged: Bool = true, acl: AccessControlList? = nil
  ) {
    Scene.camera(fake, 0o660, gid: 44, acl: acl)
    if tagged { fake.add("/run/udev/tags/uaccess/c81:0") }
    if let line { fake.add("/run/systemd/seats/seat0", .file("IS_SEAT0=1\n\(line)\n")) }
  }

  private static func row(
    _ name: String, certainty: Reason.Certainty = .proven, evidence: [String],
    mentions: [String] = ["anna"], _ scene: @escaping DiagnosisRow.Setting,
    beside: @escaping DiagnosisRow.Setting
  ) -> DiagnosisRow {
    DiagnosisRow(
      name: name, code: .noSeatACL, question: .camera, certainty: certainty,
      evidence: evidence + ["uaccess"], mentions: mentions,
      remedies: [.acl("u:1000:rw-,m::rw-", on: Scene.camera)], codes: [.notInGroup, .noSeatACL],
      otherStatus: .denied, scene: scene, beside: beside)
  }

  private static let seats: [DiagnosisRow] = [
    row(
      "another user sits at the seat", evidence: ["seat0", "ben"], mentions: ["ben"],
      { seat($0, "ACTIVE_UID=1001") }, beside: { seat($0, "ACTIVE_UID=1001", tagged: false) }),
    row(
      "nobody sits at the seat", evidence: ["seat0"], { seat($0, "CAN_TTY=1") },
      beside: { seat($0, nil) }),
    row(
      "the seat's entry was taken away", certainty: .suspected, evidence: ["seat0", "anna"],
      { seat($0, "ACTIVE_UID=1000") },
      beside: {
        let acl = Scene.acl(user: (1000, .read), group: [.read, .write])
        seat($0, "ACTIVE_UID=1000", acl: acl)
      }),
    row(
      "the tag of another node", evidence: ["seat0"], { seat($0, "ACTIVE_UID=1001") },
      beside: {
        seat($0, "ACTIVE_UID=1001", tagged: false)
        $0.add("/run/udev/tags/uaccess/c81:1")
      }),
  ]

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }

  // MARK: - What is granted

  /// The seat's entry of an ACL is told from one that somebody set.
  @Test(arguments: [true, false])
  func `A grant of the seat is called so`(_ isSeated: Bool) throws {
    let acl = Scene.acl(user: (1000, [.read, .write]))
    func basis(_ setting: DiagnosisRow.Setting) throws -> String {
      let fake = Scene.system()
      setting(fake)
      let report = try #require(try Question.camera.report(fake).resources.first)
      #expect(report.status == .authorized)
      return try #require(report.decision?.basis)
    }
    let own = try basis { Self.seat($0, nil, tagged: false, acl: acl) }
    let other = try basis {
      Self.seat($0, "ACTIVE_UID=\(isSeated ? 1000 : 1001)", tagged: true, acl: acl)
    }
    #expect(own.contains("ACL user:anna:rw-"))
    #expect(other == (isSeated ? "seat \(own)" : own))
    let untagged = try basis { Self.seat($0, "ACTIVE_UID=1000", tagged: false, acl: acl) }
    #expect(untagged == own)
  }

  /// What is open to others is not open to everybody if the group or a folder above leaves some out.
  @Test func `Permissions of others are not permissions of everybody`() throws {
    let file: PathBytes = "/srv/shared/note"
    for (folder, mode, acl) in [
      (0o711, 0o604, nil), (0o710, 0o644, Scene.acl(user: (1000, .execute), mask: .all)),
      (0o755, 0o644, nil),
    ] as [(UInt16, UInt16, AccessControlList?)] {
      let fake = Scene.system()
      fake.add("/srv/shared", FakeNode(kind: .directory, mode: folder, acl: acl))
      fake.add(file, FakeNode(mode: mode))
      let report = try #require(try Question.path(file, .read).report(fake).resources.first)
      #expect(report.status == .authorized)
      let isForAll = report.decision?.meaning == "for everybody on this machine"
      #expect(isForAll == (folder == 0o755), "\(report.decision?.meaning ?? "nothing")")
    }
  }

  /// A link in a sticky folder that its owner alone may follow leads to a directory for everybody.
  @Test func `A directory behind a protected link is a directory`() throws {
    let fake = Scene.system()
    fake.add("/tmp", FakeNode(kind: .directory, mode: 0o1777))
    fake.add("/tmp/link", FakeNode(kind: .symbolicLink, uid: 1000, target: "/home/anna"))
    let report = try #require(try Question.path("/tmp/link", .all).report(fake).resources.first)
    #expect(report.status == .authorized, "\(report.reasons)")
  }

  /// Each ground of a grant means something else over ssh and after a new login.
  @Test func `The rule that grants says how long access holds`()
    throws
  {
    let own = Scene.acl(user: (1000, [.read, .write]))
    let scenes: [DiagnosisRow.Setting] = [
      { Self.seat($0, "ACTIVE_UID=1000", acl: own) },
      { Self.seat($0, nil, acl: own) },
      { Scene.camera($0, 0o600, uid: 1000) },
      { Scene.camera($0, 0o666) },
      {
        $0.become(Scene.anna(groups: [44]))
        Self.login($0, [44])
        Scene.camera($0, 0o660, gid: 44)
      },
      {
        // The data base no longer has it.
        $0.become(Scene.anna(groups: [44]))
        Scene.camera($0, 0o660, gid: 44)
      },
      {
        $0.become(
          Credentials(user: .init(1000), group: .init(1000), groups: [], effective: .dacOverride))
        Scene.camera($0, 0o600)
      },
    ]
    let meanings = try scenes.map { setting in
      let fake = Scene.system()
      setting(fake)
      let report = try #require(try Question.path(Scene.camera).report(fake).resources.first)
      #expect(report.status == .authorized && report.reasons.isEmpty)
      return try #require(report.decision?.meaning)
    }
    #expect(Set(meanings).count == scenes.count, "\(meanings)")
  }
}
