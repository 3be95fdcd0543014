@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// Requests of accessors as a program makes them, in a system in memory.
@Suite struct RequestTests {
  /// A folder of pictures that its own user may not write to, and a camera of root's.
  static func system(uid: UInt32 = 1000) -> FakeSystem {
    let system = FakeSystem(credentials: Credentials(uid: uid, gid: uid, groups: []))
    for record in [("ann", 1000), ("bob", 1001), ("root", 0)] as [(String, UInt32)] {
      system.addUser(
        UserRecord(
          name: record.0, uid: record.1, gid: record.1, home: PathBytes("/home/\(record.0)")))
    }
    system.addGroup(44, "video")
    system.setEnvironment("HOME", uid == 0 ? "/root" : "/home/ann")
    system.add("/home/ann", FakeNode(kind: .directory, mode: 0o700, uid: 1000, gid: 1000))
    system.add("/home/ann/Pictures", FakeNode(kind: .directory, mode: 0o500, uid: 1000, gid: 1000))
    system.add("/var/lib", FakeNode(kind: .directory))
    system.add(
      "/dev/video0",
      FakeNode(
        kind: .characterDevice, mode: 0o660, gid: 44,
        device: .init(major: 81, minor: 0)))
    system.setCard(VideoCapability(deviceCaps: 1, card: "Lens"), of: "/dev/video0")
    // They are there; to start them fails.
    for name in ["gpasswd", "setfacl"] { system.add(PathBytes("/usr/bin/\(name)"), .file("")) }
    return system
  }

  static func context(_ system: FakeSystem, subject: String? = nil) throws -> AccessContext {
    var context = AccessContext(system: system)
    if let subject { context.subject = try UserDatabase(system).subject(.user(subject)) }
    return context
  }

  /// An accessor that asks in a way of its own.
  static func asking<Accessor: ResourceAccessor>(
    _ accessor: Accessor, _ strategy: any GrantStrategy = GrantStrategies.auto, agrees: Bool = true
  ) -> Accessor {
    accessor.grants = GrantOptions(strategy: strategy) {
      (_: GrantPlan) throws(PermissionError) -> Bool in agrees
    }
    return accessor
  }

  static func camera(
    _ system: FakeSystem, subject: String, _ strategy: any GrantStrategy = GrantStrategies.auto
  ) throws -> CameraAccessor {
    asking(CameraAccessor(try context(system, subject: subject), analytics: .inMemory), strategy)
  }

  func mode(_ path: PathBytes, _ system: FakeSystem) throws -> UInt16 {
    UInt16(try system.status(of: path).mode & 0o7777)
  }

