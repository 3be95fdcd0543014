@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Testing

/// Plans of a program's own strategies, and requests that no plan answers.
@Suite struct PlanTests {
  /// Asks for less than is wanted, as a service that decides may do.
  private struct ReadOnly: GrantStrategy {
    let name = "read only"
    func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
      try request.smallestPlan(
        for: request.resources.map { resource in
          var less = resource
          less.need = less.need.intersection(.read)
          return less
        })
    }
  }

  private func message(of accessor: ResourceAccessor) -> String {
    do throws(PermissionError) {
      return "\(try accessor.grantPlan()?.steps.count ?? 0) steps"
    } catch {
      return error.message
    }
  }

  @Test func `A strategy of a program may ask for less`() throws {
    let system = RequestTests.system(uid: 0)
    let accessor = try RequestTests.camera(system, subject: "ann", ReadOnly())
    let plan = try #require(try accessor.grantPlan())
    #expect(
      plan.steps.map(\.change.command.arguments) == [
        ["setfacl", "-n", "-m", "u:1000:r--,m::rw-", "/dev/video0"]
      ])
    #expect(ReadOnly().isCarriedOut)
    #expect(try !accessor.requestAccessIfNeeded().isGranted)
    let node = try system.openat(.currentDirectory, "/dev/video0", .path, mode: 0)
    let acl = try #require(AccessControlList(xattr: try system.getxattr(.access, of: node)))
    #expect(acl.entries.contains(.init(.user, id: 1000, .read)))
  }

  @Test func `A group helps only who is not in it`() throws {
    let system = RequestTests.system()
    try system.addToGroup("video", "ann")
    let own = RequestTests.asking(
      CameraAccessor(try RequestTests.context(system), analytics: .inMemory), GrantStrategies.group)
    #expect(
      message(of: own) == "ann is already in group video, but this login does not have the group")

    let root = RequestTests.system(uid: 0)
    let bob = try RequestTests.camera(root, subject: "bob", GrantStrategies.group)
    #expect(message(of: bob) == "1 steps")
    root.chown("/dev/video0", uid: 0, gid: 0)
    #expect(message(of: bob) == "no group gives bob access to /dev/video0")
    root.chown("/dev/video0", uid: 0, gid: 4711)
    #expect(
      message(of: bob) == "no group gives bob access to /dev/video0", "a group without a name")
    let nameless = RequestTests.asking(
      CameraAccessor(
        try RequestTests.context(RequestTests.system(uid: 4711)), analytics: .inMemory),
      GrantStrategies.group)
    #expect(message(of: nameless) == "uid 4711 cannot be added to a group")
  }

  @Test func `The plan says what members of group audio can do`() throws {
    let system = RequestTests.system(uid: 0)
    system.addGroup(29, "audio")
    system.addMicrophone()
    system.chown("/dev/snd/pcmC0D0c", uid: 0, gid: 29)
    system.chown("/dev/snd/controlC0", uid: 0, gid: 29)
    let accessor = RequestTests.asking(
      MicrophoneAccessor(try RequestTests.context(system, subject: "ann"), analytics: .inMemory),
      GrantStrategies.group)
    let plan = try #require(try accessor.grantPlan())
    #expect(plan.steps.map(\.place) == ["group audio"])
    #expect(plan.warnings.contains { $0.hasPrefix("members of audio can record") })
  }

  @Test func `A set-group-ID bit that would be lost is kept`() throws {
    let system = RequestTests.system()
    system.add(
      "/home/ann/Pictures", FakeNode(kind: .directory, mode: 0o2500, uid: 1000, gid: 4711))
    let accessor = RequestTests.asking(
      PhotoLibraryAccessor(try RequestTests.context(system), analytics: .inMemory))
    accessor.acceptsLimited = false
    #expect(
      message(of: accessor)
        == "/home/ann/Pictures would lose its set-group-ID bit, because you are not in its group")
  }

  @Test func `A journal that somebody has locked is not waited for without an end`() throws {
    for (errno, expected) in [
      (Errno.EAGAIN, "process 77 has locked the journal of grants"),
      (.EIO, "the journal of grants /home/ann/.local/state/permcheck/grants.jsonl cannot be used"),
    ] {
      let system = RequestTests.system()
      system.force("flock", errno)
      // Whatever file it is: FakeSystem numbers them as they come.
      let locks = (0..<200).map { "\($0): FLOCK ADVISORY WRITE 77 00:01:\($0) 0 EOF\n" }
      system.add("/proc/locks", .file(locks.joined()))
      let accessor = RequestTests.asking(
        PhotoLibraryAccessor(try RequestTests.context(system), analytics: .inMemory))
      accessor.acceptsLimited = false
      let error = #expect(throws: PermissionError.self) { try accessor.requestAccessIfNeeded() }
      #expect(error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
      #expect(!system.calls.contains("chmod"))
    }
  }

  /// The intention is written first; a process that is killed then has changed nothing.
  @Test func `A group that was only intended is forgotten`() throws {
    var intended = 0
    for count in 1... {
      let system = RequestTests.system(uid: 0)
      let accessor = try RequestTests.camera(system, subject: "ann", GrantStrategies.group)
      system.kill(after: count)
      _ = try? accessor.requestAccessIfNeeded()
      let isWhole = system.calls.contains("spawn")
      system.kill(after: nil)
      let journal = try GrantJournal.standard(system)
      if try !journal.grants().isEmpty { intended += 1 }
      let outcome = try journal.recover()
      #expect(outcome.recovered.isEmpty && outcome.notes.isEmpty, "\(count): \(outcome.notes)")
      #expect(try journal.grants().isEmpty, "\(count)")
      if isWhole { break }
    }
    #expect(intended > 0)
  }
}
