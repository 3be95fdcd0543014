import Foundation
import Glibc
@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import Synchronization
import TestSupport
import Testing

/// The watcher on a system in memory, whose time passes only when somebody waits.
@Suite(.blocking) struct WatcherTests {
  static let node = "/dev/video0" as PathBytes

  static func machine() -> FakeSystem {
    let system = FakeSystem()
    system.add(
      node, FakeNode(kind: .characterDevice, mode: 0o666, device: DeviceNumber(major: 81, minor: 0))
    )
    return system
  }

  static func watcher(
    _ system: FakeSystem, path: PathBytes? = node, log: AnalyticsLog = .discard
  ) throws -> AccessWatcher {
    let context = AccessContext(system: system, path: path)
    return try AccessWatcher(system, [{ CameraAccessor(context, analytics: log) }])
  }

  func chmod(_ system: FakeSystem, _ mode: UInt16) {
    system.add(
      Self.node,
      FakeNode(
        kind: .characterDevice, mode: mode,
        device: DeviceNumber(major: 81, minor: 0)))
  }

  @Test func `Every component of a path is watched`() throws {
    let system = Self.machine()
    system.add("/etc/group", FakeNode(contents: "video:x:44:\n"))
    let watcher = try Self.watcher(system)
    #expect(watcher.reports.map(\.status) == [.authorized])
    for path in ["/", "/dev", "/dev/video0", "/etc", "/etc/group"] as [PathBytes] {
      #expect(system.watchedPaths.contains(path), "\(path)")
    }
    #expect(watcher.unseen.isEmpty)
  }

  @Test func `Only what an event concerns is checked again`() throws {
    let system = Self.machine()
    let other: PathBytes = "/dev/video1"
    func add(_ mode: UInt16) {
      system.add(
        other,
        FakeNode(kind: .characterDevice, mode: mode, device: DeviceNumber(major: 81, minor: 1)))
    }
    add(0o666)
    let checks = Mutex<[PathBytes: Int]>([:])
    let watcher = try AccessWatcher(
      system,
      [Self.node, other].map { path in
        {
          checks.withLock { $0[path, default: 0] += 1 }
          return CameraAccessor(AccessContext(system: system, path: path), analytics: .discard)
        }
      })
    let before = checks.withLock { $0 }
    add(0o600)
    system.notify(.attributes, other)
    guard case .checked(let changes) = try watcher.next() else {
      Issue.record("nothing was checked")
      return
    }
    #expect(changes.map(\.new.status) == [.denied])
    let after = checks.withLock { $0 }
    #expect(after[Self.node] == before[Self.node] && after[other] == (before[other] ?? 0) + 1)
    // What all have in common concerns all.
    system.notify(.attributes, "/")
    _ = try watcher.next()
    #expect(checks.withLock { $0[Self.node] } == (before[Self.node] ?? 0) + 1)
  }

  @Test func `An event leads to a check`() throws {
    let system = Self.machine()
    let watcher = try Self.watcher(system)
    chmod(system, 0o600)
    #expect(try watcher.next(until: system.monotonic() + 1_000_000) == .timeOver)
    #expect(watcher.reports[0].status == .authorized, "no event, no check")
    system.notify(.attributes, Self.node)
    guard case .checked(let changes) = try watcher.next(until: nil) else {
      Issue.record("nothing was checked")
      return
    }
    #expect(changes.map(\.new.status) == [.denied])
    #expect(changes.map(\.cause) == [.mode])
    #expect(changes.map(\.path) == [Self.node])
    #expect(changes[0].resources.map(\.path) == [Self.node])
    #expect(changes[0].isOfAccessor)
  }

  /// A check on a loaded machine takes long; what changes after a node was judged is not forgotten.
  @Test func `A change during a slow check is found`() throws {
    final class SlowCamera: CameraAccessor {
      var afterwards: () -> Void = {}
      override func checkAccess() -> AccessReport {
        defer { afterwards() }
        return super.checkAccess()
      }
    }
    let system = Self.machine()
    var afterwards: [() -> Void] = []
    let watcher = try AccessWatcher(
      system,
      [
        {
          let context = AccessContext(system: system, path: Self.node)
          let camera = SlowCamera(context, analytics: .discard)
          camera.afterwards = afterwards.popLast() ?? {}
          return camera
        }
      ])
    afterwards = [
      {
        system.pass(milliseconds: 1000)
        self.chmod(system, 0o600)
        system.notify(.attributes, Self.node)
      }
    ]
    system.notify(.attributes, Self.node)
    #expect(try watcher.next() == .checked([]))
    guard case .checked(let changes) = try watcher.next(until: system.monotonic() + 1_000_000)
    else {
      Issue.record("the change was forgotten")
      return
    }
    #expect(changes.map(\.new.status) == [.denied])
  }