  @Test func `The template grants`() throws {
    let system = Self.system()
    let log = AnalyticsLog.inMemory
    let accessor = Self.asking(
      PhotoLibraryAccessor(try Self.context(system), analytics: log))
    accessor.acceptsLimited = false
    let report = try accessor.requestAccessIfNeeded()
    #expect(report.status == .authorized)
    #expect(try mode("/home/ann/Pictures", system) == 0o700)
    #expect(
      try log.loggedEvents().map(\.event) == [.check, .willReceiveAccess, .didReceiveAccess])
    let journal = try GrantJournal.standard(system)
    #expect(journal.path == "/home/ann/.local/state/permcheck/grants.jsonl")
    #expect(try journal.grants().map(\.accessor) == ["photos"])
    let outcome = try journal.undo { $0.accessor == "photos" }
    #expect(outcome.grants.count == 1 && outcome.notes.isEmpty)
    #expect(try mode("/home/ann/Pictures", system) == 0o500)
    #expect(try journal.grants().isEmpty)
  }

  @Test func `Nothing is done without consent`() throws {
    let system = Self.system()
    let accessor = Self.asking(
      PhotoLibraryAccessor(try Self.context(system), analytics: .inMemory), agrees: false)
    accessor.acceptsLimited = false
    #expect(try accessor.requestAccessIfNeeded().status == .limited)
    #expect(try mode("/home/ann/Pictures", system) == 0o500)
    #expect(!system.calls.contains("chmod"))
  }

  @Test func `Nobody is asked without a terminal`() throws {
    let system = Self.system()
    let accessor = PhotoLibraryAccessor(AccessContext(system: system), analytics: .inMemory)
    accessor.grants.consent = { (plan: GrantPlan) throws(PermissionError) -> Bool in
      TerminalConsent(system: system).ask(plan)
    }
    accessor.acceptsLimited = false
    #expect(try accessor.requestAccessIfNeeded().status == .limited)
    #expect(!system.calls.contains("chmod"))
  }

  @Test func `Root gives to one user alone`() throws {
    let system = Self.system(uid: 0)
    let accessor = try Self.camera(system, subject: "ann")
    let report = try accessor.requestAccessIfNeeded()
    #expect(report.status == .authorized)
    let bob = try Self.camera(system, subject: "bob")
    #expect(bob.checkAccess().status == .denied)
    let plan = try #require(try bob.grantPlan())
    #expect(plan.othersAffected.isEmpty && !plan.needsRoot)
    #expect(plan.steps.map(\.place) == ["/dev/video0"])
  }

  @Test func `One grant ends below another of the same file`()
    throws
  {
    let system = Self.system(uid: 0)
    for name in ["ann", "bob"] {
      let accessor = try Self.camera(system, subject: name)
      #expect(try accessor.requestAccessIfNeeded().status == .authorized)
    }
    let journal = try GrantJournal.standard(system)
    #expect(journal.path == "/var/lib/permcheck/grants.jsonl")
    _ = try journal.undo { $0.uid == 1000 }
    func status(_ name: String) throws -> AuthorizationStatus {
      try Self.camera(system, subject: name)
        .checkAccess().status
    }
    #expect(try status("ann") == .denied)
    #expect(try status("bob") == .authorized)
    _ = try journal.undo { _ in true }
    #expect(try status("bob") == .denied)
    #expect(try mode("/dev/video0", system) == 0o660)
  }

  @Test func `What somebody else changed stays`() throws {
    let system = Self.system(uid: 0)
    let accessor = try Self.camera(system, subject: "ann")
    _ = try accessor.requestAccessIfNeeded()
    let node = try system.openat(.currentDirectory, "/dev/video0", .path, mode: 0)
    var acl = try #require(AccessControlList(xattr: try system.getxattr(.access, of: node)))
    acl.entries.insert(.init(.user, id: 1001, .read), at: 2)
    try system.setxattr(.access, of: node, acl.xattr)
    let outcome = try GrantJournal.standard(system).undo { _ in true }
    #expect(
      outcome.notes == [
        "somebody else changed /dev/video0 meanwhile; only the granted access was removed"
      ])
    let left = try #require(AccessControlList(xattr: try system.getxattr(.access, of: node)))
    #expect(left.entries.filter { $0.tag == .user }.map(\.id) == [1001])
  }

  @Test func `An entry that somebody else gave other rights is theirs`() throws {
    let system = Self.system(uid: 0)
    _ = try Self.camera(system, subject: "ann").requestAccessIfNeeded()
    let node = try system.openat(.currentDirectory, "/dev/video0", .path, mode: 0)
    var acl = try #require(AccessControlList(xattr: try system.getxattr(.access, of: node)))
    let index = try #require(acl.entries.firstIndex { $0.tag == .user })
    acl.entries[index].permissions = .read
    try system.setxattr(.access, of: node, acl.xattr)
    let outcome = try GrantJournal.standard(system).undo { _ in true }
    #expect(
      outcome.notes == [
        "somebody else changed the access of ann to /dev/video0 meanwhile, so it was not changed back"
      ])
    let left = try #require(AccessControlList(xattr: try system.getxattr(.access, of: node)))
    #expect(left == acl)
  }

  @Test func `Without ACLs others would gain`() throws {
    let system = Self.system(uid: 0)
    system.force("getxattr", .EOPNOTSUPP)
    let accessor = try Self.camera(system, subject: "ann")
    let refusal = #expect(throws: PermissionError.self) { try accessor.grantPlan() }
    #expect(refusal?.message.contains("everybody else: rw") == true, "\(refusal?.message ?? "")")
    accessor.grants.allowsOthers = true
    let wide = try #require(try accessor.grantPlan())
    #expect(wide.othersAffected == ["everybody else: rw"])
    #expect(wide.steps[0].change.command.arguments == ["chmod", "o+rw", "/dev/video0"])
  }

  @Test func `Groups are for the next login`() throws {
    let system = Self.system(uid: 0)
    let accessor = try Self.camera(system, subject: "ann", GrantStrategies.group)
    let plan = try #require(try accessor.grantPlan())
    #expect(plan.needsNewLogin)
    #expect(plan.steps.map(\.change.command.arguments) == [["gpasswd", "-a", "ann", "video"]])
    #expect(!plan.warnings.isEmpty)
    // No program starts in this system: the request fails, and leaves nothing behind.
    #expect(throws: PermissionError.self) {
      try accessor.requestAccessIfNeeded()
    }
    #expect(try GrantJournal.standard(system).grants().isEmpty)
  }

  @Test func `Rules sort after the seat's own`() throws {
    let system = Self.system(uid: 0)
    let plan = try #require(
      try Self.camera(system, subject: "ann", GrantStrategies.udev).grantPlan())
    guard case .udevRule(let rule) = plan.steps.last?.change else {
      Issue.record("the last step is no rule")
      return
    }
    #expect(rule.path == "/etc/udev/rules.d/99-permcheck-1000-camera.rules")
    #expect(rule.contents.contains("KERNEL==\"video0\""))
    #expect(rule.contents.contains("-n -m u:1000:rw-,m::rw- $env{DEVNAME}"))
    #expect(plan.persistence == .permanent)
    var folder = try Self.context(system, subject: "bob")
    folder.path = "/home/ann/Pictures"
    let photos = Self.asking(
      PhotoLibraryAccessor(folder, analytics: .inMemory), GrantStrategies.udev)
    #expect(throws: PermissionError.self) { try photos.grantPlan() }
  }

  @Test func `The plan that was prepared is the one that is carried out`() throws {
    let system = Self.system(uid: 0)
    let accessor = try Self.camera(system, subject: "ann")
    let prepared = accessor.prepare()
    #expect(prepared.plan?.steps.count == 1)
    // Now more would have to be changed than was agreed to.
    system.chmod("/dev", 0o700)
    let error = #expect(throws: PermissionError.self) { try accessor.carryOut(prepared) }
    #expect(error?.message == PermissionError.planChanged.message)
    #expect(!system.calls.contains("setxattr"))
  }

  @Test func `The strategy none changes nothing`() throws {
    let system = Self.system(uid: 0)
    let accessor = try Self.camera(system, subject: "ann", GrantStrategies.none)
    #expect(try accessor.grantPlan()?.steps.count == 1)
    #expect(try accessor.requestAccessIfNeeded().status == .denied)
    #expect(!system.calls.contains("setxattr"))
    // Nor does it ask for more where there is access.
    system.chmod("/dev/video0", 0o666)
    #expect(!accessor.prepare().isNeeded)
    let report = try accessor.requestAccessIfNeeded()
    #expect(report.isGranted && report.requestOutcome == nil)
  }
}