  @Test func `An overflow of events leads to a check`() throws {
    let system = Self.machine()
    let watcher = try Self.watcher(system)
    chmod(system, 0o600)
    system.notify(.overflow)
    guard case .checked(let changes) = try watcher.next() else {
      Issue.record("nothing was checked")
      return
    }
    #expect(changes.map(\.new.status) == [.denied])
  }

  /// A name that nobody asked for is not worth a check, whatever happens to it.
  @Test func `An event about another name leads to no check`() throws {
    let system = Self.machine()
    let watcher = try Self.watcher(system)
    let before = system.calls.count
    for _ in 0..<100 { system.notify(.create, "/dev", name: "ttyS0") }
    #expect(try watcher.next(until: system.monotonic() + 1000) == .timeOver)
    #expect(system.calls[before...].filter { $0 == "openat" }.isEmpty)
    system.notify(.attributes, "/dev", name: "video0")
    #expect(try watcher.next() == .checked([]))
  }

  /// Where devices are looked for any name may be one.
  @Test func `A new device leads to a check`() throws {
    let system = Self.machine()
    system.setCard(VideoCapability(deviceCaps: 1, card: "Camera"), of: Self.node)
    let watcher = try Self.watcher(system, path: nil)
    #expect(watcher.reports.map(\.status) == [.authorized])
    system.add(
      "/dev/video1",
      FakeNode(
        kind: .characterDevice, mode: 0o600,
        device: DeviceNumber(major: 81, minor: 0)))
    system.notify(.create, "/dev", name: "video1")
    guard case .checked(let changes) = try watcher.next() else {
      Issue.record("nothing was checked")
      return
    }
    #expect(changes.map(\.new.status) == [.limited])
    #expect(changes.map(\.cause) == [.nodeAdded])
    #expect(changes.map(\.path) == ["/dev/video1"])
  }

  @Test func `A watch without inotify says so`() {
    let system = Self.machine()
    system.force("inotify_init1", .ENOSYS)
    #expect(throws: PermissionError.self) {
      try AccessWatcher(system, [{ CameraAccessor(analytics: .discard) }])
    }
  }

  /// What of an accessor cannot be watched is looked at every second.
  @Test func `What cannot be watched is checked every second`() throws {
    final class Moody: PermissionAccessor {
      let mood: FakeSystem
      init(_ mood: FakeSystem) {
        self.mood = mood
        super.init(name: "moody", analytics: .discard)
      }
      override func checkAccess() -> AccessReport {
        let isThere = (try? mood.kind(of: "/mood")) != nil
        return AccessReport(accessor: name, status: isThere ? .authorized : .denied)
      }
    }
    let system = Self.machine()
    let watcher = try AccessWatcher(system, [{ Moody(system) }])
    #expect(try watcher.next(until: system.monotonic() + 500_000) == .timeOver)
    system.add("/mood")
    guard case .checked(let changes) = try watcher.next(until: system.monotonic() + 2_000_000)
    else {
      Issue.record("nothing was checked")
      return
    }
    #expect(changes.map(\.new.status) == [.authorized] && changes.map(\.cause) == [.other])
  }

  @Test func `Changes are logged as checks`() throws {
    let system = Self.machine()
    let log = AnalyticsLog(InMemoryLogging(), system: system)
    let watcher = try Self.watcher(system, log: log)
    system.notify(.attributes, Self.node)
    _ = try watcher.next()
    #expect(try log.loggedEvents().map(\.status) == [.authorized], "nothing changed")
    chmod(system, 0o600)
    system.notify(.attributes, Self.node)
    _ = try watcher.next()
    #expect(try log.loggedEvents().map(\.status) == [.authorized, .denied])
  }

  @Test func `A ready stop descriptor ends the wait`() throws {
    let system = Self.machine()
    let bell = try system.eventfd()
    let context = AccessContext(system: system, path: Self.node)
    let watcher = try AccessWatcher(
      system, stoppedBy: [PollRequest(bell, .readable)], [{ CameraAccessor(context) }])
    #expect(try watcher.next(until: system.monotonic() + 1000) == .timeOver)
    _ = try system.write(bell, [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(try watcher.next() == .stopped)
  }
}

/// A gate that follows the world outside, on real files.
@Suite(.serialized) struct FollowingTests {
  /// A gate about one file, for a subject that is nobody's.
  func gate(_ tree: Tree) -> PermissionGate {
    let path = PathBytes(tree.path("folder"))
    return PermissionGate {
      PhotoLibraryAccessor(
        AccessContext(
          subject: Subject(
            source: .ids, credentials: Credentials(uid: 61_234, gid: 61_234, groups: [])),
          need: .read, path: path), analytics: .discard)
    }
  }

  /// How many descriptors of this process watch a tree, as /proc/self/fdinfo shows; other suites watch
  /// others meanwhile.
  func descriptors(on tree: Tree) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: tree.root)
    let inode = try #require(attributes[.systemFileNumber] as? UInt64)
    let watch = " ino:\(String(inode, radix: 16)) "
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").count {
      ((try? String(contentsOfFile: "/proc/self/fdinfo/\($0)", encoding: .utf8)) ?? "")
        .contains(watch)
    }
  }

  func expectNoDescriptors(
    on tree: Tree, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    for _ in 0..<3000 where try descriptors(on: tree) > 0 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try descriptors(on: tree) == 0, sourceLocation: location)
  }

  @Test func `Outside changes are published`() async throws {
    let tree = try Tree()
    try tree.folder("folder")
    let gate = gate(tree)
    let changes = await gate.changes(following: true)
    var seen: [AuthorizationStateKind] = []
    for await change in changes {
      seen.append(change.to)
      switch seen.count {
      case 1: try tree.mode("folder", 0o700)
      case 2: try FileManager.default.removeItem(atPath: tree.path("folder"))
      case 3: try tree.folder("folder")
      default: break
      }
      if seen.count == 4 { break }
    }
    #expect(seen == [.authorized, .denied, .unavailable, .authorized])
    #expect(await gate.report?.status == .authorized)
  }

  @Test func `The thread ends with its stream`() async throws {
    let tree = try Tree()
    try tree.folder("folder")
    let gate = gate(tree)
    do {
      let one = await gate.changes(following: true)
      let two = await gate.changes(following: true)
      for await _ in one { break }
      for await _ in two { break }
      #expect(try descriptors(on: tree) <= 1, "one thread for all streams")
    }
    try await expectNoDescriptors(on: tree)
    #expect(await gate.current == .authorized)
    // A gate follows again when it is asked to again.
    var again = await gate.changes(following: true).makeAsyncIterator()
    #expect(await again.next()?.to == .authorized)
    try await Task.sleep(for: .milliseconds(1))
    try tree.mode("folder", 0o700)
    #expect(await again.next()?.to == .denied)
  }

  @Test func `The thread ends with its gate`() async throws {
    let tree = try Tree()
    try tree.folder("folder")
    var gate: PermissionGate? = gate(tree)
    let changes = await gate?.changes(following: true)
    for await _ in try #require(changes) { break }
    var held = await gate?.changes(following: true).makeAsyncIterator()
    #expect(await held?.next()?.to == .authorized)
    gate = nil
    #expect(await held?.next() == nil)
    try await expectNoDescriptors(on: tree)
  }

  /// More gates follow than there are threads in any pool, and none waits for another.
  @Test func `A hundred gates can follow changes`() async throws {
    let tree = try Tree()
    try tree.folder("folder")
    let gates = (0..<100).map { _ in gate(tree) }
    var streams: [AsyncStream<AuthorizationChange>.Iterator] = []
    for gate in gates { streams.append(await gate.changes(following: true).makeAsyncIterator()) }
    for index in streams.indices {
      #expect(await streams[index].next()?.to == .authorized)
    }
    try tree.mode("folder", 0o700)
    for index in streams.indices {
      #expect(await streams[index].next()?.to == .denied)
    }
    streams = []
    try await expectNoDescriptors(on: tree)
  }
}
